import type { NewRun } from "./new-run.ts";
import type { Run } from "./run.ts";

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
    provenance: placeOf(run),
    ...(context === undefined ? {} : { context }),
    ...(mode === undefined ? {} : { mode }),
    ...(skillSnapshot === undefined ? {} : { skill: skillSnapshot }),
  };
}

/** The repository that it was asked for in is a part of the errand; who asked then is not. */
function placeOf({ provenance: { head, repository } }: Run): NonNullable<NewRun["provenance"]> {
  return { ...(repository === undefined ? {} : { repository }), ...(head === undefined ? {} : { head }) };
}
