import { defined } from "../../core/basics/defined.ts";
import type { PullRequestAccess } from "../../core/ports/pull-requests.ts";
import { contentHash } from "../content-hash.ts";
import { defuse } from "./defuse.ts";
import { fillDescription, fillIssue } from "./pull-request-template.ts";
import { oneLine } from "./shown-text.ts";

const MAX_TITLE = 256;
const MAX_SUMMARY = 20_000;
/** What Errand wrote stands between them. People may change everything around it, or remove it. */
const BEGIN = "<!-- errand:description -->";
const END = "<!-- errand:description-end -->";
/** The hash of the title that Errand wrote. Another title was written by a person. */
const TITLE_MARK = /<!-- errand:title [\w-]+ -->/;
/** Words by which a merge closes an issue. */
const CLOSING = /\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?=:?\s+(?:[\w./-]*#\d|GH-\d|https?:))/gi;
const NO_SPACE = "\u200B";

export type Draft = Parameters<PullRequestAccess["open"]>[0];

interface PullText {
  readonly title: string;
  readonly body: string;
}

/** The title and the body of a new pull request. */
export function newText(draft: Draft): PullText {
  const { closes, template = "" } = draft;
  const title = oneLine(draft.title, MAX_TITLE);
  const withIssue = closes === undefined ? undefined : fillIssue(template, closingOf(closes));
  const description = descriptionOf(draft, { mark: markOf(title), hasIssue: withIssue === undefined });
  return { title, body: fillDescription(withIssue ?? template, description) };
}

/** Whether the run of the draft wrote this body of a pull request. */
export function isDescribedBy({ body: ownWords }: Draft, body: string): boolean {
  const [run = ""] = ownWords.split("\n\n");
  return body.includes(run);
}

/** What has to change of an open pull request. Undefined: nothing, or a person removed Errand's description. */
export function renewedText(now: PullText, draft: Draft): Partial<PullText> | undefined {
  const start = now.body.indexOf(BEGIN);
  const end = now.body.indexOf(END, start);
  if (start < 0 || end < 0 || draft.summary === undefined) {
    return undefined;
  }
  const before = now.body.slice(start, end);
  const [mark = ""] = TITLE_MARK.exec(before) ?? [];
  const title = mark === markOf(now.title) ? oneLine(draft.title, MAX_TITLE) : now.title;
  const description = descriptionOf(draft, {
    mark: title === now.title ? mark : markOf(title),
    hasIssue: draft.closes !== undefined && before.split("\n").includes(closingOf(draft.closes)),
  });
  const body = now.body.slice(0, start) + description + now.body.slice(end + END.length);
  const changes = defined({
    title: title === now.title ? undefined : title,
    body: body === now.body ? undefined : body,
  });
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/** The agent's words close no issue and mention nobody. */
function descriptionOf(
  { body, closes, summary = "" }: Draft,
  { hasIssue, mark }: { readonly hasIssue: boolean; readonly mark: string },
): string {
  const said = defuse(summary, MAX_SUMMARY).markdown.replace(CLOSING, `$1${NO_SPACE}`);
  const closing = closes === undefined || !hasIssue ? "" : closingOf(closes);
  const text = [said, closing, body].filter((part) => part !== "").join("\n\n");
  return [BEGIN, mark, text, END].filter((part) => part !== "").join("\n");
}

function closingOf(issue: number): string {
  return `Fixes #${issue}`;
}

function markOf(title: string): string {
  return `<!-- errand:title ${contentHash({ body: title })} -->`;
}
