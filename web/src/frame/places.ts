import type { IconName } from "../parts/icon.tsx";

export interface Place {
  readonly path: string;
  readonly name: string;
  readonly icon: IconName;
}

export const CONFIGURE: readonly Place[] = [
  { path: "/environments", name: "Environments", icon: "environments" },
  { path: "/schedules", name: "Schedules", icon: "clock" },
  { path: "/skills", name: "Skills", icon: "skills" },
  { path: "/secrets", name: "Secrets", icon: "secrets" },
  { path: "/mcp-servers", name: "MCP servers", icon: "mcp" },
  { path: "/agents", name: "Agents", icon: "agents" },
];

export const OPERATE: readonly Place[] = [
  { path: "/integrations", name: "Integrations", icon: "integrations" },
  { path: "/rules", name: "Rules", icon: "rules" },
  { path: "/people", name: "People", icon: "people" },
  { path: "/usage", name: "Usage", icon: "usage" },
  { path: "/system", name: "System", icon: "system" },
  { path: "/audit", name: "Audit", icon: "audit" },
];
