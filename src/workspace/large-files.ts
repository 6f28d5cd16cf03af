import { type ClonePart, type ClonePartOptions, runInClone } from "./clone-parts.ts";
import type { Step } from "./steps.ts";

const NO_GIT_LFS = 97;
const OUTPUT_BYTES = 4_096;

/**
 * Replaces the pointers of a new clone by the large files. From then on git in the clone uses git-lfs, also for what the
 * agent commits and pushes. Of a sparse checkout only the files that are there: git-lfs would fetch those of all folders.
 */
const FETCH_LARGE_FILES = `
cd -P -- "$1" || exit 1
git lfs version >/dev/null 2>&1 || exit ${NO_GIT_LFS}
git lfs install --local >/dev/null || exit 1
[ "$(git config --bool core.sparseCheckout)" = true ] || exec git lfs pull >/dev/null
present=$(git lfs ls-files --name-only | while IFS= read -r path; do
  [ ! -f "$path" ] || printf '%s\\n' "$path"
done | tr '[]*\\\\,' '?????' | paste -s -d , -)
[ -z "$present" ] || git lfs pull --include "$present" >/dev/null
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
