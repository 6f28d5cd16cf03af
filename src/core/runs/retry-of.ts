import type { NewRun } from "./new-run.ts";
import type { Provenance, Run } from "./run.ts";

/** The same errand once more: as it was asked for, with the configuration as it was resolved then. */
export function retryOf(run: Run, by: Pick<NewRun, "creator" | "source" | "inputs" | "continues">): NewRun {
  const { context, mode, config, agent, metadata, prompt, skillSnapshot, teamOwned, title } = run;
  return {
    ...by,
    prompt,
    title,
    teamOwned,
    metadata,
    parent: run,
    // The default agent may be another one by now.
    config: { ...config, harness: { ...config.harness, type: agent } },
    isRouted: true,
    provenance: provenanceOf(run),
    ...(context === undefined ? {} : { context }),
    ...(mode === undefined ? {} : { mode }),
    ...(skillSnapshot === undefined ? {} : { skill: skillSnapshot }),
  };
}

/** The repository it was asked for in, and why it is configured as it is, are parts of the errand; who asked is not. */
const KEPT: ReadonlySet<string> = new Set(["repository", "head", "routing", "config_layers"]);

function provenanceOf({ provenance }: Run): Provenance {
  return Object.fromEntries(Object.entries(provenance).filter(([member]) => KEPT.has(member)));
}
