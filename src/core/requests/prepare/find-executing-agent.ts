import { AppError } from "../../basics/errors.ts";
import type { PrincipalId, TeamId } from "../../basics/ids.ts";
import type { NamedAgent } from "../../model/defaults/named-agent.ts";
import type { Viewer } from "../../model/people/principal.ts";
import type { PeopleStore } from "../../ports/stores/people-stores.ts";
import type { RecordStore } from "../../ports/stores/record-store.ts";

interface AgentStores {
  readonly namedAgents: Pick<RecordStore<NamedAgent>, "find">;
  readonly people: Pick<PeopleStore, "getMany">;
}

/** The agent that a request or a schedule names. Throws `resource_not_found`, and `not_authorized` if it is disabled. */
async function requireNamedAgent(
  { namedAgents, people }: AgentStores,
  teamId: TeamId,
  id: PrincipalId,
): Promise<NamedAgent> {
  const agent = await namedAgents.find(teamId, id);
  if (agent === undefined) {
    throw new AppError("resource_not_found", "There is no such agent.");
  }
  const [principal] = await people.getMany([id]);
  if (principal === undefined || principal.disabled) {
    throw new AppError("not_authorized", "This agent is disabled.", {
      remedy: "Enable its principal first.",
    });
  }
  return agent;
}

/**
 * The named agent that executes a request: the agent `wanted`, or the caller if it is one. An agent may name only
 * itself, because another agent may have more secrets.
 */
export async function findExecutingAgent(
  stores: AgentStores,
  caller: Pick<Viewer, "id" | "teamId" | "type">,
  wanted: PrincipalId | undefined,
): Promise<NamedAgent | undefined> {
  const own =
    caller.type === "service_account" ? await stores.namedAgents.find(caller.teamId, caller.id) : undefined;
  if (wanted === undefined || wanted === own?.id) {
    return own;
  }
  if (own !== undefined) {
    throw new AppError("not_authorized", "A named agent starts no runs of another agent.");
  }
  return requireNamedAgent(stores, caller.teamId, wanted);
}
