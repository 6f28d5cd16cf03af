import { z } from "zod";
import { lengthOf, TEXT_LENGTH_MAX } from "../../core/basics/clean-text.ts";
import { defined } from "../../core/basics/defined.ts";
import {
  type AgentUpdate,
  TOOL_STATUSES,
  type ToolCallUpdate,
  type ToolContent,
} from "../../core/model/runs/agent-update.ts";

const text = z.string().nullish();
const envelope = z.looseObject({ sessionUpdate: z.string() });
const chunk = z.object({ content: z.object({ type: z.literal("text"), text: z.string() }), messageId: text });
const plan = z.object({
  entries: z.array(z.object({ content: z.string(), status: z.string(), priority: text })),
});
const usage = z.object({
  used: z.number(),
  size: z.number(),
  cost: z.object({ amount: z.number(), currency: z.string() }).nullish(),
});
const info = z.object({ title: text });
const notice = z.object({ severity: z.string(), title: z.string(), description: text });
const terminalOutput = z.object({ data: z.string(), terminal_id: z.string() }).optional().catch(undefined);
const terminalMeta = z.object({
  terminal_output: terminalOutput,
  terminal_output_delta: terminalOutput,
  terminal_exit: z.object({ exit_code: z.number().nullish(), signal: text }).optional().catch(undefined),
});
const toolCall = z.object({
  toolCallId: z.string(),
  title: text,
  kind: text,
  status: z.enum(TOOL_STATUSES).nullish().catch(undefined),
  content: z.array(z.unknown()).nullish(),
  locations: z.array(z.object({ path: z.string(), line: z.number().nullish() })).nullish(),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
  _meta: terminalMeta.nullish().catch(undefined),
});
type ToolCallWire = z.infer<typeof toolCall>;

const toolContent = z.union([
  z.object({ type: z.literal("content"), content: z.object({ type: z.literal("text"), text: z.string() }) }),
  z.object({ type: z.literal("diff"), path: z.string(), oldText: text, newText: z.string() }),
  z.object({ type: z.literal("terminal"), terminalId: z.string() }),
]);

/**
 * Maps a `session/update` of ACP to an update of Errand; undefined when it contains nothing to store. An unknown
 * update, or one with an unexpected shape, becomes `agent.other`, because agents are ahead of the protocol and
 * nothing may be lost.
 */
export function mapUpdate(update: unknown): AgentUpdate | undefined {
  const parsed = envelope.safeParse(update);
  if (!parsed.success) {
    return { kind: "agent.other", name: "unknown", data: update };
  }
  const name = parsed.data.sessionUpdate;
  if (DROPPED.has(name)) {
    return undefined;
  }
  const mapped = MAPPINGS.get(name)?.(parsed.data);
  return mapped === undefined ? other(parsed.data) : (mapped ?? undefined);
}

/**
 * `available_commands_update`: Qwen's has half a megabyte and no reader. `user_message_chunk`: an echo of our own
 * prompt, which the log has.
 */
const DROPPED: ReadonlySet<string> = new Set(["available_commands_update", "user_message_chunk"]);

/** Null: understood, and nothing to store. Undefined: not of the expected shape. */
type Mapping = (update: unknown) => AgentUpdate | null | undefined;

const MAPPINGS: ReadonlyMap<string, Mapping> = new Map<string, Mapping>([
  ["agent_message_chunk", (update) => mapChunk("agent.message", update)],
  ["agent_thought_chunk", (update) => mapChunk("agent.thought", update)],
  ["tool_call", mapToolCall],
  ["tool_call_update", mapToolCall],
  ["plan", mapPlan],
  ["usage_update", mapUsage],
  ["session_info_update", mapInfo],
  ["notice", mapNotice],
]);

function mapChunk(kind: "agent.message" | "agent.thought", update: unknown): AgentUpdate | null | undefined {
  const { data } = chunk.safeParse(update);
  if (data === undefined) {
    return undefined;
  }
  // Qwen sends empty chunks that only carry counters in `_meta`.
  if (data.content.text === "") {
    return null;
  }
  return { kind, ...named("messageId", data.messageId), text: data.content.text };
}

function mapPlan(update: unknown): AgentUpdate | undefined {
  const { data } = plan.safeParse(update);
  return (
    data && {
      kind: "agent.plan",
      entries: data.entries.map(({ content, status, priority }) => ({
        content,
        status,
        ...named("priority", priority),
      })),
    }
  );
}

function mapUsage(update: unknown): AgentUpdate | undefined {
  const { data } = usage.safeParse(update);
  const costUsd = data?.cost?.currency === "USD" ? data.cost.amount : undefined;
  return data && { kind: "agent.usage", used: data.used, size: data.size, ...named("costUsd", costUsd) };
}

function mapInfo(update: unknown): AgentUpdate | null | undefined {
  const { data } = info.safeParse(update);
  // Without a title it is private state in `_meta`, such as "active" and "idle" of Codex.
  return data && (data.title ? { kind: "agent.title", title: data.title } : null);
}

function mapNotice(update: unknown): AgentUpdate | undefined {
  const { data } = notice.safeParse(update);
  return (
    data && {
      kind: "agent.notice",
      severity: data.severity,
      text: [data.title, data.description].filter(Boolean).join("\n"),
    }
  );
}

/** Also maps the call of a permission request, which has the same members. */
export function mapToolCall(update: unknown): ToolCallUpdate | undefined {
  const { data } = toolCall.safeParse(update);
  return (
    data && {
      kind: "agent.tool_call",
      toolCallId: data.toolCallId,
      ...named("title", data.title),
      ...named("toolKind", data.kind),
      ...named("status", data.status),
      ...named("content", contentOf(data)),
      ...named("output", data._meta?.terminal_output_delta?.data),
      ...named(
        "locations",
        data.locations?.map(({ path, line }) => ({ path, ...named("line", line) })),
      ),
      ...named("rawInput", data.rawInput),
      ...named("rawOutput", data.rawOutput ?? data._meta?.terminal_exit),
    }
  );
}

/** Some agents send the whole output of a terminal beside the content. Codex sends it in pieces. */
function contentOf(call: ToolCallWire): readonly ToolContent[] | undefined {
  const whole = call._meta?.terminal_output;
  if (whole !== undefined) {
    return [{ type: "terminal", terminalId: whole.terminal_id, output: whole.data }];
  }
  return call.content?.map(mapContent);
}

function mapContent(content: unknown): ToolContent {
  const { data } = toolContent.safeParse(content);
  switch (data?.type) {
    case "content":
      return { type: "text", text: data.content.text };
    case "diff":
      return { type: "diff", path: data.path, oldText: data.oldText ?? null, newText: data.newText };
    case "terminal":
      return { type: "terminal", terminalId: data.terminalId };
    case undefined:
      return { type: "other", data: content };
    default:
      return data satisfies never;
  }
}

function other({ sessionUpdate: name, ...data }: z.infer<typeof envelope>): AgentUpdate {
  return { kind: "agent.other", name, data };
}

/** `{ [name]: value }`, or nothing. An absent member means unchanged, and null from an agent means absent. */
function named<Name extends string, Value>(name: Name, value: Value | null | undefined) {
  return (value === undefined || value === null ? {} : { [name]: value }) as { [key in Name]?: Value };
}

/** Raw data that only programs read is kept up to this size. */
const MAX_RAW_CHARS = 65_536;

/** All parts of an update together: a diff of two texts of the largest size, and a little more. */
const MAX_UPDATE_CHARS = 2 * TEXT_LENGTH_MAX + 4_096;

/**
 * Removes the parts of an update that are too large: some agents repeat whole files in the raw data, and readers load
 * hundreds of events at once. Texts are not cut here, because they must be cleaned of secrets first. Otherwise half a
 * secret could remain.
 */
export function boundedUpdate(update: AgentUpdate): AgentUpdate {
  switch (update.kind) {
    case "agent.tool_call":
      return boundedCall(update);
    case "agent.plan":
      return { ...update, entries: new SizeBudget().listOf(update.entries, leftOutEntry) };
    case "agent.other":
      return { ...update, data: new SizeBudget().dataOf(update.data) };
    default:
      return update;
  }
}

/** Keeps what identifies the call. Of the rest, what people read has priority. */
function boundedCall(update: ToolCallUpdate): ToolCallUpdate {
  const { content, locations, rawInput, rawOutput, ...head } = update;
  const budget = new SizeBudget();
  return {
    ...head,
    ...defined({
      content: content ? budget.listOf(content, leftOutContent) : undefined,
      locations: locations ? budget.listOf(locations, leftOutLocation) : undefined,
      rawInput: rawInput === undefined ? undefined : budget.dataOf(rawInput),
      rawOutput: rawOutput === undefined ? undefined : budget.dataOf(rawOutput),
    }),
  };
}

type Content = NonNullable<ToolCallUpdate["content"]>[number];
type Location = NonNullable<ToolCallUpdate["locations"]>[number];
type Entry = Extract<AgentUpdate, { kind: "agent.plan" }>["entries"][number];

function leftOutContent(leftOut: string): Content {
  return { type: "other", data: { leftOut } };
}

function leftOutLocation(leftOut: string): Location {
  return { path: `… [${leftOut} left out]` };
}

function leftOutEntry(leftOut: string): Entry {
  return { content: `… [${leftOut} left out]`, status: "pending" };
}

/** Keeps the parts of an update that fit, in order. One more part says how much was left out. */
class SizeBudget {
  #left = MAX_UPDATE_CHARS;

  listOf<Part>(parts: readonly Part[], leftOutPart: (leftOut: string) => Part): readonly Part[] {
    const included: Part[] = [];
    const leftOut: Part[] = [];
    for (const part of parts) {
      (this.#takes(part) ? included : leftOut).push(part);
    }
    return leftOut.length === 0 ? parts : [...included, leftOutPart(`${lengthOf(leftOut)} characters`)];
  }

  dataOf(data: unknown): unknown {
    if (lengthOf(data) <= MAX_RAW_CHARS && this.#takes(data)) {
      return data;
    }
    return { leftOut: `${lengthOf(data)} characters` };
  }

  /** Counts a text with the length that will be stored. */
  #takes(part: unknown): boolean {
    const length = lengthOf(part, TEXT_LENGTH_MAX);
    if (length > this.#left) {
      return false;
    }
    this.#left -= length;
    return true;
  }
}
