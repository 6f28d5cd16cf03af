import type { PrincipalId } from "../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../src/core/model/people/team.ts";
import type { Environment } from "../../src/core/model/workspaces/environment.ts";

/** An environment of the first team with these repositories, written `owner/name`. */
export function anEnvironment(id: string, ...repositories: readonly string[]): Environment {
  const someone = "0197f3a2-0000-7000-8000-000000000001" as PrincipalId;
  const at = new Date("2026-03-01T12:00:00.000Z");
  return {
    id,
    teamId: FIRST_TEAM,
    ownerId: FIRST_TEAM,
    config: {
      name: id,
      repositories: repositories.map((each) => {
        const [owner = "", name = ""] = each.split("/");
        return { owner, name };
      }),
      setupCommands: [],
      network: "none",
    },
    setupFailed: false,
    creatorId: someone,
    lastEditorId: someone,
    createdAt: at,
    updatedAt: at,
  };
}
