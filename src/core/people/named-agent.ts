import { AppError } from "../errors.ts";
import type { PrincipalId, TeamId } from "../ids.ts";
import { ofSameProgram } from "../runs/layered-config.ts";
import type { RunConfig } from "../runs/run.ts";
import type { RecordStore, TeamRecord } from "../team-records/record-store.ts";
import type { PeopleStore } from "./people-stores.ts";
import type { Viewer } from "./principal.ts";

/** The defaults of a service account that executes runs. Its id and its name are those of the principal. */
export interface NamedAgent extends TeamRecord {
  readonly id: PrincipalId;
  readonly description?: string;
  /** The configuration under the values of the run's own request. */
  readonly config: RunConfig;
  /** The only team secrets that its runs get. Empty: all of them. */
  readonly secretNames: readonly string[];
  /** Whether it may request runs in the name of members. */
  readonly onBehalfOfEnabled: boolean;
  /** Members of requests that have no effect and are given back. */
  readonly others: Readonly<Record<string, unknown>>;
}

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

/** What the agent adds to the values of a request. What belongs to another choice of the request is left out. */
export function agentConfig({ config }: NamedAgent, request: RunConfig): RunConfig {
  const { skills, ...others } = ofSameProgram(config, request);
  // The request names its skill in the other form.
  return { ...others, ...(request.skill_spec !== undefined || skills === undefined ? {} : { skills }) };
}
