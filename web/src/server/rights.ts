import { useQuery } from "@tanstack/react-query";
import { whoamiQuery } from "./queries.ts";

/** The scopes that a change needs. */
export type WriteScope = "admin" | "runs:write" | "settings:write";

/** Whether the user may do what needs the scope. Undefined until the server has said who the user is. */
export function useMay(scope: WriteScope): boolean | undefined {
  const { data } = useQuery(whoamiQuery);
  if (data === undefined) {
    return undefined;
  }
  const { is_administrator: isAdministrator, scopes } = data;
  return scope === "admin" ? isAdministrator : scopes.includes("admin") || scopes.includes(scope);
}
