import { checksText } from "../core/model/repositories/pull-request-status.ts";
import type { PlanStep } from "../core/model/runs/run.ts";
import type { RunState } from "../core/model/runs/states.ts";
import type { CardApproval, LandedWork, RunCard } from "../core/model/threads/notice.ts";

const MAX_PLAN_STEPS = 12;
const PLAN_MARKS: Readonly<Record<string, string>> = { completed: "✓", in_progress: "▸" };

/** The headings above the agent's words, and above Errand's own when a run ended without any. */
export const HEADINGS = {
  answer: "The agent's answer",
  outcome: "How it ended",
  question: "The agent asks",
} as const;

/** How a card names the state of its run. */
export const STATE_WORDS = {
  QUEUED: "Queued",
  PENDING: "Preparing the workspace",
  CLAIMED: "Starting the agent",
  INPROGRESS: "Working",
  BLOCKED: "Waiting for an answer",
  SUCCEEDED: "Succeeded",
  FAILED: "Failed",
  ERROR: "Error",
  CANCELLED: "Cancelled",
} as const satisfies Readonly<Record<RunState, string>>;

/** In place of the state while a person is to write what to do next. */
export const PAUSED = "Paused";

type StateOfCard = Pick<RunCard, "isPaused" | "question" | "shortfall" | "state">;

/** A run that waits for approval has no question. */
export function isUnapproved({ isPaused, question, state }: StateOfCard): boolean {
  return state === "BLOCKED" && question === undefined && isPaused !== true;
}

/** The state, or what a card says in its place. */
export function stateWords(
  card: StateOfCard,
  words: Readonly<Record<RunState, string>> = STATE_WORDS,
): string {
  const { isPaused, shortfall, state } = card;
  if (isUnapproved(card)) {
    return UNAPPROVED;
  }
  return isPaused === true ? PAUSED : (shortfall ?? words[state]);
}

/** In place of the state while the run or a follow-up is not approved. */
export const UNAPPROVED = "Waiting for approval";

/** The status of a run that waits for approval begins with these words, which the state of its card says already. */
const SAYS_UNAPPROVED = /^Waits for approval\.\s*/;

/** What a card says beside its state. */
export function messageOf(card: Pick<RunCard, "message"> & StateOfCard): string | undefined {
  const { message = "" } = card;
  const words = isUnapproved(card) ? message.replace(SAYS_UNAPPROVED, "") : message;
  return words === "" ? undefined : words;
}

/** Stands above the words that are to be approved, or in their place. */
export function approvalHeading({ isFollowUp, text }: CardApproval): string {
  if (text === undefined) {
    return "A private follow-up waits for approval.";
  }
  return isFollowUp ? "This follow-up waits for approval:" : "The request:";
}

/**
 * The turn, its time and the cost of the run: `turn 2`, `3 min 5 s`, `$0.12`. The card of a turn that lasts is written
 * about once a minute, so it has no seconds.
 */
export function figures({ costUsd, elapsedSeconds: elapsed, state, turn }: RunCard): string[] {
  const lasts = state === "INPROGRESS" && elapsed !== undefined;
  const shown = lasts ? elapsed - (elapsed % 60) || undefined : elapsed;
  return [
    ...(turn === 0 ? [] : [`turn ${turn}`]),
    ...(shown === undefined ? [] : [durationWords(shown)]),
    ...(costUsd === undefined ? [] : [`$${costUsd.toFixed(2)}`]),
  ];
}

function durationWords(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) {
    return `${seconds} s`;
  }
  if (seconds % 60 === 0 && minutes < 60) {
    return `${minutes} min`;
  }
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const NO_ENVIRONMENTS =
  "Empty workspace: your team has no environment yet. An administrator creates one, with its repositories.";

const CHANGES_WORDS = {
  draft: "Changes become a draft pull request, without one by pr=off.",
  ready: "Changes become a pull request, without one by pr=off.",
} as const;

/** What the agent works in, and why. Users choose the names, so the line must be defused. */
export function workspaceLine({ workspace }: RunCard): string {
  if (workspace === undefined) {
    return "";
  }
  const { changes, environment, environmentsLink, reason, repositories } = workspace;
  const names = [...(environment === undefined ? [] : [environment]), ...repositories];
  if (environmentsLink !== undefined) {
    return NO_ENVIRONMENTS;
  }
  if (names.length === 0) {
    return "Empty workspace: no environment and no repository was chosen.";
  }
  const where = `In ${names.join(", ")}${reason === undefined ? "" : ` (${reason})`}`;
  return changes === undefined ? where : `${where}. ${CHANGES_WORDS[changes]}`;
}

/** The steps around the one that the agent works on. `first` is the number of steps before them. */
export function shownSteps({ plan = [] }: RunCard): {
  readonly first: number;
  readonly steps: readonly PlanStep[];
  readonly after: number;
} {
  const open = plan.findIndex(({ status }) => status !== "completed");
  const last = Math.max(0, plan.length - MAX_PLAN_STEPS);
  const first = Math.min(last, Math.max(0, (open === -1 ? plan.length : open) - 2));
  const steps = plan.slice(first, first + MAX_PLAN_STEPS);
  return { first, steps, after: plan.length - first - steps.length };
}

/** The plan as lines of text. `shown` defuses the agent's words. */
export function planLines(card: RunCard, shown: (text: string) => string): string[] {
  const { after, first, steps } = shownSteps(card);
  return [
    ...(first === 0 ? [] : [`(${first} steps before)`]),
    ...steps.map(({ status, text }) => `${PLAN_MARKS[status] ?? "○"} ${shown(text)}`),
    ...(after === 0 ? [] : [`(${after} more steps)`]),
  ];
}

/** What the platform says about the pull request: its state and its checks. */
export function pullRequestWords({
  pullRequestStatus: status,
}: Pick<RunCard, "pullRequestStatus">): readonly string[] {
  return status === undefined
    ? []
    : [status.state, checksText(status.checks)].filter((words) => words !== "");
}

/** `acme/app · draft #12 · 2 files +12 −3` */
export function landedWords(work: LandedWork): string {
  const { additions, deletions, files, isDraft, isTruncated, pullRequest, repository } = work;
  const number = /\/(\d+)$/.exec(pullRequest ?? "")?.[1];
  const name = [isDraft === true ? "draft" : "pull request", number && `#${number}`]
    .filter(Boolean)
    .join(" ");
  const count = `${files}${isTruncated === true ? " or more" : ""} ${files === 1 ? "file" : "files"}`;
  return [
    repository,
    ...(pullRequest === undefined ? [] : [name]),
    `${count} +${additions} −${deletions}`,
  ].join(" · ");
}
