import type { GithubClient } from "../client.ts";
import { oneLine } from "../shown-text.ts";
import {
  type FindingThread,
  findingThreads,
  type PullRequestPlace,
  readReviewThreads,
} from "./finding-threads.ts";

const LINE_MAX = 300;

/** The findings of earlier reviews for the next one. Empty: there are none. */
export async function knownFindings(client: GithubClient, place: PullRequestPlace): Promise<string> {
  const known = findingThreads(await readReviewThreads(client, place)).filter(({ isFixed }) => !isFixed);
  const [open, closed] = [false, true].map((isResolved) =>
    known.filter((each) => each.isResolved === isResolved),
  );
  return [
    listOf("Findings of earlier reviews. Report those that are still there again, with the same id", open),
    listOf("Findings that people have closed. Do not report them again", closed),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function listOf(heading: string, threads: readonly FindingThread[] = []): string {
  const lines = threads.map(
    ({ findingId, path, title }) => `- ${findingId}: ${oneLine(`${path}: ${title}`, LINE_MAX)}`,
  );
  return lines.length === 0 ? "" : [`${heading}:`, ...lines].join("\n");
}
