import type { Environment } from "../environments/environment.ts";
import type { Preparation, Workspace } from "../ports/workspace.ts";
import type { AttemptParts } from "./attempt-parts.ts";
import type { GivenFiles } from "./given-files.ts";
import { givenSkill } from "./given-skill.ts";
import { findCheckpointBefore } from "./run-before.ts";
import { SetupRecord } from "./setup-record.ts";
import { untilAvailable } from "./until-available.ts";

const TRIES = 3;

export interface Asked extends Pick<Preparation, "gateway" | "plan" | "signal" | "tell" | "variables"> {
  readonly environment: Environment | undefined;
  readonly given: GivenFiles;
}

/** The run's workspace. A new one holds what was given, its skill, and the files of the run whose conversation goes on. */
export async function prepareWorkspace(parts: AttemptParts, asked: Asked): Promise<Workspace> {
  const { clock, log, run, storage, workspaces } = parts;
  const { environment, given, ...preparation } = asked;
  const setup = new SetupRecord(storage, environment);
  const beginning = setup.asideFrom(async () => {
    const checkpoint = await findCheckpointBefore(storage, run);
    const files = await given.withBytes();
    return { files, ...(await givenSkill(parts)), ...(checkpoint === undefined ? {} : { checkpoint }) };
  });
  const before = run.checkpoint === undefined ? {} : { checkpoint: run.checkpoint };
  const whole = { ...preparation, ...before, runId: run.id, teamId: run.teamId, beginning };
  const tell = setup.hearing(preparation.tell);
  for (let tries = 1; ; tries += 1) {
    try {
      const workspace = await untilAvailable(clock, () => workspaces.prepare({ ...whole, tell }));
      await untilAvailable(clock, () => setup.succeeded());
      return workspace;
    } catch (error) {
      // The run before may be at work and replace its checkpoint while we read it; then there is a newer one.
      if (run.continuesId !== undefined && tries < TRIES && !preparation.signal.aborted) continue;
      // Why it failed counts, also where that cannot be noted.
      await untilAvailable(clock, () => setup.failed(error)).catch((problem) =>
        log.warn("environment.not_marked", { runId: run.id, error: problem }),
      );
      throw error;
    }
  }
}
