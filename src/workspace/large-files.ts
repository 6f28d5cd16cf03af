import type { RunWorkspace } from "../core/ports/workspace-provider.ts";
import { runScript } from "./changes/sandboxed-script.ts";
import type { Step } from "./steps.ts";
import type { WorkspaceDeps } from "./workspace-deps.ts";
import type { ClonedRepository } from "./workspace-record.ts";

const NO_GIT_LFS = 97;
const OUTPUT_BYTES = 4_096;

/**
 * Replaces the pointers of a new clone by the large files. From then on git in the clone uses git-lfs, also for what the
 * agent commits and pushes.
 */
const FETCH_LARGE_FILES = `
cd -P -- "$1" || exit 1
git lfs version >/dev/null 2>&1 || exit ${NO_GIT_LFS}
git lfs install --local >/dev/null && git lfs pull >/dev/null
`;

interface ClonePartOptions {
  readonly deps: Pick<WorkspaceDeps, "sandbox" | "setup" | "variablesOf">;
  readonly runWorkspace: RunWorkspace;
  readonly runPath: string;
  readonly repository: Pick<ClonedRepository, "folder" | "isUntrusted" | "name" | "owner">;
}

/** What a clone contains only by name, until it is fetched in the sandbox, through the gateway. */
export interface ClonePart {
  title(repository: string): string;
  /** Ends the step. Returns what the clone lacks and why, in a sentence for people and for the agent. */
  fetch(options: ClonePartOptions, step: Step): Promise<string | undefined>;
}

export const LARGE_FILES: ClonePart = {
  title: (repository) => `Fetch the large files of ${repository} (Git LFS)`,
  fetch: fetchLargeFiles,
};

async function fetchLargeFiles(
  { deps, repository, runPath, runWorkspace }: ClonePartOptions,
  step: Step,
): Promise<string | undefined> {
  const { exit, errorText } = await runScript(
    {
      sandbox: deps.sandbox,
      runWorkspace,
      script: FETCH_LARGE_FILES,
      args: [repository.folder],
      env: deps.variablesOf(runWorkspace.gateway),
      hasPortForward: true,
      writable: [],
      maxOutputBytes: OUTPUT_BYTES,
      timeoutMs: deps.setup.commandMs,
    },
    runPath,
  );
  const code = typeof exit === "object" ? exit.code : undefined;
  if (code === 0) {
    step.end("completed");
    return undefined;
  }
  step.say(errorText);
  step.end("failed");
  const reason = code === NO_GIT_LFS ? "git-lfs is not installed where the agent runs" : reasonOf(exit);
  return `The large files (Git LFS) of ${repository.owner}/${repository.name} are not there, only their pointers, because ${reason}.`;
}

function reasonOf(exit: unknown): string {
  return exit === "time-out" ? "they were not fetched in time" : "git lfs pull failed, as the log says";
}
