import { AppError } from "../../../core/basics/errors.ts";
import type { Notice } from "../../../core/model/threads/notice.ts";
import type { Delivery } from "../../../core/ports/thread-adapter.ts";
import { parseThreadKey, type Shown } from "../addresses.ts";
import { markerOf, render } from "../render.ts";
import type { CallRepository } from "../routes.ts";
import { isInDiff, readDiff } from "./diff.ts";
import { type Suggestion, suggestionsOf } from "./patch-suggestions.ts";
import { headOf, ownReviews, type ReviewDeps, sendReview, shownAs } from "./pull-request-reviews.ts";
import { suggestionBlock } from "./suggestion-block.ts";

const WORDS =
  "Each part of the work is a suggestion on its lines, which the author of the pull request can commit.";

type Message = Extract<Notice, { readonly kind: "message" }>;
type SentComment = Parameters<typeof sendReview>[1]["comments"][number];

/**
 * Shows work that cannot be pushed to the branch of its pull request as suggestions of one review. Undefined: the work fits no
 * suggestions, because it changes other lines than the pull request, or the pull request has newer commits.
 */
export async function suggestWork(
  delivery: Delivery,
  notice: Message,
  deps: ReviewDeps,
): Promise<Shown | undefined> {
  const { base, patch = "", words = "" } = notice.unpushed ?? {};
  const comments = commentsOf(patch);
  if (base === undefined || comments === undefined) {
    return undefined;
  }
  const { installation, key } = delivery.thread;
  const { number, repositoryId } = parseThreadKey(key);
  return deps.names.use(installation, repositoryId, async (repository) => {
    const place = { installation, ...repository, number };
    const call: CallRepository = (request) => deps.client.callIn(installation, repository, request);
    if (!(await takesSuggestions(call, number, { base, patch }))) {
      return undefined;
    }
    const earlier = delivery.maybeShown ? await ownReviews(place, deps) : [];
    const shown = earlier.find(({ body }) => body?.startsWith(markerOf(delivery)));
    const suggested = { ...notice, unpushed: { words: `${WORDS}\n\n${words}` } };
    const body = render({ id: delivery.id, notice: suggested }, deps.trigger);
    return shown === undefined
      ? sendReview(place, { commit: base, comments: [...comments], body }, deps).catch(unlessRefused)
      : shownAs(shown);
  });
}

/** Whether the whole patch changes lines that the pull request shows, at its newest commit. */
export async function takesSuggestions(
  call: CallRepository,
  number: number,
  { base, patch }: { readonly base: string; readonly patch: string },
): Promise<boolean> {
  const comments = commentsOf(patch);
  if (comments === undefined || (await headOf(call, number).catch(unlessRefused)) !== base) {
    return false;
  }
  const diff = await readDiff(call, number);
  return comments.every(({ line = 0, path, start_line: startLine = line }) =>
    isInDiff(diff, { path, line, startLine }),
  );
}

/** Undefined: not all of the patch can be suggested. */
function commentsOf(patch: string): readonly SentComment[] | undefined {
  const comments = suggestionsOf(patch)?.map(commentOf);
  const sendable = comments?.filter((comment) => comment !== undefined);
  return sendable?.length === comments?.length ? sendable : undefined;
}

/** Undefined: the code has characters that must not be shown. */
function commentOf({ line, path, startLine, text }: Suggestion): SentComment | undefined {
  const code = suggestionBlock(text);
  const start = startLine === line ? {} : { start_line: startLine, start_side: "RIGHT" };
  return code === undefined ? undefined : { path, line, side: "RIGHT", ...start, body: code };
}

/** Then the work is a patch in a comment. An issue has no head, and GitHub may see other lines than its list of files. */
function unlessRefused(error: unknown): undefined {
  if (error instanceof AppError && !error.retryable) {
    return undefined;
  }
  throw error;
}
