import { type ClonePart, type ClonePartOptions, runInClone } from "./clone-parts.ts";
import type { Step } from "./steps.ts";

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

export const LARGE_FILES: ClonePart = {
  title: (repository) => `Fetch the large files of ${repository} (Git LFS)`,
  fetch: fetchLargeFiles,
};

/** Returns why the clone has pointers instead. */
async function fetchLargeFiles(options: ClonePartOptions, step: Step): Promise<string | undefined> {
  const { repository } = options;
  const { exit, errorText } = await runInClone(options, FETCH_LARGE_FILES, OUTPUT_BYTES);
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
