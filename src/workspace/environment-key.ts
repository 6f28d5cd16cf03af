import { createHash } from "node:crypto";
import { arch, release } from "node:os";
import type { Preparation } from "../core/ports/workspace-provider.ts";
import type { ClonedRepository } from "./workspace-record.ts";

/** The version of the format. Another number makes old prepared environments unused. */
const FORMAT = 2;

/**
 * Identifies runs whose setup would do the same. It includes the values of secrets, so that files which commands
 * wrote from secrets are only reused by runs with the same secrets.
 */
export function environmentKey(
  { gateway, plan, teamId, variables, withoutTeamToken }: Preparation,
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
    // Commands may have read repositories with the team's token.
    ...(withoutTeamToken === true ? ["without team token"] : []),
  ];
  return createHash("sha256").update(JSON.stringify(all)).digest("hex");
}

/** If commands or image differ, an inherited workspace is set up again. */
export function setupOf({ plan: { image, setupCommands } }: Preparation): string {
  if (setupCommands.length === 0) {
    return "";
  }
  return createHash("sha256")
    .update(JSON.stringify([image ?? null, setupCommands]))
    .digest("hex");
}
