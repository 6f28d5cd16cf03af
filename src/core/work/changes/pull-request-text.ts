import { defined } from "../../basics/defined.ts";
import type { Fork } from "../../model/runs/home-repository.ts";
import type { Run } from "../../model/runs/run.ts";
import type { PullRequestDraft } from "../../ports/pull-requests.ts";
import type { PublishTarget } from "./publish-target.ts";

const TITLE_LENGTH = 120;

/**
 * The title often comes from another person. In a commit or a pull request it must not mention people or close
 * issues.
 */
export function harmlessTitle({ title, id }: Pick<Run, "title" | "id">): string {
  const line = title
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .replaceAll("@", "")
    .replace(/#(?=\d)|\bGH-(?=\d)/gi, "no. ")
    .replace(/https?:\/\/\S+/gi, "")
    .trim();
  const characters = Array.from(line === "" ? `Work of run ${id}` : line);
  return characters.length <= TITLE_LENGTH
    ? characters.join("")
    : `${characters.slice(0, TITLE_LENGTH).join("")}…`;
}

export interface CommitWords {
  readonly sessionLink: string;
  /** `name <address>` of the person who asked for the work. */
  readonly coAuthor?: string | undefined;
}

export function commitMessageOf(run: Run, { coAuthor, sessionLink }: CommitWords): string {
  const trailer = coAuthor === undefined ? "" : `\nCo-authored-by: ${coAuthor}\n`;
  return `${harmlessTitle(run)}\n\nMade by a run of Errand: ${sessionLink}\n${trailer}`;
}

export interface RequestOfWork {
  readonly sessionLink: string;
  /** What the agent says about its work. */
  readonly answer: string;
  /** What was done, as the first commit says it. */
  readonly subject?: string | undefined;
  /** The issue in which the work was asked for, if that is in the repository of the pull request. */
  readonly issue: number | undefined;
  /** Set if the work was asked for in the pull request of a fork. */
  readonly fork?: Fork | undefined;
  /** Set if the work was asked for in the pull request of the branch `base`, and is not on that. */
  readonly beside: Pick<PublishTarget, "base" | "ontoBase"> | undefined;
}

export function pullRequestText(
  run: Run,
  { answer, beside, fork, issue, sessionLink, subject = "" }: RequestOfWork,
): Pick<PullRequestDraft, "title" | "summary" | "body" | "closes"> {
  const asked = run.triggerUrl === undefined ? "" : `Asked for in ${run.triggerUrl}.`;
  const body = [
    `Made by a run of Errand: [session](${sessionLink}).`,
    asked,
    besideText(beside),
    forkText(fork),
  ];
  return defined({
    title: harmlessTitle({ id: run.id, title: subject.trim() === "" ? run.title : subject }),
    body: body.filter((part) => part !== "").join("\n\n"),
    summary: answer.trim() === "" ? undefined : answer,
    closes: issue,
  });
}

function forkText(fork: Fork | undefined): string {
  return fork === undefined
    ? ""
    : `The head of that pull request is in ${fork.name ?? "a fork that was deleted"}, to which nothing can be pushed. ` +
        `So this one has its commits up to ${fork.commit} and the work on them.`;
}

function besideText(beside: RequestOfWork["beside"]): string {
  if (beside === undefined) {
    return "";
  }
  const reason = beside.ontoBase
    ? "The branch of that pull request did not take the work: another person pushed, or its protection refuses it."
    : "Who asked may not push to the branch of that pull request, or it is the default branch.";
  return `${reason} So this one goes into that branch.`;
}
