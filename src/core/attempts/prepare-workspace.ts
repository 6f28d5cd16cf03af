import type { Workspace } from "../ports/workspace.ts";
import type { AttemptParts } from "./attempt-parts.ts";
import type { GivenFiles } from "./given-files.ts";
import { givenSkill } from "./given-skill.ts";
import { findCheckpointBefore } from "./run-before.ts";
import { untilAvailable } from "./until-available.ts";

const TRIES = 3;

/** The run's workspace. A new one holds what was given, its skill, and the files of the run whose conversation goes on. */
export async function prepareWorkspace(parts: AttemptParts, given: GivenFiles): Promise<Workspace> {
  const { clock, run, storage, workspaces } = parts;
  const beginning = async () => {
    const checkpoint = await findCheckpointBefore(storage, run);
    const files = await given.withBytes();
    return { files, ...(await givenSkill(parts)), ...(checkpoint === undefined ? {} : { checkpoint }) };
  };
  for (let tries = 1; ; tries += 1) {
    try {
      return await untilAvailable(clock, () => workspaces.prepare(run.id, run.checkpoint, beginning));
    } catch (error) {
      // The run before may be at work and replace its checkpoint while we read it; then there is a newer one.
      if (run.continuesId === undefined || tries === TRIES) throw error;
    }
  }
}
