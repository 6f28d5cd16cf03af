import type { ToolCallUpdate, ToolContent } from "../agents/agent-runner.ts";
import type { ActionCategory, ActionState, Block } from "./conversation.ts";
import { shortened } from "./shorten.ts";

/** A tool call as far as it was told: later updates replace the members they name. */
export interface ToolAction {
  readonly id: string;
  readonly call: ToolCallUpdate;
  /** Somebody said no to it. */
  readonly isDenied: boolean;
  /** How it ended, for one whose agent never said so. */
  readonly endedAs?: "completed" | "failed";
}

/** By ACP's kind of tool. What an agent calls `other` is mostly a tool that was plugged into it. */
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
    { type: "action_result", actionId: id, category, name, state, output: shortened(outputOf(call)) },
  ];
}

export function isOpen(action: ToolAction): boolean {
  return stateOf(action) === "running";
}

/** A tool that was refused ends as failed for its agent, and did its work only if it says so. */
function stateOf({ call: { status }, endedAs, isDenied }: ToolAction): ActionState {
  if (status === "completed") return "completed";
  if (isDenied) return "denied";
  return status === "failed" ? "failed" : (endedAs ?? "running");
}

function inputOf({ rawInput, locations }: ToolCallUpdate): unknown {
  if (rawInput !== undefined) return rawInput;
  return locations === undefined ? {} : { locations };
}

/** Text where that is all there is. */
function outputOf({ content = [], rawOutput }: ToolCallUpdate): unknown {
  if (content.length === 0) return rawOutput ?? "";
  const texts = content.map(textOf);
  return texts.every((text) => text !== undefined) ? texts.join("\n") : content;
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
