import { Link, useRouterState } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { RunsSearch, RunsView } from "./runs-search.ts";

/** A link to a view of the list. It is the current one with any filters. */
export function ViewLink({
  view,
  className,
  children,
}: {
  readonly view: RunsView;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  const current = useRouterState({
    select: ({ location: { pathname, search } }) =>
      pathname === "/" ? ((search as RunsSearch).view ?? "all") : undefined,
  });
  // The other views are boards, too.
  const isBoard = useRouterState({
    select: ({ location: { pathname, search } }) =>
      pathname === "/" && (search as RunsSearch).layout === "board",
  });
  return (
    <Link
      to="/"
      search={{ ...(view === "all" ? {} : { view }), ...(isBoard ? { layout: "board" } : {}) }}
      // Without these, the router takes "all" for active in each view.
      activeOptions={{ exact: true, includeSearch: true }}
      {...(className === undefined ? {} : { className })}
      {...(current === view ? { "aria-current": "page" as const } : {})}
    >
      {children}
    </Link>
  );
}
