import { evaluatePolicies } from "../../model/policies/evaluate-policies.ts";
import type { RequestOrigin } from "../../model/policies/request-origin.ts";
import type { PullRequestStatus } from "../../model/repositories/pull-request-status.ts";
import { isReview } from "../../model/runs/review.ts";
import type { Run } from "../../model/runs/run.ts";
import type { ThreadNotices } from "../../ports/stores/inbox-store.ts";
import type { Inspection, ThreadAdapter, Translation, WorkReport } from "../../ports/thread-adapter.ts";
import type { FoundMessage, InboxDeps, MessageContext } from "./message-context.ts";

/** How often a run repairs by itself what a platform reported. After that it asks a person. */
const ATTEMPTS_MAX = 2;
const NOT_TAKEN: Inspection = { found: "The adapter takes no reports." };
const STOPPED = "The run was stopped, so only a person continues it.";

/**
 * Returns the message by which a report asks the run of its thread for work, or why it asks for nothing. The card of the
 * run shows the change in both cases. Of several open events with the same report, only the last one is read.
 */
export async function readReport(
  report: WorkReport,
  { adapter, inboxId }: Pick<MessageContext, "adapter" | "inboxId">,
  deps: Pick<InboxDeps, "pullRequests" | "storage">,
): Promise<ReadReport> {
  const { pullRequests, storage } = deps;
  if (await storage.inbox.isRepeated(inboxId)) {
    return ignored("A later event says the same.");
  }
  const thread = await storage.threads.find(report);
  const run = thread?.runId && (await storage.runs.find({ id: thread.runId }));
  if (!thread || !run) {
    return ignored("It is not about the work of a run.");
  }
  if (isExpectedPass(report, run)) {
    return ignored("A check passed, and no check is known to run or to fail.");
  }
  const { found, status } = (await adapter.inspect?.(report, run)) ?? NOT_TAKEN;
  if (status !== undefined) {
    await pullRequests.take(run, status);
    await removeBranch({ adapter, report, run, status }, deps);
  }
  const message = run.state === "CANCELLED" ? STOPPED : found;
  return typeof message === "string"
    ? ignored(message)
    : { kind: "message", message, thread, reportedRun: run };
}

/** Only the last push to a repository is known. */
async function removeBranch(
  {
    adapter,
    report,
    run,
    status,
  }: {
    readonly adapter: ThreadAdapter;
    readonly report: WorkReport;
    readonly run: Run;
    readonly status: PullRequestStatus;
  },
  { storage }: Pick<InboxDeps, "storage">,
): Promise<void> {
  const isOver = status.state === "merged" || status.state === "closed";
  if (!isOver || adapter.removeBranch === undefined) {
    return;
  }
  const changes = await storage.files.changesOf(run.id);
  const last = changes.find(({ pullRequest }) => pullRequest === status.url);
  if (last?.branch !== undefined && last.head !== undefined) {
    const { branch, head: commit, name, owner } = last;
    await adapter.removeBranch(report, run, { owner, name, branch, commit });
  }
}

type ReadReport =
  | ({ readonly kind: "message" } & FoundMessage)
  | Extract<Translation, { readonly kind: "ignored" }>;

/** Only the newest pull request of a run has a known status. */
function isExpectedPass({ passedIn }: WorkReport, { pullRequest, pullRequestStatus: status }: Run): boolean {
  const known = status?.url === pullRequest ? status?.checks : undefined;
  const isUndecided =
    status?.awaitsChecks === true ||
    known?.some(({ state }) => state === "running" || state === "failed") === true;
  return passedIn !== undefined && passedIn === pullRequest && !isUndecided;
}

function ignored(reason: string): ReadReport {
  return { kind: "ignored", reason };
}

/**
 * Asks the person who requested the run what to do, instead of another attempt. Undefined: the run may try once more, or
 * the policies forbid it anyway. The question is posted once, until a person continues the run.
 */
export async function questionInsteadOf(
  {
    adapter,
    installation,
    message,
    reportedRun: run,
    thread,
  }: MessageContext & { readonly reportedRun: Run },
  from: RequestOrigin,
  { policies, storage }: Pick<InboxDeps, "policies" | "storage">,
): Promise<ThreadNotices | undefined> {
  // Each commit is reviewed, however often.
  if (isReview(run)) {
    return undefined;
  }
  if ((await storage.followUps.countReports(run.id)) < ATTEMPTS_MAX) {
    return undefined;
  }
  const rules = await policies.of(installation.teamId);
  if (evaluatePolicies(rules, { ...from, action: "follow_up" }).effect === "deny") {
    return undefined;
  }
  const text = `I tried ${ATTEMPTS_MAX} times by myself, and it is not done. ${message.text}\n\nWhat shall I do?`;
  const notice = { kind: "message", purpose: "outcome", text, ...requesterOf(run, adapter) } as const;
  return { thread, notices: [notice], once: `asked ${run.id} ${run.turn}` };
}

function requesterOf({ provenance: { actor, integration } }: Run, { name }: ThreadAdapter) {
  return actor === undefined || integration !== name ? {} : { requester: actor };
}
