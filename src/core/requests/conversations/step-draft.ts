import { defined } from "../../basics/defined.ts";
import type { RunId } from "../../basics/ids.ts";
import type { ToolCallUpdate } from "../../model/runs/agent-update.ts";
import type { Block, Message, Step } from "./conversation.ts";
import { actionBlocks, isOpen, type ToolAction, updatedCall } from "./tool-action.ts";

const DESCRIPTION_LENGTH = 200;
const SUMMARY_LENGTH = 1_000;

interface Draft {
  readonly role: Message["role"];
  readonly at: Date;
  block: Block;
}

interface ActionDraft {
  action: ToolAction;
  readonly shown: Draft;
  readonly result: Draft;
}

/** Text that arrives in pieces. The pieces of one message follow each other and have its id. */
interface Words {
  readonly kind: "message" | "thought";
  readonly messageId: string | undefined;
  readonly draft: Draft;
  readonly text: string;
}

/** Builds the step of one turn. */
export class StepDraft {
  readonly #id: string;
  readonly #runId: RunId;
  readonly #drafts: Draft[] = [];
  readonly #actions = new Map<string, ActionDraft>();
  #words: Words | undefined;
  #plan: Draft | undefined;
  #startedAt: Date | undefined;
  #completedAt: Date | undefined;
  #summary = "";

  constructor(runId: RunId, turn: number) {
    this.#runId = runId;
    this.#id = `${runId}:${turn}`;
  }

  /** Also called again for a turn whose attempt was lost. */
  start(at: Date): void {
    this.#startedAt ??= at;
    this.#completedAt = undefined;
  }

  /** Only the first end counts, because the end of a run may follow the end of its turn. */
  complete(at: Date, how: "completed" | "failed", summary = ""): void {
    this.closeActions(how);
    if (this.#startedAt === undefined || this.#completedAt !== undefined) {
      return;
    }
    this.#completedAt = at;
    this.#summary = summary;
  }

  addMessage(role: Message["role"], block: Block, at: Date): void {
    this.#words = undefined;
    this.#add(role, block, at);
  }

  addText(kind: Words["kind"], messageId: string | undefined, piece: string, at: Date): void {
    const last = this.#words;
    const goesOn = last?.kind === kind && last.messageId === messageId;
    const text = goesOn ? last.text + piece : piece;
    const draft = goesOn ? last.draft : this.#add("assistant", wordsBlock(kind, text), at);
    draft.block = wordsBlock(kind, text);
    this.#words = { kind, messageId, draft, text };
  }

  /** Each plan replaces the previous one. */
  plan(entries: unknown, at: Date): void {
    const block: Block = { type: "event", name: "plan", data: { entries } };
    this.#words = undefined;
    if (this.#plan === undefined) {
      this.#plan = this.#add("assistant", block, at);
    } else {
      this.#plan.block = block;
    }
  }

  act(id: string, update: ToolCallUpdate, at: Date): void {
    this.#words = undefined;
    const draft = this.#actions.get(update.toolCallId);
    if (draft !== undefined) {
      show(draft, { ...draft.action, call: updatedCall(draft.action.call, update) });
      return;
    }
    const action: ToolAction = { id, call: update, isDenied: false };
    const [block, result] = actionBlocks(action);
    const shown = this.#add("assistant", block, at);
    this.#actions.set(update.toolCallId, { action, shown, result: this.#add("tool", result, at) });
  }

  deny(toolCallId: string): void {
    const draft = this.#actions.get(toolCallId);
    if (draft !== undefined) {
      show(draft, { ...draft.action, isDenied: true });
    }
  }

  /** Ends all running actions, whether or not the agent reported their end. */
  closeActions(endedAs: "completed" | "failed"): void {
    for (const draft of this.#actions.values()) {
      if (isOpen(draft.action)) {
        show(draft, { ...draft.action, endedAs });
      }
    }
  }

  step(): Step {
    const description = lineOf(this.#drafts.find(({ role }) => role === "user")?.block);
    return defined({
      id: this.#id,
      runId: this.#runId,
      description,
      summary: this.#summary === "" ? undefined : cut(this.#summary, SUMMARY_LENGTH),
      startedAt: this.#startedAt,
      completedAt: this.#completedAt,
      messages: this.#drafts.map(({ role, block, at }) => ({ role, content: [block], at })),
    });
  }

  #add(role: Message["role"], block: Block, at: Date): Draft {
    const draft: Draft = { role, block, at };
    this.#drafts.push(draft);
    return draft;
  }
}

function wordsBlock(kind: Words["kind"], text: string): Block {
  return kind === "message" ? { type: "text", text } : { type: "event", name: "thought", data: { text } };
}

function show(draft: ActionDraft, action: ToolAction): void {
  draft.action = action;
  [draft.shown.block, draft.result.block] = actionBlocks(action);
}

function lineOf(block: Block | undefined): string | undefined {
  const line = block?.type === "text" ? block.text.trim().split("\n", 1)[0] : undefined;
  return line === undefined || line === "" ? undefined : cut(line, DESCRIPTION_LENGTH);
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}
