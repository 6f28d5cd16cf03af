import { defined } from "../../basics/defined.ts";
import type { ToolCallUpdate, ToolContent } from "../../model/runs/agent-update.ts";
import type { ActionCategory, ActionState, Block } from "./conversation.ts";

/** What is known of a tool call. Later updates replace the members that they name. */
export interface ToolAction {
  readonly id: string;
  readonly call: ToolCallUpdate;
  /** A person or a policy refused it. */
  readonly isDenied: boolean;
  /** How the turn ended, for a call whose end the agent did not report. */
  readonly endedAs?: "completed" | "failed";
}

type Output = Pick<Extract<Block, { readonly type: "action_result" }>, "output" | "parts">;

/** By ACP's kind of tool. An `other` tool usually comes from an MCP server. */
const CATEGORIES: ReadonlyMap<string, ActionCategory> = new Map([
  ["execute", "command"],
  ["read", "files"],
  ["edit", "files"],
  ["delete", "files"],
  ["move", "files"],
  ["search", "search"],
  ["fetch", "search"],
  ["think", "documents"],
  ["switch_mode", "review"],
]);

export function actionBlocks(action: ToolAction): readonly [action: Block, result: Block] {
  const { id, call } = action;
  const category = CATEGORIES.get(call.toolKind ?? "") ?? "integration";
  const name = call.title ?? call.toolKind ?? "tool";
  const state = stateOf(action);
  return [
    { type: "action", id, category, name, input: shortened(inputOf(call)) },
    { type: "action_result", actionId: id, category, name, state, ...outputOf(call) },
  ];
}

/** A call after one more update of it. */
export function updatedCall(call: ToolCallUpdate, update: ToolCallUpdate): ToolCallUpdate {
  const { output: before, ...known } = call;
  const { output: further, ...members } = update;
  const output = (update.content === undefined ? (before ?? "") : "") + (further ?? "");
  return { ...known, ...members, ...defined({ output: output === "" ? undefined : output }) };
}

export function isOpen(action: ToolAction): boolean {
  return stateOf(action) === "running";
}

/** An agent reports a refused tool as failed. The tool did its work only if the agent reports that. */
function stateOf({ call: { status }, endedAs, isDenied }: ToolAction): ActionState {
  if (status === "completed") {
    return "completed";
  }
  if (isDenied) {
    return "denied";
  }
  return status === "failed" ? "failed" : (endedAs ?? "running");
}

function inputOf({ rawInput, locations }: ToolCallUpdate): unknown {
  if (rawInput !== undefined) {
    return rawInput;
  }
  return locations === undefined ? {} : { locations };
}

function outputOf({ content = [], output = "", rawOutput }: ToolCallUpdate): Output {
  if (content.length === 0 && output === "") {
    return { output: rawOutputOf(shortened(rawOutput)) };
  }
  const texts = content.map(textOf);
  const text = shortText(texts.filter((part) => part !== undefined).join("\n") + output);
  if (!texts.includes(undefined)) {
    return { output: { text } };
  }
  const further: readonly ToolContent[] = output === "" ? [] : [{ type: "text", text: output }];
  return { output: { text }, parts: [...content, ...further].map(shortened) };
}

function rawOutputOf(value: unknown): Output["output"] {
  if (typeof value === "string") {
    return { text: value };
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return { ...value };
  }
  return value === undefined || value === null ? {} : { value };
}

function textOf(content: ToolContent): string | undefined {
  switch (content.type) {
    case "text":
      return content.text;
    case "terminal":
      return content.output ?? "";
    case "diff":
    case "other":
      return undefined;
    default:
      return content satisfies never;
  }
}

const TEXT_LENGTH_MAX = 16_000;

/** Shortens the input or output of a tool. The raw log has all of it. */
function shortened(value: unknown): unknown {
  if (typeof value === "string") {
    return shortText(value);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(shortened);
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member)]));
}

function shortText(text: string): string {
  if (text.length <= TEXT_LENGTH_MAX) {
    return text;
  }
  const left = text.length - TEXT_LENGTH_MAX;
  return `${text.slice(0, TEXT_LENGTH_MAX).toWellFormed()}… [${left} characters more in the transcript]`;
}
