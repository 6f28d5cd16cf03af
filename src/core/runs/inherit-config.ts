import type { Provenance, Run, RunConfig } from "./run.ts";

export interface InheritedConfig {
  readonly config: RunConfig;
  readonly provenance: Provenance;
  readonly teamOwned: boolean;
}

/** Said of what was to be done then, not of how. */
const OF_THE_ERRAND = ["name", "skill_spec"];
/** Of another agent, the model may be another's too. */
const OF_THE_AGENT = ["harness", "model_id"];
/** The repository that a run was asked for in. */
const OF_THE_PLACE = ["repository", "head"];

/**
 * What a run takes over from the one whose conversation it goes on with, where its request says nothing else: agent,
 * environment and all, or it would find itself elsewhere, as somebody else. And who may see it: its files are that one's.
 */
export function inheritConfig(before: Run, asked: RunConfig): InheritedConfig {
  const { agent, config, provenance, teamOwned } = before;
  const type = asked.harness?.type ?? agent;
  const left = type === agent ? OF_THE_ERRAND : [...OF_THE_ERRAND, ...OF_THE_AGENT];
  // Told though nobody chose it: the default agent may be another one by now.
  const told: RunConfig = { ...config, harness: { ...config.harness, type: agent } };
  return {
    config: membersOf(told, (name) => !left.includes(name)),
    provenance: membersOf(provenance, (name) => OF_THE_PLACE.includes(name)),
    teamOwned,
  };
}

function membersOf<T extends object>(value: T, isWanted: (name: string) => boolean): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => isWanted(name))) as Partial<T>;
}
