import { defined } from "../../basics/defined.ts";
import type { Provenance, Run } from "../../model/runs/run.ts";
import type { NewRun } from "./new-run.ts";

/** A new run with the same request and the configuration that was resolved then. */
export function retryOf(run: Run, by: Pick<NewRun, "creator" | "source" | "inputs" | "continues">): NewRun {
  const { context, mode, config, agent, metadata, prompt, teamOwned, title } = run;
  const { skillSnapshot, skillSnapshots = [] } = run;
  return {
    ...by,
    prompt,
    title,
    teamOwned,
    metadata,
    parent: run,
    config,
    hasStoredConfig: true,
    formerAgent: agent,
    isRouted: true,
    provenance: provenanceOf(run),
    ...defined({
      preparesOnly: run.preparesOnly === true ? true : undefined,
      context,
      mode,
      skill: skillSnapshot,
    }),
    skills: skillSnapshots,
    // Otherwise the author of the prompt could use the personal secrets of the principal that repeats it.
    othersWrote: run.othersWrote === true || run.creatorId !== by.creator.id,
  };
}

/** The members of the provenance that a retry keeps. The author is not among them. */
const KEPT: ReadonlySet<string> = new Set(["repository", "head", "routing", "config_layers", "message_ref"]);

function provenanceOf({ provenance }: Run): Provenance {
  return Object.fromEntries(Object.entries(provenance).filter(([member]) => KEPT.has(member)));
}
