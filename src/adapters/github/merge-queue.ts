import { z } from "zod";
import { oneLine } from "./shown-text.ts";

const NAME_LENGTH = 100;

/** Why the merge queue removes a pull request, where a change of its branch can help. */
const CAUSES = {
  CI_FAILURE: "checks failed after its merge with",
  CI_TIMEOUT: "checks did not end in time after its merge with",
  MERGE_CONFLICT: "it could not be merged with",
};

const removedSchema = z.object({
  action: z.literal("dequeued"),
  reason: z.string(),
  pull_request: z.object({ head: z.object({ sha: z.string() }) }),
});
export const removalSchema = z.object({
  cause: z.enum(["CI_FAILURE", "CI_TIMEOUT", "MERGE_CONFLICT"]),
  head: z.string(),
});
export type Removal = z.infer<typeof removalSchema>;

/** Undefined: the event is about something else. A string says why nothing is to be repaired. */
export function removalOf(payload: unknown): Removal | string | undefined {
  const { data: event } = removedSchema.safeParse(payload);
  if (event === undefined) {
    return undefined;
  }
  const { pull_request: pull, reason } = event;
  const removal = removalSchema.safeParse({ cause: reason, head: pull.head.sha });
  return (
    removal.data ?? `The merge queue removed it, and no change repairs that: ${oneLine(reason, NAME_LENGTH)}.`
  );
}

export function kindOfRemoval({ cause }: Removal): "failing_checks" | "merge_conflict" {
  return cause === "MERGE_CONFLICT" ? "merge_conflict" : "failing_checks";
}

/** The event does not name the merged commit whose checks failed, so the agent repeats the merge. */
export function problemOf(
  { cause, head }: Removal,
  pull: { readonly base: { readonly ref: string }; readonly head: { readonly sha: string } },
): { readonly reason: string } | { readonly text: string } {
  if (head !== pull.head.sha) {
    return { reason: "The merge queue removed an earlier commit." };
  }
  const base = oneLine(pull.base.ref, NAME_LENGTH);
  return {
    text: `The merge queue removed the pull request, because ${CAUSES[cause]} ${base} and the pull requests before it. Merge ${base} into the branch, find out why and repair it.`,
  };
}
