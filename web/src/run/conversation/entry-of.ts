import type { RunEvent, RunStateEvent, UnknownRunEvent } from "@errand/client";
import { type Entry, type LineEntry, toolKey } from "./entries.ts";

type Event<Kind extends RunEvent["kind"]> = Extract<RunEvent, { readonly kind: Kind }>;
type Read<Kind extends RunEvent["kind"]> = (event: Event<Kind>) => Entry | readonly Entry[] | undefined;

/** Returns the entries that an event begins or continues. A kind that is not known becomes an entry of its own. */
export function entryOf(event: RunEvent | UnknownRunEvent): readonly Entry[] {
  const read = Object.hasOwn(READ, event.kind)
    ? (READ[event.kind as RunEvent["kind"]] as (event: RunEvent | UnknownRunEvent) => ReturnType<Read<never>>)
    : other;
  const entries = read(event) ?? [];
  return Array.isArray(entries) ? (entries as readonly Entry[]) : [entries as Entry];
}

const READ: { readonly [Kind in RunEvent["kind"]]: Read<Kind> } = {
  "run.created": (event) => ({ ...placeOf(event, "prompt"), kind: "prompt", files: event.files ?? [] }),
  "run.state": stateEntry,
  "run.updated": () => undefined,
  "attempt.started": (event) =>
    line(event, "attempt", event.worker === "" ? "A worker took the run" : `${event.worker} took the run`),
  "attempt.ended": (event) =>
    event.reason === "" ? undefined : line(event, "attemptEnd", `The worker stopped: ${event.reason}`),
  "workspace.step": (event) => ({
    ...placeOf(event, `step-${event.seq}`),
    kind: "step",
    stepId: event.step_id,
    title: event.title,
    status: event.status,
    output: event.output ?? "",
  }),
  "workspace.ready": (event) => [
    line(event, "ready", event.restored ? "Workspace restored" : "Workspace ready"),
    ...(event.missing === undefined
      ? []
      : [problem(event, "warning", `The run has lost files: ${event.missing}`)]),
  ],
  "workspace.stored": (event) => [
    line(event, "stored", "Workspace stored"),
    ...(event.left_out ?? []).map(({ path, reason }, index) => ({
      ...problem(event, "warning", `${path} could not be stored: ${reason}`),
      key: `problem-${event.seq}-${index}`,
    })),
  ],
  "workspace.not_stored": (event) =>
    problem(event, "warning", withReason("The workspace could not be stored", event.reason)),
  "changes.not_kept": (event) =>
    problem(event, "error", withReason("The changes could not be published", event.reason)),
  "notice.dead": (event) =>
    problem(
      event,
      "warning",
      withReason(`A message to the ${event.adapter} thread could not be delivered`, event.reason),
    ),
  "agent.started": (event) =>
    line(
      event,
      "agent",
      `${[event.agent, event.version].filter(Boolean).join(" ")} started${tookText(event)}`,
    ),
  "turn.started": (event) => [
    {
      ...line(
        event,
        "turn",
        `Turn ${event.turn}${event.again ? ", repeated because its worker was lost" : ""}`,
      ),
      followUpIds: event.followup_ids,
    },
    ...event.followup_ids.map((id): Entry => followUp(event, id, "given")),
  ],
  "turn.ended": (event) =>
    event.stop_reason === "end_turn" ? undefined : line(event, "other", stopText(event.stop_reason)),
  // Another rating by the same person replaces it.
  "turn.rated": (event) => ({
    ...line(
      event,
      "rating",
      `Answer of turn ${event.rated_turn} rated ${event.rating === "good" ? "👍" : "👎"}`,
    ),
    key: `rating-${event.rated_turn}-${event.rated_by}`,
  }),
  "followup.received": (event) => ({
    ...followUp(event, event.followup_id, "held"),
    text: event.message,
    authorId: event.author_id,
    isGuest: event.author_type === "guest",
    delivery: event.delivery,
    files: event.files ?? [],
    receivedAt: event.at,
  }),
  "followup.edited": (event) => ({
    ...followUp(event, event.followup_id, "held"),
    text: event.message,
    isEdited: true,
  }),
  "followup.withdrawn": (event) => followUp(event, event.followup_id, "withdrawn"),
  "followup.steered": (event) => followUp(event, event.followup_id, "steered"),
  "followup.queued": (event) => ({ ...followUp(event, event.followup_id, "held"), delivery: "queue" }),
  "permission.requested": (event) => {
    const { permission_id: id, tool_call_id: callId, title, options, ...facts } = event.request;
    return {
      ...placeOf(event, `question-${id}`),
      ...{ kind: "question", permissionId: id, title, options, facts },
      ...(callId === undefined ? {} : { callId }),
    };
  },
  "permission.answered": (event) => ({
    ...placeOf(event, `question-${event.permission_id}`),
    ...{ kind: "question", permissionId: event.permission_id, answer: event.option_id },
  }),
  "approval.requested": (event) => ({
    ...approval(event),
    ...(event.inputs_hash === undefined ? {} : { inputsHash: event.inputs_hash }),
    reason: event.reason,
  }),
  "approval.decided": (event) => {
    const { approved: isApproved, comment, decided_by: by, followup_id: followUpId } = event;
    const decision = { isApproved, by, ...(comment === undefined ? {} : { comment }) };
    const refused = !isApproved && followUpId !== undefined ? [followUp(event, followUpId, "refused")] : [];
    return [{ ...approval(event), decision }, ...refused];
  },
  "thread.bound": (event) => line(event, "thread", `Bound to a thread in ${capitalized(event.adapter)}`),
  "artifact.added": (event) => ({
    ...placeOf(event, `artifact-${event.artifact_uid}`),
    ...{ kind: "artifact", artifactId: event.artifact_uid, version: event.version, artifact: event.artifact },
  }),
  "artifact.left_out": (event) =>
    event.files.map(({ path, reason }, index) => ({
      ...problem(event, "warning", `artifacts/${path} was not stored: ${reason}`),
      key: `problem-${event.seq}-${index}`,
    })),
  "agent.message": (event) => ({
    ...placeOf(event, `message-${event.seq}`),
    ...{ kind: "message", messageId: event.message_id, text: event.text },
  }),
  "agent.thought": (event) => ({
    ...placeOf(event, `thought-${event.seq}`),
    ...{ kind: "thought", messageId: event.message_id, text: event.text },
  }),
  "agent.tool_call": (event) => {
    const { tool_call_id: callId, tool_kind: toolKind, raw_input: input, raw_output: result } = event;
    const { title, status, content, output, locations } = event;
    return {
      ...placeOf(event, toolKey(event.turn, callId)),
      ...{ kind: "tool", callId },
      ...known({ title, toolKind, status, content, output, locations, input, result }),
    };
  },
  "agent.plan": (event) => ({ ...placeOf(event, `plan-${event.turn}`), kind: "plan", tasks: event.entries }),
  "agent.usage": () => undefined,
  "agent.title": () => undefined,
  "agent.notice": (event) =>
    event.severity === "error" ? problem(event, "error", event.text) : line(event, "notice", event.text),
  "agent.permission_granted": (event) => ({
    ...placeOf(event, `granted-${event.seq}`),
    ...{ kind: "granted", title: event.title, optionId: event.option_id },
  }),
  "agent.other": (event) => ({
    ...placeOf(event, `other-${event.seq}`),
    ...{ kind: "other", name: event.name, data: event.data },
  }),
};

function other(event: RunEvent | UnknownRunEvent): Entry {
  const { seq: _seq, turn: _turn, at: _at, kind: name, ...data } = event;
  return { ...placeOf(event, `other-${event.seq}`), kind: "other", name, data };
}

/** Only the ends and what interrupts the work are worth an entry. */
function stateEntry(event: RunStateEvent): Entry | undefined {
  const text = event.reason ?? event.status?.message;
  switch (event.to) {
    case "FAILED":
    case "ERROR":
      return {
        ...problem(event, "error", text ?? ""),
        state: event.to,
        ...(event.status === undefined ? {} : { status: event.status }),
      };
    case "SUCCEEDED":
    case "CANCELLED":
      return { ...line(event, "ended", text ?? ""), state: event.to };
    case "QUEUED":
      return text === undefined ? undefined : line(event, "queued", text);
    default:
      return undefined;
  }
}

function placeOf({ turn, seq, at }: RunEvent | UnknownRunEvent, key: string) {
  return { key, turn, seq, lastSeq: seq, at, lastAt: at };
}

function line(event: RunEvent, name: LineEntry["name"], text: string): LineEntry {
  return { ...placeOf(event, `line-${event.seq}`), kind: "line", name, text };
}

function problem(event: RunEvent, severity: "warning" | "error", text: string): Entry & { kind: "problem" } {
  return { ...placeOf(event, `problem-${event.seq}`), kind: "problem", severity, text };
}

function followUp(
  event: RunEvent,
  followUpId: string,
  state: "held" | "given" | "steered" | "withdrawn" | "refused",
) {
  return { ...placeOf(event, `followup-${followUpId}`), kind: "followup" as const, followUpId, state };
}

function approval(event: Event<"approval.requested" | "approval.decided">) {
  const { approval_id: approvalId, followup_id: followUpId } = event;
  const key = `approval-${approvalId ?? followUpId ?? "run"}`;
  return { ...placeOf(event, key), kind: "approval" as const, ...known({ approvalId, followUpId }) };
}

type Known<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> };

/** An absent member means unchanged, so it must not replace one that is known. */
function known<Members extends object>(members: Members): Known<Members> {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) {
      result[name] = value;
    }
  }
  return result as Known<Members>;
}

/** Guests of a share link do not get the reason. */
function withReason(what: string, reason: string): string {
  return reason === "" ? `${what}.` : `${what}: ${reason}`;
}

const STOPS: Readonly<Record<string, string>> = {
  cancelled: "The turn was stopped",
  max_tokens: "The turn ended because the model reached its limit of tokens",
  max_turn_requests: "The turn ended because the agent reached its limit of requests",
  refusal: "The agent refused to continue",
};

function stopText(reason: string): string {
  return STOPS[reason] ?? `The turn ended: ${reason}`;
}

function capitalized(word: string): string {
  return word === "github" ? "GitHub" : word.slice(0, 1).toUpperCase() + word.slice(1);
}

function tookText({ phases }: Event<"agent.started">): string {
  if (phases === undefined) {
    return "";
  }
  const ms = phases.process_ms + phases.initialize_ms + phases.session_ms;
  return ` in ${(ms / 1_000).toFixed(1)} s`;
}
