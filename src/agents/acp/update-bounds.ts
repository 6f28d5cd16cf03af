import { lengthOf, TEXT_LENGTH_MAX } from "../../core/basics/clean-text.ts";
import { defined } from "../../core/basics/defined.ts";
import type { AgentUpdate, ToolCallUpdate } from "../../core/model/runs/agent-update.ts";

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
      return { ...update, entries: new Room().listOf(update.entries, leftOutEntry) };
    case "agent.other":
      return { ...update, data: new Room().dataOf(update.data) };
    default:
      return update;
  }
}

/** Keeps what identifies the call. Of the rest, what people read has priority. */
function boundedCall(update: ToolCallUpdate): ToolCallUpdate {
  const { content, locations, rawInput, rawOutput, ...head } = update;
  const room = new Room();
  return {
    ...head,
    ...defined({
      content: content ? room.listOf(content, leftOutContent) : undefined,
      locations: locations ? room.listOf(locations, leftOutLocation) : undefined,
      rawInput: rawInput === undefined ? undefined : room.dataOf(rawInput),
      rawOutput: rawOutput === undefined ? undefined : room.dataOf(rawOutput),
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
class Room {
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
