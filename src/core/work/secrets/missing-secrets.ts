import type { ConfigLayer, Run } from "../../model/runs/run.ts";
import type { Variables } from "./run-secrets.ts";

/** What gave the run its list of secrets. A list of an earlier version always came from a named agent. */
const LISTED_BY: Partial<Record<ConfigLayer, string>> = {
  agent: "the agent of this run",
  default: "the environment of this run",
};

/** A warning for each secret that the run is limited to and that does not exist. */
export function missingSecrets(
  { config, provenance, secretNames = [] }: Pick<Run, "config" | "provenance" | "secretNames">,
  all: Variables,
): readonly string[] {
  const layer = config.secrets === undefined ? "agent" : provenance.config_layers?.secrets;
  const owner = LISTED_BY[layer ?? "request"] ?? "the configuration of this run";
  return secretNames
    .filter((name) => !Object.hasOwn(all, name))
    .map((name) => `The secret ${name}, which ${owner} names, does not exist.`);
}
