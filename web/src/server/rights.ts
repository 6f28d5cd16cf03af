import type { Whoami } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { VISITOR } from "./page.ts";
import { whoamiQuery } from "./queries.ts";

/** The scopes that a change needs. */
export type WriteScope = "admin" | "runs:write" | "settings:write";

/** What a page reads with. `operator`: it is about the server itself. */
export type Right = WriteScope | "settings:read" | "operator";

/** Which rights the user has. Undefined until the server has said who the user is. */
export function useRights(): ((right: Right) => boolean) | undefined {
  // A guest is not a user.
  const { data } = useQuery({ ...whoamiQuery, enabled: VISITOR === "member" });
  return data && ((right) => hasRight(data, right));
}

function hasRight({ is_administrator, is_operator, scopes }: Whoami, right: Right): boolean {
  switch (right) {
    case "operator":
      return is_operator;
    case "admin":
      return is_administrator;
    case "settings:read":
      return scopes.some((scope) => scope === "admin" || scope.startsWith("settings:"));
    default:
      return scopes.includes("admin") || scopes.includes(right);
  }
}

/** Whether the user may do what needs the scope. Undefined until the server has said who the user is. */
export function useMay(scope: WriteScope): boolean | undefined {
  return useRights()?.(scope);
}
