import { defined } from "../../basics/defined.ts";
import { AppError, endStateOf } from "../../basics/errors.ts";
import { listText } from "../../basics/list-text.ts";
import type { TurnEnd } from "../../model/runs/agent-update.ts";
import { isSameCopy } from "../../model/runs/executed-config.ts";
import type { FollowUp } from "../../model/runs/follow-up.ts";
import type { Run, RunMode, StatusMessage } from "../../model/runs/run.ts";
import { withRefused } from "../../model/runs/run-outcome.ts";
import { isWorkedOn, needsLease } from "../../model/runs/states.ts";
import type { RefusedWork } from "../../model/runs/stored-outcome.ts";
import type { ThreadReport } from "../../model/runs/thread-reports.ts";
import type { LandedWork, UnpushedWork } from "../../model/threads/notice.ts";
import type { PreparedWorkspace, UnreadRepository } from "../../model/workspaces/workspace.ts";
import type { LeaseGrant } from "../../ports/stores/run-change.ts";
import { storeLateAnswer } from "../../runs/decide-follow-up.ts";
import { pauseNow } from "../../runs/decide-interrupt.ts";
import type { RunEdit } from "../../runs/run-edit.ts";
import { type AbortReason, type RunFailure, runFailureOf } from "../lease/attempt-abort.ts";
import { modeOf } from "../turns/turn-text.ts";
import { lostFiles } from "../workspaces/checkpoint-gaps.ts";
import { leavesSessionBroken } from "./broken-session.ts";

/**
 * After this many claims in a row without a finished turn, the run is given up. Otherwise it could take down one
 * worker after another.
 */
const LOST_ATTEMPTS_MAX = 3;

const NEW_SESSION =
  "Send a follow-up. The agent then starts a new session and is given the conversation so far.";

/**
 * Claims a free, queued run; false when there is nothing to claim. An expired lease is left alone: its owner may be
 * alive, and an unreachable database may have kept it from renewing. Only the maintenance job takes a lease away,
 * after it has checked twice.
 */
export function decideClaim(edit: RunEdit, grant: LeaseGrant): boolean {
  if (edit.run.state !== "QUEUED" || edit.run.lease !== undefined) {
    return false;
  }
  const attempt = edit.run.attempt + 1;
  edit.grantLease(grant);
  edit.set({ attempt, lostAttempts: edit.run.lostAttempts + 1 });
  edit.moveTo("PENDING");
  edit.record({ kind: "attempt.started", attempt, worker: grant.worker });
  return true;
}

/** A run whose worker was lost is queued again, or ends if that has happened too often. */
export function decideRecovery(edit: RunEdit): void {
  if (!edit.aggregate.leaseOver) {
    return;
  }
  edit.record({ kind: "attempt.ended", attempt: edit.run.attempt, reason: "The worker was lost." });
  edit.dropLease();
  edit.set({ debugUntil: undefined });
  edit.attach({ ifLeaseIsOver: true });
  storeLateAnswer(edit);
  if (!needsLease(edit.run.state)) {
    return;
  }
  if (edit.run.pause !== undefined) {
    endInterruptedTurn(edit);
    return;
  }
  if (edit.run.lostAttempts < LOST_ATTEMPTS_MAX) {
    edit.moveTo("QUEUED", { reason: "Its worker was lost." });
    return;
  }
  const message = `The run was given up: its worker was lost ${edit.run.lostAttempts} times in a row.`;
  decideFailure(edit, { message, errorCode: "internal_error", retryable: true });
}

/**
 * Records that the workspace is ready, and tells the user what it lacks before the agent starts. Returns the same for the
 * agent; undefined when the run was taken from the attempt meanwhile. From now on the newest files are on `disk`.
 */
export function decideReady(
  edit: RunEdit,
  workspace: Pick<PreparedWorkspace, "gone" | "isOwnCopy" | "lacks" | "unread">,
  disk?: string,
): { readonly missing?: string } | undefined {
  if (!isWorkedOn(edit.run.state)) {
    return undefined;
  }
  const mayLack = edit.run.turn > 0 || workspace.gone !== undefined;
  const missing = mayLack ? lostFiles(edit.run, workspace) : undefined;
  const { lacks = [], unread } = workspace;
  const warnings = [...(unread === undefined ? [] : [unreadText(unread)]), ...lacks];
  edit.moveTo("CLAIMED");
  edit.set({ disk });
  for (const text of warnings) {
    edit.record({ kind: "agent.notice", severity: "warning", text });
  }
  const lost = missing === undefined ? {} : { missing };
  edit.record({ kind: "workspace.ready", restored: edit.run.checkpoint !== undefined, ...lost });
  if (missing !== undefined) {
    edit.notices.postNote(missing);
    // The user is told once. Later checkpoints contain everything that still exists.
    edit.set({ checkpointGaps: undefined });
  }
  const lostForAgent = missing === undefined ? [] : [`Files of your earlier work are missing. ${missing}`];
  const forAgent = [...lostForAgent, ...warnings];
  return forAgent.length === 0 ? {} : { missing: forAgent.join("\n") };
}

function unreadText({ reason, repository }: UnreadRepository): string {
  return `The run works without the repository ${repository}, which nobody named and which could not be read. ${reason}`;
}

/** Ends a run that only prepares its workspace. */
export function decidePrepared(edit: RunEdit): void {
  if (isWorkedOn(edit.run.state)) {
    edit.set({ lostAttempts: 0 });
    edit.moveTo("SUCCEEDED", { status: { message: "The workspace was prepared." } });
  }
}

export interface TurnStart {
  readonly followUps: readonly FollowUp[];
  /** A lost attempt had already started this turn. */
  readonly again: boolean;
  readonly mode: RunMode;
  /** As `RunNotices.placesOf`. */
  readonly places: ReadonlyMap<string, string>;
}

/**
 * Starts the next turn, or the open one again, with all follow-ups that may be given. Undefined when the run was taken
 * away, when someone other than its creator has written since an agent with the creator's personal secrets was started,
 * or when another configuration was approved than the attempt `started` with. The next agent begins without the secrets,
 * and with that configuration.
 */
export function decideTurnStart(
  edit: RunEdit,
  hasPersonalSecrets: boolean,
  started: Pick<Run, "executes">,
): TurnStart | undefined {
  if (!isWorkedOn(edit.run.state) || !mayWorkOn(edit.run, hasPersonalSecrets, started)) {
    return undefined;
  }
  const again = edit.run.turnOpen;
  const followUps = edit.takeWaiting();
  // An answer that a lost attempt never received must not answer the next question.
  edit.set({ permission: undefined, pause: undefined });
  if (edit.run.state !== "INPROGRESS") {
    edit.moveTo("INPROGRESS");
  }
  const mode = modeOf(edit.run, followUps);
  const shown = mode === "normal" ? {} : { mode };
  edit.record({ kind: "turn.started", followUpIds: followUps.map(({ id }) => id), again, ...shown });
  return { followUps, again, mode, places: edit.notices.placesOf(followUps) };
}

/** Whether an agent that was started with these secrets and this configuration may work on the run as it is now. */
export function mayWorkOn(
  { executes, othersWrote }: Pick<Run, "executes" | "othersWrote">,
  hasPersonalSecrets: boolean,
  started: Pick<Run, "executes">,
): boolean {
  // What was approved since then is executed by an attempt that begins with it.
  return !(othersWrote === true && hasPersonalSecrets) && isSameCopy(executes, started.executes);
}

export interface TurnResult {
  /** The message of a successful end. */
  readonly success?: StatusMessage;
  /** The work so far, if the turn changed it and it is not pushed. */
  readonly unpushed?: UnpushedWork;
  /** What the run changed, if the turn changed something. */
  readonly landed?: readonly LandedWork[];
  /** Sentences about work that is not handed over. */
  readonly remarks?: readonly string[];
  /** What a successful turn does not hand over. */
  readonly refused?: readonly RefusedWork[];
  /** What the answer has for the output schema of the run. */
  readonly data?: unknown;
  /** The answer does not match that schema. */
  readonly unmatched?: RunFailure | undefined;
  /** A limit of the run that the turn exceeded. */
  readonly failure?: RunFailure;
  /** What the agent says about single threads of its messages. */
  readonly reports?: readonly ThreadReport[];
  /** The files that the turn changed and handed over. */
  readonly changedFiles?: readonly string[];
}

/**
 * Ends a turn. Follow-ups that may be given start the next turn; without any the run ends. True: there is another
 * turn. Only `end_turn` is a success. A turn that was interrupted for a follow-up continues with that follow-up. After
 * a failure follow-ups wait, because another turn would exceed the same limit.
 */
export function decideTurnEnd(edit: RunEdit, end: TurnEnd, answer: string, result: TurnResult = {}): boolean {
  const { stopReason, usage } = end;
  const {
    data,
    failure: exceeded,
    landed = [],
    refused,
    remarks = [],
    success,
    unmatched,
    unpushed,
  } = result;
  const isInterrupted = edit.run.pause !== undefined;
  const reason = isInterrupted ? "interrupted" : stopReason;
  edit.record(defined({ kind: "turn.ended", stopReason: reason, answer, data, usage }));
  if (!isWorkedOn(edit.run.state)) {
    return false;
  }
  edit.set({ turnOpen: false, lostAttempts: 0, permission: undefined });
  edit.setAnswer(answer);
  edit.remark([...stoppedTasksText(end.stoppedTasks), ...remarks]);
  edit.notices.addReports(result.reports ?? [], result.changedFiles ?? []);
  if (exceeded !== undefined) {
    decideFailure(edit, exceeded);
    return false;
  }
  if (edit.deliverable.length > 0) {
    // The agent continued without the answer to its question, so the run no longer waits for a person.
    if (edit.run.state === "BLOCKED") {
      edit.moveTo("INPROGRESS");
    }
    edit.set({ pause: undefined });
    edit.notices.postReactions();
    edit.notices.postAnswer();
    return true;
  }
  if (isInterrupted) {
    edit.notices.postAnswer();
    return pauseNow(edit);
  }
  const failure = failureOf(stopReason) ?? unmatched;
  if (leavesSessionBroken(stopReason)) {
    edit.set({ agentSession: undefined });
  }
  if (failure === undefined) {
    edit.notices.addUnpushed(unpushed);
    edit.notices.addLanded(landed);
    edit.set({ outcome: withRefused(edit.run.outcome, refused) });
    edit.moveTo("SUCCEEDED", success === undefined ? {} : { status: success });
  } else {
    decideFailure(edit, failure);
  }
  return false;
}

/**
 * Ends the run with a failure. Follow-ups that arrived during the turn restart it. Outside of a turn they wait for the next
 * follow-up, because the same failure would repeat for ever, and the status says so.
 */
export function decideFailure(edit: RunEdit, status: RunFailure): void {
  if (!isWorkedOn(edit.run.state)) {
    return;
  }
  const restarts = edit.run.turnOpen && edit.deliverable.length > 0;
  const held = edit.waiting.filter(({ isAnswer }) => isAnswer !== true).length;
  edit.set({ turnOpen: false, lostAttempts: 0, answer: undefined });
  const message = restarts || held === 0 ? status.message : `${status.message} ${heldText(held)}`;
  edit.moveTo(endStateOf(status.errorCode), { status: { ...status, message } });
  if (restarts) {
    edit.moveTo("QUEUED", { reason: "A follow-up was waiting." });
  }
}

function heldText(count: number): string {
  return count === 1
    ? "One follow-up was not given to the agent and is held."
    : `${count} follow-ups were not given to the agent and are held.`;
}

interface HandBack {
  readonly reason: string;
  /** The run did not cause it, so that it does not count as a lost attempt. */
  readonly isBlameless: boolean;
}

/** Neither a worker that stops, nor an unavailable storage, nor a late answer says anything about the run. */
export function handBackOf(reason: AbortReason | undefined): HandBack {
  switch (reason?.kind) {
    case "stopping":
      return { reason: "Its worker stops.", isBlameless: true };
    case "unstored":
      return { reason: "The database was unavailable.", isBlameless: true };
    case "paused":
      return { reason: "The agent was stopped while the run was paused.", isBlameless: true };
    case "unanswered":
      return { reason: "The agent was stopped while it waited for an answer.", isBlameless: true };
    default:
      return { reason: "The attempt is over.", isBlameless: false };
  }
}

/** The attempt gives up the run. If it is in the middle of its turn, the next attempt continues the open turn. */
export function decideHandBack(edit: RunEdit, why: HandBack): void {
  const { attempt, lostAttempts, state } = edit.run;
  edit.record({ kind: "attempt.ended", attempt, reason: why.reason });
  edit.dropLease();
  edit.set({ debugUntil: undefined });
  storeLateAnswer(edit);
  // An attempt that gives up a run in the middle counts as one more lost attempt.
  if (why.isBlameless || !needsLease(state)) {
    edit.set({ lostAttempts: Math.max(0, lostAttempts - 1) });
  }
  if (edit.run.pause !== undefined && needsLease(state)) {
    endInterruptedTurn(edit);
  } else if (needsLease(state)) {
    edit.moveTo("QUEUED", { reason: why.reason });
  }
}

/** The agent of an interrupted turn is gone. The next one resumes its session, if there is one. */
function endInterruptedTurn(edit: RunEdit): void {
  if (edit.run.turnOpen) {
    edit.record({ kind: "turn.ended", stopReason: "interrupted", answer: "" });
  }
  edit.set({ turnOpen: false, lostAttempts: 0 });
  pauseNow(edit);
}

function failureOf(stopReason: TurnEnd["stopReason"]): RunFailure | undefined {
  switch (stopReason) {
    case "end_turn":
      return undefined;
    case "max_tokens":
      return {
        message: "The agent stopped: the model's token limit was reached.",
        errorCode: "invalid_request",
        remedy: NEW_SESSION,
      };
    case "max_turn_requests":
      return {
        message: "The agent stopped: its limit of requests a turn was reached.",
        errorCode: "invalid_request",
      };
    case "refusal":
      return {
        message: "The agent refused to continue.",
        errorCode: "invalid_request",
        remedy: NEW_SESSION,
      };
    case "cancelled":
      return runFailureOf(
        new AppError("internal_error", "The agent ended its turn as cancelled.", { reason: "agent_error" }),
      );
    default:
      return stopReason satisfies never;
  }
}

const NAMED_MAX = 5;
const SHOWN_CHARS = 80;

/** Says what was stopped at the end of a turn. The command lines are clean: secrets have been removed from them. */
export function stoppedTasksText(commandLines: readonly string[] = []): readonly string[] {
  if (commandLines.length === 0) {
    return [];
  }
  const named = listText(commandLines.slice(0, NAMED_MAX).map(shown), commandLines.length);
  const [subject, object] =
    commandLines.length === 1
      ? ["A background task was still running and was stopped", "it"]
      : ["Background tasks were still running and were stopped", "them"];
  return [`${subject}: ${named}. Ask the agent to wait for ${object} before it ends its turn.`];
}

function shown(commandLine: string): string {
  const line = commandLine.replaceAll("`", "'").replaceAll(/\s+/g, " ").trim();
  const short = line.length <= SHOWN_CHARS ? line : `${line.slice(0, SHOWN_CHARS - 1).toWellFormed()}…`;
  return `\`${short}\``;
}
