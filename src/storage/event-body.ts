import type { RunEventBody, RunEventKind } from "../core/model/runs/events.ts";
import { invalidJson, type JsonLocation } from "./rows.ts";

type RequiredMembers<T> = { [Member in keyof T]-?: object extends Pick<T, Member> ? never : Member }[keyof T];

/** What a JSON value is. `any`: the value is not checked. */
type JsonKind = "string" | "number" | "boolean" | "array" | "object" | "any";
type JsonKindOf<Value> = [Value] extends [string]
  ? "string"
  : [Value] extends [number]
    ? "number"
    : [Value] extends [boolean]
      ? "boolean"
      : [Value] extends [readonly unknown[]]
        ? "array"
        : [Value] extends [object]
          ? "object"
          : "any";

type BodyOf<Kind extends RunEventKind> = Extract<RunEventBody, { readonly kind: Kind }>;
type MembersOf<Body> = {
  readonly [Member in Exclude<RequiredMembers<Body>, "kind"> & keyof Body]: JsonKindOf<Body[Member]>;
};

/** The required members of each kind of event. The type makes sure that none is missing here. */
const REQUIRED: { readonly [Kind in RunEventKind]: MembersOf<BodyOf<Kind>> } = {
  "run.created": { state: "string" },
  "run.state": { from: "string", to: "string" },
  "run.updated": { members: "array" },
  "attempt.started": { attempt: "number", worker: "string" },
  "attempt.ended": { attempt: "number", reason: "string" },
  "workspace.ready": { restored: "boolean" },
  "workspace.stored": { checkpoint: "string" },
  "workspace.not_stored": { reason: "string" },
  "workspace.step": { stepId: "string", title: "string", status: "string" },
  "changes.not_kept": { reason: "string" },
  "agent.started": { agent: "string", session: "string", resumed: "boolean" },
  "turn.started": { followUpIds: "array", again: "boolean" },
  "turn.ended": { stopReason: "string", answer: "string" },
  "turn.rated": { ratedBy: "string", ratedTurn: "number", rating: "string" },
  "followup.received": { followUpId: "string", message: "string", authorId: "string", delivery: "string" },
  "followup.edited": { followUpId: "string", message: "string", editedBy: "string" },
  "followup.withdrawn": { followUpId: "string", withdrawnBy: "string" },
  "followup.steered": { followUpId: "string" },
  "followup.queued": { followUpId: "string" },
  "permission.requested": { request: "object" },
  "permission.answered": { permissionId: "string", optionId: "any" },
  "approval.requested": { policyId: "string", reason: "string" },
  "approval.decided": { approved: "boolean", decidedBy: "string" },
  "notice.dead": { adapter: "string", threadId: "string", noticeId: "string", reason: "string" },
  "thread.bound": { adapter: "string", threadId: "string" },
  "artifact.added": { artifactId: "string", version: "number", artifact: "object" },
  "artifact.left_out": { files: "array" },
  "agent.message": { text: "string" },
  "agent.thought": { text: "string" },
  "agent.tool_call": { toolCallId: "string" },
  "agent.plan": { entries: "array" },
  "agent.usage": { used: "number", size: "number" },
  "agent.title": { title: "string" },
  "agent.notice": { severity: "string", text: "string" },
  "agent.permission_granted": { title: "string", optionId: "string" },
  "agent.other": { name: "string", data: "any" },
};

const REQUIRED_BY_KIND: ReadonlyMap<string, readonly (readonly [member: string, kind: JsonKind])[]> = new Map(
  Object.entries(REQUIRED).map(([kind, members]) => [kind, Object.entries(members)]),
);

/**
 * The body of a stored event. A page has thousands of events, so this checks by hand what consumers rely on: the kind and
 * the required members of that kind. A kind of a later version is passed on, because readers ignore kinds that they do
 * not know.
 */
export function parseEventBody(stored: unknown, runId: string, seq: number): RunEventBody {
  const location = { table: "run_events", id: `${runId}, ${seq}`, column: "body" } as const;
  requireBody(stored, location);
  return stored;
}

function requireBody(stored: unknown, location: JsonLocation): asserts stored is RunEventBody {
  const invalidAt = findInvalid(stored);
  if (invalidAt !== undefined) {
    throw invalidJson(location, invalidAt);
  }
}

/** The path of what does not fit. */
function findInvalid(stored: unknown): readonly string[] | undefined {
  if (!isRecord(stored)) {
    return [];
  }
  if (typeof stored.kind !== "string") {
    return ["kind"];
  }
  for (const [name, kind] of REQUIRED_BY_KIND.get(stored.kind) ?? []) {
    if (!isOfKind(stored[name], kind)) {
      return [name];
    }
  }
  return undefined;
}

function isOfKind(value: unknown, kind: JsonKind): boolean {
  if (kind === "any") {
    return true;
  }
  if (kind === "array") {
    return Array.isArray(value);
  }
  if (kind === "object") {
    return isRecord(value);
  }
  return typeof value === kind;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
