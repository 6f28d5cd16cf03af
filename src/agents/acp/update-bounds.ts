import type { AgentUpdate, ToolCallUpdate } from "../../core/agents/agent-runner.ts";
import { lengthOf, TEXT_LENGTH_MAX } from "../../core/clean-text.ts";

/** What nobody but a program reads is shown for as long as it is of a size to be looked at. */
const MAX_RAW_CHARS = 65_536;

/** Of the parts of an update in all: a diff of two of the longest texts, and little more. */
const MAX_UPDATE_CHARS = 2 * TEXT_LENGTH_MAX + 4_096;

/**
 * The update without the parts that are too large to be kept: some agents put whole files into the raw ones, several
 * times over, and readers of a log take hundreds of events at once. Texts are not cut here: that is done where they are
 * cleaned of secrets, or half of one would be left.
 */
export function boundedUpdate(update: AgentUpdate): AgentUpdate {
  switch (update.kind) {
    case "agent.tool_call":
      return boundedCall(update);
    case "agent.plan":
      return { ...update, entries: new Room().listOf(update.entries, leftOutEntry) };
    case "agent.other":
      return { ...update, data: new Room().dataOf(update.data) };
    default:
      return update;
  }
}

/** What identifies the call is kept; then what people look at goes first. */
function boundedCall(update: ToolCallUpdate): ToolCallUpdate {
  const { content, locations, rawInput, rawOutput, ...head } = update;
  const room = new Room();
  return {
    ...head,
    ...(content && { content: room.listOf(content, leftOutContent) }),
    ...(locations && { locations: room.listOf(locations, leftOutLocation) }),
    ...(rawInput === undefined ? {} : { rawInput: room.dataOf(rawInput) }),
    ...(rawOutput === undefined ? {} : { rawOutput: room.dataOf(rawOutput) }),
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

/** The parts of an update that fit, in their order. For those that do not, there is one that says how much they were. */
class Room {
  #left = MAX_UPDATE_CHARS;

  listOf<Part>(parts: readonly Part[], leftOutPart: (leftOut: string) => Part): readonly Part[] {
    const kept: Part[] = [];
    const leftOut: Part[] = [];
    for (const part of parts) (this.#takes(part) ? kept : leftOut).push(part);
    return leftOut.length === 0 ? parts : [...kept, leftOutPart(`${lengthOf(leftOut)} characters`)];
  }

  dataOf(data: unknown): unknown {
    if (lengthOf(data) <= MAX_RAW_CHARS && this.#takes(data)) return data;
    return { leftOut: `${lengthOf(data)} characters` };
  }

  /** A text takes what will be kept of it. */
  #takes(part: unknown): boolean {
    const length = lengthOf(part, TEXT_LENGTH_MAX);
    if (length > this.#left) return false;
    this.#left -= length;
    return true;
  }
}
