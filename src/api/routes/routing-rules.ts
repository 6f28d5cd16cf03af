import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { invalidMember } from "../../core/basics/errors.ts";
import type { TeamId } from "../../core/basics/ids.ts";
import type { RoutingRule } from "../../core/model/defaults/request-defaults.ts";
import { isTeamOwned } from "../../core/model/people/ownership.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import { inOrder } from "../../core/model/policies/rule.ts";
import type { RunConfig } from "../../core/model/runs/run.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import { type RoutedRequest, route, routedConfig } from "../../core/requests/routing/route-request.ts";
import { RuleService } from "../../core/team/policies/rule-service.ts";
import { requireEnvironment } from "../../core/team/records/environment-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { limitsOf } from "../http/api-limits.ts";
import { except } from "../http/entity-tags.ts";
import { requireConfigBytes } from "../http/request-validation.ts";
import { problems } from "../schemas/problem.ts";
import {
  EvaluateRoutingRequest,
  ListRoutingRulesResponse,
  RoutingResult,
  RoutingRuleItem,
  RoutingRuleRequest,
  routingResult,
  routingRuleEditOf,
  routingRuleItem,
} from "../schemas/routing-rule.ts";
import { runConfigOf } from "../schemas/run-config.ts";
import type { Idempotency } from "./idempotency.ts";
import { uuidId } from "./resource.ts";
import { resourceRoutes } from "./resource-routes.ts";

const PATH = "/agent/routing-rules";
const tags = ["rules"];

const LIST = {
  operationId: "listRoutingRules",
  summary: "List routing rules",
  member: "routing_rules",
  response: ListRoutingRulesResponse,
};
const GET = { operationId: "getRoutingRule", summary: "Get a routing rule" };
const CREATE = {
  operationId: "createRoutingRule",
  summary: "Create a routing rule",
  description: "The rule takes effect within moments, in all processes of the server.",
  problems: [404, 422],
  body: RoutingRuleRequest,
} as const;
const REPLACE = {
  operationId: "replaceRoutingRule",
  summary: "Replace a routing rule",
  description: "Members that are left out get their default value.",
  problems: [422],
  body: RoutingRuleRequest,
} as const;
const DELETE = { operationId: "deleteRoutingRule", summary: "Delete a routing rule" };

export function routingRuleRoutes(
  deps: Pick<ApiDeps, "clock" | "limits" | "runs" | "storage">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  const { clock, storage } = deps;
  const routingRules = resourceRoutes(storage, idempotency, {
    path: PATH,
    tags,
    scopes: { read: "admin", write: "admin" },
    id: uuidId("ruleId", "routing rule"),
    serviceOn: (stores) =>
      new RuleService(stores.routingRules, {
        kind: "routing rule",
        clock,
        check: (rule) => requireTeamEnvironment(stores, rule),
      }),
    item: RoutingRuleItem,
    items: (rows: readonly RoutingRule[]) => rows.map(routingRuleItem),
    edited: except("created_by"),
    list: { ...LIST, run: (rules, { teamId }) => rules.list(teamId) },
    get: { ...GET, run: (rules, { teamId }, id) => rules.get(teamId, id) },
    create: {
      ...CREATE,
      check: ({ config }, viewer) => requireUsable(deps, config, viewer),
      run: (rules, viewer, body) =>
        rules.create(viewer, storable(deps, viewer.teamId, routingRuleEditOf(body))),
    },
    replace: {
      ...REPLACE,
      check: ({ config }, viewer) => requireUsable(deps, config, viewer),
      run: async (rules, { teamId }, id, body) => {
        const { config: before } = await rules.get(teamId, id);
        return rules.replace(teamId, id, storable(deps, teamId, routingRuleEditOf(body), before));
      },
    },
    remove: { ...DELETE, run: (rules, { teamId }, id) => rules.remove(teamId, id) },
  });
  return async (app) => {
    await app.register(routingRules);
    app.post(`${PATH}/evaluate`, { schema: EVALUATE, config: { scope: "admin" } }, async (request) => {
      await requireUsable(deps, request.body.config, viewerOf(request));
      const routed = routedRequestOf(request.body);
      const routing = route(inOrder(await storage.routingRules.list(viewerOf(request).teamId)), routed);
      return routingResult(routing, routedConfig({ request: routed.config }, routing));
    });
  };
}

const EVALUATE = {
  operationId: "evaluateRoutingRules",
  summary: "Evaluate the routing rules for a hypothetical request",
  tags,
  body: EvaluateRoutingRequest,
  response: { 200: RoutingResult, ...problems(400, 401, 403, 422, 503) },
};

/** Refuses a config that no run could start with: the callers that the rule routes did not write it. */
async function requireUsable(
  deps: Pick<ApiDeps, "limits" | "runs">,
  config: RoutingRuleRequest["config"] = {},
  creator: Viewer,
): Promise<void> {
  requireConfigBytes("config", config, limitsOf(deps.limits));
  const wanted = runConfigOf(config);
  deps.runs.preparer.requireStorable(wanted, "config");
  await deps.runs.preparer.requirePullRequestAccess({ creator, config: wanted }, "config");
}

function storable<Edit extends { readonly config: RunConfig }>(
  { runs }: Pick<ApiDeps, "runs">,
  teamId: TeamId,
  edit: Edit,
  before: RunConfig = {},
): Edit {
  return { ...edit, config: runs.preparer.storable(teamId, edit.config, { before }) };
}

/** A personal environment would be unknown to the other callers that the rule routes. */
async function requireTeamEnvironment(
  { environments }: Pick<Storage, "environments">,
  rule: RoutingRule,
): Promise<void> {
  const { config, creatorId, environmentId = config.environment_id, teamId } = rule;
  if (environmentId === undefined) {
    return;
  }
  const environment = await requireEnvironment(environments, { id: creatorId, teamId }, environmentId);
  if (!isTeamOwned(environment)) {
    throw invalidMember("environment_id", "must be an environment of the team");
  }
}

function routedRequestOf({
  source = "API",
  text = "",
  config = {},
  ...from
}: EvaluateRoutingRequest): RoutedRequest {
  return { ...from, source, text, config: runConfigOf(config) } as RoutedRequest;
}
