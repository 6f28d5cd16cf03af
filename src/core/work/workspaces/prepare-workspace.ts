import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import { retry, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import type { Run } from "../../model/runs/run.ts";
import { type PlacedSkill, placedSkills } from "../../model/runs/skill-in-run.ts";
import { teamAccessOf } from "../../model/secrets/secret.ts";
import type { SkillFiles } from "../../model/skills/skill.ts";
import type { Environment } from "../../model/workspaces/environment.ts";
import type { PreparedWorkspace } from "../../model/workspaces/workspace.ts";
import type { Preparation } from "../../ports/workspace-provider.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import type { InputFiles } from "./input-files.ts";
import { findPreviousFiles } from "./previous-run.ts";
import { SetupRecord } from "./setup-record.ts";
import { storedFilesOf } from "./turn-checkpoints.ts";

const TRIES = 3;

export interface WorkspaceRequest
  extends Pick<Preparation, "gateway" | "keepsFailedSetup" | "plan" | "signal" | "report" | "variables"> {
  readonly environment: Environment | undefined;
  readonly inputFiles: InputFiles;
}

/**
 * Prepares the workspace of a run. A new workspace contains the input files, the skills, and the files of the previous
 * run of the conversation.
 */
export async function prepareWorkspace(
  deps: AttemptDeps,
  request: WorkspaceRequest,
): Promise<PreparedWorkspace> {
  const { clock, log, run, storage, workspaces } = deps;
  const { environment, inputFiles, ...preparation } = request;
  // The setup of an approved copy says nothing about the environment of today.
  const recorded = run.executes === undefined ? environment : undefined;
  const setup = recorded && new SetupRecord(storage, recorded, run.preparesOnly);
  const findContents = async () => {
    const stored = run.continuesId === undefined ? undefined : await findPreviousFiles(storage, run);
    const files = await inputFiles.withBytes();
    const skills = hasSkills(run) ? await runSkills(deps) : undefined;
    return defined({ files, skills, stored });
  };
  const initialContents = setup?.exempt(findContents) ?? findContents;
  const files = { stored: storedFilesOf(run), isNewerElsewhere: isNewerElsewhere(deps) };
  const isFresh = run.preparesOnly === true;
  const whole = { ...preparation, ...files, runId: run.id, ...teamAccessOf(run), initialContents, isFresh };
  const report = setup?.observing(preparation.report) ?? preparation.report;
  for (let tries = 1; ; tries += 1) {
    try {
      const workspace = await retry(clock, WHILE_UNAVAILABLE, () => workspaces.prepare({ ...whole, report }));
      if (setup !== undefined) {
        await retry(clock, WHILE_UNAVAILABLE, () => setup.ended(workspace.setupError));
      }
      return workspace;
    } catch (error) {
      // The previous run may be running and replace its checkpoint while we read it. Then there is a newer one.
      if (run.continuesId !== undefined && tries < TRIES && !preparation.signal.aborted) {
        continue;
      }
      // A cancelled run says nothing about its environment.
      if (setup === undefined || preparation.signal.aborted) {
        throw error;
      }
      // Report why the setup failed, even if the failure cannot be stored with the environment.
      await retry(clock, WHILE_UNAVAILABLE, () => setup.failed(error)).catch((problem) =>
        log.warn("environment.status.not_stored", { runId: run.id, error: problem }),
      );
      throw error;
    }
  }
}

function hasSkills({ skillSnapshot, skillSnapshots = [] }: Run): boolean {
  return skillSnapshot !== undefined || skillSnapshots.length > 0;
}

/** The attempt that last had its workspace ready was on another disk. */
function isNewerElsewhere({ disk, run }: AttemptDeps): boolean {
  return run.disk !== undefined && disk !== undefined && run.disk !== disk;
}

/**
 * The files of the run's skills for its first workspace. Without them the agent would do other work than was asked
 * for.
 */
async function runSkills({
  agents,
  run,
  skills,
}: Pick<AttemptDeps, "agents" | "run" | "skills">): Promise<readonly SkillFiles[]> {
  const read = async ({ place, skill }: PlacedSkill): Promise<SkillFiles> => {
    try {
      return { ...place, files: await skills.readFiles(teamAccessOf(run), skill) };
    } catch (error) {
      if (!(error instanceof AppError) || error.retryable) {
        throw error;
      }
      const message = `The files of the skill ${skill.name} could not be read: ${error.message}`;
      throw new AppError("environment_setup_failed", message, { cause: error });
    }
  };
  return Promise.all(placedSkills(run, agents.skillFolder?.(run.agent)).map(read));
}
