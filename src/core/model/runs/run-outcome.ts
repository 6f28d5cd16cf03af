import { defined } from "../../basics/defined.ts";
import type { PullRequestState } from "../repositories/pull-request-status.ts";
import type { RepositoryChanges } from "../workspaces/repository-changes.ts";
import type { Run, RunProgress, StatusMessage } from "./run.ts";
import { isEnded, type RunState } from "./states.ts";
import type { ChangeCounts, RefusedWork, StoredOutcome } from "./stored-outcome.ts";

/** What came of a run that has ended. */
export interface RunOutcome extends StoredOutcome {
  /** One line. */
  readonly summary: string;
  readonly pullRequest?: {
    readonly url: string;
    /** What the platform last said about it. */
    readonly state?: PullRequestState;
    readonly number?: number;
  };
}

type EndedRun = Pick<Run, "outcome" | "pullRequest" | "pullRequestStatus" | "state" | "statusMessage">;

/** Undefined: the run has not ended. */
export function outcomeOf(run: EndedRun): RunOutcome | undefined {
  const summary = summaryOf(run);
  const pullRequest = pullRequestOf(run);
  return summary === undefined ? undefined : { summary, ...defined({ pullRequest }), ...run.outcome };
}

/** What a run that succeeded did not do, in place of the word for its state. Undefined: nothing is missing. */
export function shortfallOf({ outcome = {}, state }: Pick<Run, "outcome" | "state">): string | undefined {
  return state === "SUCCEEDED" ? shortfallText(outcome.refused ?? []) : undefined;
}

function shortfallText(refused: readonly RefusedWork[]): string | undefined {
  const kinds = new Set(refused.map(({ what }) => what));
  if (kinds.has("push")) {
    return "Done, but not pushed";
  }
  if (kinds.has("pull_request")) {
    return "Done, but without a pull request";
  }
  return kinds.has("file") ? "Done, but files are missing" : undefined;
}

export function withRefused(
  outcome: StoredOutcome | undefined,
  parts: readonly RefusedWork[] | undefined,
): StoredOutcome | undefined {
  const { refused: _before, ...others } = outcome ?? {};
  if (parts !== undefined) {
    return { ...others, refused: parts };
  }
  return outcome && others;
}

/** How a run ends that does not hand over everything. */
export function refusedStatus(refused: readonly RefusedWork[]): StatusMessage {
  const reasons = refused.map(({ by, message }) => `${by}: ${message}`);
  const remedies = refused.flatMap(({ remedy }) => (remedy === undefined ? [] : [remedy]));
  return defined({
    message: `${shortfallText(refused) ?? "Done"}.\n${[...new Set(reasons)].join("\n")}`,
    remedy: remedies.length === 0 ? undefined : [...new Set(remedies)].join(" "),
  });
}

/** The page that shows the patch of a run. */
export function patchLink(sessionLink: string): string {
  return `${sessionLink}?tab=changes`;
}

export function countsOf(changes: readonly Pick<RepositoryChanges, "files">[]): ChangeCounts {
  const files = changes.flatMap((each) => each.files);
  const sum = (member: "additions" | "deletions") =>
    files.reduce((total, file) => total + (file[member] ?? 0), 0);
  return { files: files.length, additions: sum("additions"), deletions: sum("deletions") };
}

function pullRequestOf({ pullRequest: url, pullRequestStatus: status }: EndedRun): RunOutcome["pullRequest"] {
  if (url === undefined) {
    return undefined;
  }
  const [, number] = /\/(\d+)$/.exec(url) ?? [];
  return defined({
    url,
    state: status?.url === url ? status.state : undefined,
    number: number === undefined ? undefined : Number(number),
  });
}

function summaryOf({ outcome = {}, pullRequest, state, statusMessage }: EndedRun): string | undefined {
  const said = lineOf(statusMessage?.message ?? "");
  switch (state) {
    case "SUCCEEDED": {
      const { changes, refused = [] } = outcome;
      const [refusal] = refused;
      const shortfall = shortfallText(refused);
      if (shortfall !== undefined && refusal !== undefined) {
        return `${shortfall}: ${lineOf(`${refusal.by} says: ${refusal.message}`)}`;
      }
      return pullRequest === undefined ? changedText(changes) : `Done, with the pull request ${pullRequest}`;
    }
    case "FAILED":
    case "ERROR":
      return said === "" ? "Failed" : `Failed: ${said}`;
    case "CANCELLED":
      return "Cancelled";
    default:
      return undefined;
  }
}

function changedText(changes: ChangeCounts | undefined): string {
  if (changes === undefined || changes.files === 0) {
    return "Done";
  }
  const { additions, deletions, files } = changes;
  return `Done: ${files} ${files === 1 ? "file" : "files"} changed, +${additions} −${deletions}`;
}

const LINE_LENGTH_MAX = 200;

function lineOf(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= LINE_LENGTH_MAX ? line : `${line.slice(0, LINE_LENGTH_MAX - 1).toWellFormed()}…`;
}

/** The times and questions of a run that a change of its state sets. */
export function stampsOf(
  { startedAt }: Pick<RunProgress, "startedAt">,
  to: RunState,
  now: Date,
): Partial<RunProgress> {
  if (isEnded(to)) {
    return { endedAt: now, permission: undefined, pause: undefined };
  }
  return to === "INPROGRESS" && startedAt === undefined ? { startedAt: now } : { endedAt: undefined };
}
