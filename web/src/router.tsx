import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { Frame } from "./frame/frame.tsx";
import { NotFound } from "./frame/not-found.tsx";
import { PageError } from "./frame/page-error.tsx";
import { runsSearch } from "./runs/runs-search.ts";
import { load } from "./server/load.ts";
import { OPENED_RUN, VISITOR } from "./server/page.ts";

const rootRoute = createRootRoute({ component: Frame, notFoundComponent: NotFound });

const runsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  validateSearch: runsSearch,
  component: lazyRouteComponent(() => load(() => import("./runs/runs-page.tsx")), "RunsPage"),
});

const lazyRun = () => load(() => import("./run/run-page.tsx"));

const runRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$id",
  component: () => <Run id={runRoute.useParams().id} />,
});

/** The server knows which run the session belongs to. */
const sessionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sessions/$id",
  component: () => (OPENED_RUN === undefined ? <NotFound /> : <Run id={OPENED_RUN} />),
});

const LazyRun = lazyRouteComponent(lazyRun, "RunPage");

function Run({ id }: { readonly id: string }) {
  return <LazyRun key={id} runId={id} guest={VISITOR !== "member"} mayFollowUp={VISITOR !== "viewer"} />;
}

const newRunRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/new",
  validateSearch: ({ from }: Record<string, unknown>): { from?: string } =>
    typeof from === "string" ? { from } : {},
  component: lazyRouteComponent(() => load(() => import("./new-run/new-run-page.tsx")), "NewRunPage"),
});

const setupRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/setup",
  component: lazyRouteComponent(() => load(() => import("./setup/setup-page.tsx")), "SetupPage"),
});

const guideRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/setup/$adapter",
  component: () => <LazyGuide adapter={guideRoute.useParams().adapter} />,
});

const LazyGuide = lazyRouteComponent(() => load(() => import("./setup/guide-page.tsx")), "GuidePage");

const integrationsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/integrations",
  component: lazyRouteComponent(
    () => load(() => import("./integrations/integrations-page.tsx")),
    "IntegrationsPage",
  ),
});

const systemRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/system",
  component: lazyRouteComponent(() => load(() => import("./system/system-page.tsx")), "SystemPage"),
});

const accountRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/account",
  component: lazyRouteComponent(() => load(() => import("./account/account-page.tsx")), "AccountPage"),
});

const policyRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/rules/policies/$id",
  component: () => <LazyPolicy {...policyRoute.useParams()} />,
});

const LazyPolicy = lazyRouteComponent(() => load(() => import("./rules/policy-page.tsx")), "PolicyPage");

const routingRuleRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/rules/routing/$id",
  component: () => <LazyRoutingRule {...routingRuleRoute.useParams()} />,
});

const LazyRoutingRule = lazyRouteComponent(
  () => load(() => import("./rules/routing-rule-page.tsx")),
  "RoutingRulePage",
);

const scheduleRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/schedules/$id",
  component: () => <LazySchedule {...scheduleRoute.useParams()} />,
});

const LazySchedule = lazyRouteComponent(
  () => load(() => import("./schedules/schedule-page.tsx")),
  "SchedulePage",
);

const environmentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/environments/$id",
  component: () => <LazyEnvironment {...environmentRoute.useParams()} />,
});

const LazyEnvironment = lazyRouteComponent(
  () => load(() => import("./environments/environment-page.tsx")),
  "EnvironmentPage",
);

const listRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/$name",
  component: () => <LazyList name={listRoute.useParams().name} />,
});

const LazyList = lazyRouteComponent(() => load(() => import("./lists/list-page.tsx")), "ListPage");

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    runsRoute,
    runRoute,
    sessionRoute,
    newRunRoute,
    setupRoute,
    guideRoute,
    integrationsRoute,
    systemRoute,
    accountRoute,
    policyRoute,
    routingRuleRoute,
    scheduleRoute,
    environmentRoute,
    listRoute,
  ]),
  defaultPreload: "intent",
  defaultErrorComponent: PageError,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
