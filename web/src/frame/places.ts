import type { IconName } from "../parts/icon.tsx";
import type { Right } from "../server/rights.ts";

export interface Place {
  readonly path: string;
  readonly name: string;
  readonly icon: IconName;
  /** What the page cannot be read without. It is not offered to other users. */
  readonly needs?: Right;
}

export const CONFIGURE: readonly Place[] = [
  { path: "/environments", name: "Environments", icon: "environments" },
  { path: "/schedules", name: "Schedules", icon: "clock" },
  { path: "/skills", name: "Skills", icon: "skills" },
  { path: "/secrets", name: "Secrets", icon: "secrets", needs: "settings:read" },
  { path: "/mcp-servers", name: "MCP servers", icon: "mcp", needs: "settings:read" },
  { path: "/agents", name: "Agents", icon: "agents", needs: "settings:read" },
];

export const OPERATE: readonly Place[] = [
  { path: "/integrations", name: "Integrations", icon: "integrations", needs: "admin" },
  { path: "/rules", name: "Rules", icon: "rules", needs: "admin" },
  { path: "/people", name: "People", icon: "people", needs: "settings:read" },
  { path: "/usage", name: "Usage", icon: "usage" },
  { path: "/system", name: "System", icon: "system", needs: "operator" },
  { path: "/audit", name: "Audit", icon: "audit", needs: "admin" },
];

/** Whether the user may read the page. Pages that not everyone may read are offered once the rights are known. */
export function isOffered(
  { needs }: Pick<Place, "needs">,
  has: ((right: Right) => boolean) | undefined,
): boolean {
  return needs === undefined || has?.(needs) === true;
}
