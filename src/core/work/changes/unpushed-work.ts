import { homeRepositoryOf } from "../../model/runs/home-repository.ts";
import type { Run, StatusMessage } from "../../model/runs/run.ts";
import type { RepositoryDiff } from "../../ports/change-tracker.ts";

/** Nobody reads a longer patch in a thread. */
const PATCH_BYTES_MAX = 20_000;

/** How a run ends whose work in the pull request of a fork is not pushed. */
export function unpushedStatus(run: Pick<Run, "provenance">): StatusMessage {
  const { fork, name, owner } = homeRepositoryOf(run) ?? {};
  return {
    message:
      "The work is a patch and is not pushed: on a branch, workflows could run the code of the fork " +
      `${fork?.name ?? "(deleted)"} with the secrets of ${owner}/${name}.`,
    remedy:
      "Read the patch and apply it. Or, if the code of the fork can be trusted, a person with write permission gets a " +
      "branch: mention the bot with `new pr=draft` and the task.",
  };
}

/** The whole patch, if it is text that fits into a message. */
export function shortPatch(
  [diff, ...others]: readonly Pick<RepositoryDiff, "isCut" | "patch">[],
  clean: (text: string) => string,
): string | undefined {
  if (diff === undefined || others.length > 0 || diff.isCut || diff.patch.length > PATCH_BYTES_MAX) {
    return undefined;
  }
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(diff.patch);
  // A patch with other characters cannot be applied.
  return text.includes("\uFFFD") || clean(text) !== text ? undefined : text;
}
