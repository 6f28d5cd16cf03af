import { z } from "zod";
import { AppError } from "../../../core/basics/errors.ts";
import type { Review, ReviewFinding } from "../../../core/model/runs/review.ts";
import type { Notice } from "../../../core/model/threads/notice.ts";
import type { Delivery } from "../../../core/ports/thread-adapter.ts";
import { parseThreadKey, type Shown } from "../addresses.ts";
import { defuse, defuseLine, exactCode } from "../defuse.ts";
import type { Posts } from "../posts.ts";
import { markerOf, render } from "../render.ts";
import type { CallRepository } from "../routes.ts";
import { type Diff, isInDiff, readDiff } from "./diff.ts";
import {
  type FindingThread,
  findingMarker,
  findingThreads,
  fingerprintOf,
  fixedBody,
  type PullRequestPlace,
  readReviewThreads,
  resolveThread,
} from "./finding-threads.ts";
import {
  headOf,
  ownReviews,
  type ReviewDeps,
  rewriteReview,
  sendReview,
  shownAs,
} from "./pull-request-reviews.ts";
import { suggestionBlock } from "./suggestion-block.ts";

const BODY_LENGTH = 10_000;
const CODE_LENGTH = 20_000;
const SHORT_COMMIT = 7;
const NO_DIFF: Diff = new Map();

const anyAnswer = z.unknown();

type AnswerNotice = Extract<Notice, { readonly kind: "message" }>;

interface PostDeps extends ReviewDeps {
  readonly posts: Posts;
}

interface Posted {
  readonly delivery: Delivery;
  readonly notice: AnswerNotice;
  readonly place: PullRequestPlace;
  /** The commit that was reviewed. */
  readonly commit: string;
  /** Without those that a thread shows already. */
  readonly fresh: readonly ReviewFinding[];
  readonly diff: Diff;
}

/**
 * Shows an answer as one review of the commit. What an earlier review found is not repeated, and the threads of findings
 * that are gone are resolved. It can be repeated: the comments of GitHub say what was done.
 */
export async function postReview(
  delivery: Delivery,
  notice: AnswerNotice & { readonly review: Review },
  deps: PostDeps,
): Promise<Shown> {
  const { installation, key } = delivery.thread;
  const { number, repositoryId } = parseThreadKey(key);
  const { review } = notice;
  return deps.names.use(installation, repositoryId, async (repository) => {
    const place = { installation, ...repository, number };
    const call: CallRepository = (request) => deps.client.callIn(installation, place, request);
    const head = await headOf(call, number);
    const { commit = head } = review;
    const known = await ownThreads(place, deps);
    const shownAlready = new Set(known.filter(({ isFixed }) => !isFixed).map((thread) => thread.fingerprint));
    const fresh = review.findings.filter((finding) => !shownAlready.has(fingerprintOf(finding)));
    const isLineWise = commit === head && fresh.some(({ line }) => line !== undefined);
    const diff = isLineWise ? await readDiff(call, number) : NO_DIFF;
    const shown = await post({ delivery, notice, place, commit, fresh, diff }, deps);
    if (commit === head) {
      await closeFixed(known, { commit, place, review }, deps);
    }
    return shown;
  });
}

/** Where GitHub does not show the threads, all findings are new. */
async function ownThreads(place: PullRequestPlace, { client }: PostDeps): Promise<readonly FindingThread[]> {
  try {
    return findingThreads(await readReviewThreads(client, place));
  } catch (error) {
    if (error instanceof AppError && !error.retryable) {
      return [];
    }
    throw error;
  }
}

async function post(posted: Posted, deps: PostDeps): Promise<Shown> {
  const { commit, delivery, fresh, notice, place } = posted;
  const own = await ownReviews(place, deps);
  const repeated = own.find(({ body }) => body?.startsWith(markerOf(delivery)));
  if (repeated !== undefined) {
    return shownAs(repeated);
  }
  if (own.some(({ body }) => body?.includes(commitMarker(commit)))) {
    return comment(posted, deps);
  }
  // Nobody asked for it, and it says nothing new.
  if (own.length > 0 && fresh.length === 0 && notice.review?.isAsked !== true) {
    return { kind: "review", id: 0 };
  }
  return create(posted, deps);
}

/** A second answer about the same commit is a comment with all that is new. */
async function comment(posted: Posted, { posts, trigger }: PostDeps): Promise<Shown> {
  const { delivery, place } = posted;
  const earlier = delivery.maybeShown && (await posts.find(place, markerOf(delivery)));
  return earlier || posts.create(place, bodyOf(posted, posted.fresh, trigger));
}

/** GitHub refuses all comments of a review if it does not accept one. Then they stand in the text. */
async function create(posted: Posted, deps: PostDeps): Promise<Shown> {
  const inline = posted.fresh.filter((finding) => isInDiff(posted.diff, finding));
  const rest = posted.fresh.filter((finding) => !inline.includes(finding));
  const { commit, place } = posted;
  try {
    const comments = inline.map(commentOf);
    return await sendReview(place, { commit, comments, body: bodyOf(posted, rest, deps.trigger) }, deps);
  } catch (error) {
    if (inline.length === 0 || !(error instanceof AppError) || error.code !== "invalid_request") {
      throw error;
    }
    const body = bodyOf(posted, posted.fresh, deps.trigger);
    const marker = markerOf(posted.delivery);
    // GitHub may have kept the review without its comments.
    const kept = (await ownReviews(place, deps)).find((own) => own.body?.startsWith(marker));
    return kept === undefined
      ? sendReview(place, { commit, comments: [], body }, deps)
      : rewriteReview(place, { ...kept, body }, deps);
  }
}

function commentOf(finding: ReviewFinding) {
  const { line = 1, path, startLine, suggestion } = finding;
  const body = `${findingMarker(finding)}\n${wordsOf(finding)}${suggestion === undefined ? "" : codeOf(suggestion, "suggestion")}`;
  const start = startLine === undefined ? {} : { start_line: startLine, start_side: "RIGHT" };
  return { path, line, side: "RIGHT", ...start, body };
}

function wordsOf({ body, title }: ReviewFinding): string {
  const words = defuse(body, BODY_LENGTH).markdown;
  return `**${defuseLine(title)}**${words === "" ? "" : `\n\n${words}`}`;
}

function codeOf(suggestion: string, language: "suggestion" | ""): string {
  const code =
    language === "suggestion" ? suggestionBlock(suggestion) : exactCode(suggestion, "", CODE_LENGTH);
  return code === undefined ? "\n\n_The session has a suggestion._" : `\n\n${code}`;
}

function commitMarker(commit: string): string {
  return `<!-- errand:review=${commit} -->`;
}

/** The summary, and the findings that no line of the diff can show. */
function bodyOf(
  { commit, delivery, notice }: Posted,
  findings: readonly ReviewFinding[],
  trigger: string,
): string {
  const heading = findings.length === 0 ? [] : ["**Findings that do not fit a line of the diff**"];
  const text = [notice.text, ...heading, ...findings.map(placedWords)]
    .filter((part) => part !== "")
    .join("\n\n");
  const body = render({ id: delivery.id, notice: { ...notice, text } }, trigger);
  const marker = markerOf(delivery);
  return body.replace(marker, `${marker}\n${commitMarker(commit)}`);
}

function placedWords({ body, line, path, startLine, suggestion, title }: ReviewFinding): string {
  const lines = line === undefined ? "" : `:${startLine === undefined ? "" : `${startLine}-`}${line}`;
  const code = suggestion === undefined ? "" : codeOf(suggestion, "");
  return `\`${path}${lines}\` ${title}${body === "" ? "" : `\n\n${body}`}${code}`;
}

async function closeFixed(
  known: readonly FindingThread[],
  { commit, place, review }: { commit: string; place: PullRequestPlace; review: Review },
  { client }: PostDeps,
): Promise<void> {
  const remaining = new Set(review.findings.map(fingerprintOf));
  const gone = known.filter(({ fingerprint, isResolved }) => !isResolved && !remaining.has(fingerprint));
  for (const { body, commentId, id, isFixed } of gone) {
    if (!isFixed) {
      await client.callIn(place.installation, place, {
        route: "PATCH /repos/{owner}/{repo}/pulls/comments/{comment_id}",
        parameters: { comment_id: commentId, body: fixedBody(body, commit.slice(0, SHORT_COMMIT)) },
        answer: anyAnswer,
      });
    }
    await resolveThread(client, place.installation, id);
  }
}
