import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { AnswerPart, Notice } from "../../core/model/threads/notice.ts";
import type { Delivery } from "../../core/ports/thread-adapter.ts";
import { parseThreadKey, reviewThreadOf, type Shown } from "./addresses.ts";
import type { GithubClient } from "./client.ts";
import type { Posts } from "./posts.ts";
import { inThread } from "./render.ts";
import type { RepositoryNames } from "./repositories.ts";
import {
  type PullRequestPlace,
  type ReviewThread,
  readReviewThreads,
  resolveThread,
} from "./review/finding-threads.ts";

type Message = Extract<Notice, { readonly kind: "message" }>;

interface PartsDeps {
  readonly client: GithubClient;
  readonly names: RepositoryNames;
  readonly posts: Posts;
}

/**
 * Says in each review thread what was done there, and resolves those whose request was carried out. It mentions no person,
 * because the answer does. It can be repeated, and what GitHub refuses is left out: the answer says it all.
 */
export async function showParts(
  delivery: Delivery,
  { answer, notice }: { readonly answer: Shown; readonly notice: Message },
  { client, names, posts }: PartsDeps,
): Promise<void> {
  const { parts = [], sessionLink } = notice;
  const { installation, key } = delivery.thread;
  const { number, repositoryId } = parseThreadKey(key);
  await names.use(installation, repositoryId, async (repository) => {
    const place = { installation, ...repository, number };
    const isDone = parts.some(({ doneIn }) => doneIn !== undefined);
    const threads = isDone ? ((await unlessRefused(readReviewThreads(client, place))) ?? []) : [];
    for (const part of parts) {
      const root = Number(reviewThreadOf(part.inReplyTo));
      const body = inThread(delivery.id, { ...part, ...defined({ answer: answer.url ?? sessionLink }) });
      await unlessRefused(reply({ ...place, reviewCommentId: root }, body, { delivery, posts }));
      const thread = threads.find(({ commentId }) => commentId === root);
      if (thread !== undefined && isToResolve(thread, part)) {
        await resolveThread(client, installation, thread.id);
      }
    }
  });
}

async function reply(
  target: PullRequestPlace & { readonly reviewCommentId: number },
  { body, marker }: ReturnType<typeof inThread>,
  { delivery, posts }: { readonly delivery: Delivery; readonly posts: Posts },
): Promise<void> {
  const earlier = delivery.maybeShown && (await posts.find(target, marker));
  if (!earlier) {
    await posts.create(target, body);
  }
}

/** The work must have changed the file of the thread. What the agent says alone does not close it. */
function isToResolve({ isResolved, path }: ReviewThread, { doneIn = [] }: AnswerPart): boolean {
  return !isResolved && doneIn.includes(path);
}

async function unlessRefused<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError && !error.retryable) {
      return undefined;
    }
    throw error;
  }
}
