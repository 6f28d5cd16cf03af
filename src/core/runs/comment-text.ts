import { AppError } from "../basics/errors.ts";
import { fenced } from "../basics/fenced.ts";
import type { LineComment } from "../model/runs/line-comment.ts";

/** With one follow-up, and among the drafts of one person for one run. */
export const COMMENTS_MAX = 50;
export const COMMENT_BODY_MAX = 10_000;
export const COMMENT_HUNK_MAX = 16_000;
export const COMMENT_PATH_MAX = 4_096;
const REPOSITORY_MAX = 256;
const LINE_MAX = 2 ** 31 - 1;
/** The abbreviated or whole name of a commit in SHA-1 or SHA-256. */
const COMMIT = /^[0-9a-f]{7,64}$/;

interface Issue {
  readonly path: string;
  readonly message: string;
}

/** Throws if a comment cannot be sent. `path` is where the comments are in the request. */
export function requireComments(comments: readonly LineComment[], path = "comments"): void {
  const tooMany = { path, message: `must have at most ${COMMENTS_MAX} comments` };
  const issues =
    comments.length > COMMENTS_MAX
      ? [tooMany]
      : comments.flatMap((comment, index) => issuesOf(comment, `${path}.${index}.`));
  refuse(issues, "comments");
}

export function requireComment(comment: LineComment): void {
  refuse(issuesOf(comment, ""), "comment");
}

function refuse(issues: readonly Issue[], what: string): void {
  const [first] = issues;
  if (first !== undefined) {
    throw new AppError("invalid_request", `The ${what} cannot be taken: ${first.path} ${first.message}.`, {
      issues,
    });
  }
}

function issuesOf(comment: LineComment, prefix: string): readonly Issue[] {
  const { body, commitId, hunk, line, path, repository = "", startLine = line } = comment;
  const checks: readonly (readonly [member: string, isRight: boolean, message: string])[] = [
    ["body", body.trim() !== "", "must not be empty"],
    ["body", body.length <= COMMENT_BODY_MAX, `must have at most ${COMMENT_BODY_MAX} characters`],
    ["path", path.trim() !== "", "must not be empty"],
    ["path", path.length <= COMMENT_PATH_MAX, `must have at most ${COMMENT_PATH_MAX} characters`],
    ["hunk", hunk.length <= COMMENT_HUNK_MAX, `must have at most ${COMMENT_HUNK_MAX} characters`],
    ["repository", repository.length <= REPOSITORY_MAX, `must have at most ${REPOSITORY_MAX} characters`],
    ["line", line >= 1 && line <= LINE_MAX, "must be the number of a line"],
    ["start_line", startLine >= 1 && startLine <= line, "must not be after line"],
    ["commit_id", commitId === undefined || COMMIT.test(commitId), "must be the id of a commit"],
  ];
  return checks.flatMap(([member, isRight, message]) =>
    isRight ? [] : [{ path: `${prefix}${member}`, message }],
  );
}

/** What the agent reads: the words of the follow-up, then each comment below the lines that it is about. */
export function messageWithComments(message: string, comments: readonly LineComment[]): string {
  if (comments.length === 0) {
    return message;
  }
  const texts = comments.map((comment, index) => `${index + 1}. ${textOf(comment)}`);
  const head = comments.length === 1 ? "A comment on your changes:" : "Comments on your changes:";
  return [message.trim() === "" ? "" : message, head, ...texts].filter((text) => text !== "").join("\n\n");
}

function textOf(comment: LineComment): string {
  const { body, commitId, hunk, side } = comment;
  const version = side === "left" ? "before the changes" : "after the changes";
  const commit = commitId === undefined ? "" : `, commit ${commitId.slice(0, 12)}`;
  const heading = `${placeOf(comment)} (${version}${commit})`;
  return [heading, hunk === "" ? "" : fenced(hunk, "diff"), body].filter((text) => text !== "").join("\n\n");
}

/** What threads show: where the comments are, without the quoted lines. */
export function messageWithPlaces(message: string, comments: readonly LineComment[]): string {
  const lines = comments.map((comment) => `- ${placeOf(comment)}: ${comment.body}`);
  return lines.length === 0 ? message : [message, lines.join("\n")].join("\n\n").trimStart();
}

function placeOf({ line, path, repository, startLine = line }: LineComment): string {
  const lines = startLine === line ? `line ${line}` : `lines ${startLine} to ${line}`;
  return `${repository === undefined ? "" : `${repository}, `}${shownPath(path)}, ${lines}`;
}

/** A path may contain anything: line breaks and quotes must not look like another comment. */
function shownPath(path: string): string {
  return /^[\p{L}\p{N} ._/@+-]+$/u.test(path) ? `\`${path}\`` : JSON.stringify(path);
}
