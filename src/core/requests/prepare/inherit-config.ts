import { defined } from "../../basics/defined.ts";
import type { Provenance, Run, RunConfig } from "../../model/runs/run.ts";

export interface InheritedConfig {
  readonly config: RunConfig;
  /** The agent program of the previous run, unless the request names another one. */
  readonly formerAgent?: string;
  readonly provenance: Provenance;
  readonly teamOwned: boolean;
}

/** These members describe the earlier task, so they are not inherited. */
const OF_THE_TASK = ["name", "session_sharing", "skill_spec"];
/** Another agent may not have the same models, so these members are inherited only by the same agent. */
const OF_THE_AGENT = ["harness", "model_id"];
/** These members say something about the repository, so they are inherited only with it. */
const OF_THE_REPOSITORY = ["ref", "pull_request", "repository_guessed"];
/** The repository in which the run was requested. */
const OF_THE_PLACE = ["repository", "head"];

/**
 * What a run inherits from the previous run of its conversation when its request does not say otherwise: the agent,
 * the environment and the rest of the configuration. It also inherits the visibility, because it has the files of the
 * previous run.
 */
export function inheritConfig(before: Run, requested: RunConfig): InheritedConfig {
  const { agent, config, provenance, teamOwned } = before;
  const type = requested.harness?.type ?? agent;
  const left = [
    ...OF_THE_TASK,
    ...(type === agent ? [] : OF_THE_AGENT),
    ...(requested.repository === undefined ? [] : OF_THE_REPOSITORY),
  ];
  return defined({
    formerAgent: type === agent ? agent : undefined,
    config: membersOf(config, (name) => !left.includes(name)),
    provenance: membersOf(provenance, (name) => OF_THE_PLACE.includes(name)),
    teamOwned,
  });
}

function membersOf<T extends object>(value: T, isWanted: (name: string) => boolean): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => isWanted(name))) as Partial<T>;
}
