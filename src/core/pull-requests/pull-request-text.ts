import type { Run } from "../runs/run.ts";
import type { PullRequestDraft } from "./pull-requests.ts";

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

export function commitMessageOf(run: Run, sessionLink: string): string {
  return `${harmlessTitle(run)}\n\nMade by a run of Errand: ${sessionLink}\n`;
}

export function pullRequestText(run: Run, sessionLink: string): Pick<PullRequestDraft, "title" | "body"> {
  const asked = run.triggerUrl === undefined ? "" : `Asked for in ${run.triggerUrl}.`;
  const body = [`Made by a run of Errand: [session](${sessionLink}).`, asked];
  return { title: harmlessTitle(run), body: body.filter((part) => part !== "").join("\n\n") };
}
