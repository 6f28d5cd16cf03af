import { evaluatePolicies } from "../policies/evaluate-policies.ts";
import type { RequestOrigin } from "../runs/request-origin.ts";
import type { Run } from "../runs/run.ts";
import type { InboundMessage, ThreadAdapter, WorkReport } from "../threads/thread-adapter.ts";
import type { ThreadNotices } from "./inbox-store.ts";
import type { InboxDeps, MessageContext } from "./message-context.ts";

/** How often a run tries by itself what a person did not ask for. Then it asks. */
const ATTEMPTS_MAX = 2;
const REPORTS: ReadonlySet<InboundMessage["requestKind"]> = new Set(["failing_checks", "merge_conflict"]);

/** Whether the platform reported it, and nobody wrote it. */
export function isReport({ requestKind }: Pick<InboundMessage, "requestKind">): boolean {
  return REPORTS.has(requestKind);
}

/**
 * The message that a report becomes for the run of its thread, or why there is nothing to do. The card of the run shows what
 * changed in any case.
 */
export async function messageOfReport(
  report: WorkReport,
  adapter: ThreadAdapter,
  { pullRequests, storage }: Pick<InboxDeps, "pullRequests" | "storage">,
): Promise<InboundMessage | string> {
  const thread = await storage.threads.find(report);
  const run = thread?.runId && (await storage.runs.find({ id: thread.runId }));
  if (run === undefined) {
    return "It is about no work of a run.";
  }
  await pullRequests.reread(run);
  if (run.state === "CANCELLED") {
    return "The run was stopped, so only a person continues it.";
  }
  return adapter.inspect === undefined ? "The adapter takes no reports." : adapter.inspect(report, run);
}

/**
 * Asks who asked for the run what to do, instead of another attempt. Undefined: the run may try once more, or the
 * policies forbid it anyway. Asked once, until a person has made the run go on.
 */
export async function questionInsteadOf(
  { adapter, installation, message, thread }: MessageContext,
  from: RequestOrigin,
  { policies, storage }: Pick<InboxDeps, "policies" | "storage">,
): Promise<ThreadNotices | undefined> {
  const run = thread.runId && isReport(message) && (await storage.runs.find({ id: thread.runId }));
  if (!run || (await storage.followUps.countReports(run.id)) < ATTEMPTS_MAX) {
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
