import { createHash } from "node:crypto";
import { arch, release } from "node:os";
import type { Preparation } from "../core/workspaces/workspace.ts";
import type { ClonedRepository } from "./workspace-record.ts";

/** Of how environments are made and kept; another number leaves the old ones behind. */
const FORMAT = 1;

/**
 * What two runs have in common whose setup would do the very same. The secrets' values are part of it: what commands
 * wrote down of them is met only by who has them as well.
 */
export function environmentKey(
  { gateway, plan, teamId, variables }: Preparation,
  repositories: readonly ClonedRepository[],
  sandbox: string,
): string {
  const variablesInOrder = Object.entries(variables).sort(([left], [right]) => (left < right ? -1 : 1));
  const hasInternet = gateway.proxyUrl !== undefined;
  const machine = [arch(), release(), process.version, sandbox];
  const { image, setupCommands } = plan;
  const all = [
    FORMAT,
    machine,
    teamId,
    image ?? null,
    hasInternet,
    repositories,
    setupCommands,
    variablesInOrder,
  ];
  return createHash("sha256").update(JSON.stringify(all)).digest("hex");
}

/** Other commands, or another image, are a reason to set a workspace up again that was taken over. */
export function setupOf({ plan: { image, setupCommands } }: Preparation): string {
  if (setupCommands.length === 0) return "";
  return createHash("sha256")
    .update(JSON.stringify([image ?? null, setupCommands]))
    .digest("hex");
}
