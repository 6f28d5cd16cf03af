import type { RunId } from "../../basics/ids.ts";

/** A conversation as callers read it: the turns of all its runs as steps, independent of the agent. */
export interface Conversation {
  readonly id: string;
  readonly steps: readonly Step[];
  /** Whether there are steps before the first of `steps`. */
  readonly hasMoreBefore: boolean;
}

/** One turn. A turn that has not started has no `startedAt`. */
export interface Step {
  readonly id: string;
  readonly runId: RunId;
  /** The subject of the step in one line. */
  readonly description?: string;
  /** The agent's final answer. */
  readonly summary?: string;
  readonly startedAt?: Date;
  readonly completedAt?: Date;
  readonly messages: readonly Message[];
}

export const MESSAGE_ROLES = ["user", "assistant", "tool", "system"] as const;

export interface Message {
  readonly role: (typeof MESSAGE_ROLES)[number];
  readonly content: readonly Block[];
  readonly at: Date;
}

export const ACTION_CATEGORIES = [
  "command",
  "files",
  "search",
  "integration",
  "documents",
  "computer",
  "review",
  "skill",
] as const;
export type ActionCategory = (typeof ACTION_CATEGORIES)[number];

export const ACTION_STATES = ["running", "completed", "failed", "denied"] as const;
export type ActionState = (typeof ACTION_STATES)[number];

export type Block =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "action";
      readonly id: string;
      readonly category: ActionCategory;
      readonly name: string;
      readonly input: unknown;
    }
  | {
      readonly type: "action_result";
      readonly actionId: string;
      readonly category: ActionCategory;
      readonly name: string;
      readonly state: ActionState;
      /** A `text`, an object of the agent's own, or a `value` of any other kind. Empty: there is none. */
      readonly output: Readonly<Record<string, unknown>>;
      /** All parts of the output, each like a `ToolContent`, if some of them are no text. */
      readonly parts?: readonly unknown[];
    }
  | { readonly type: "event"; readonly name: string; readonly data: unknown };
