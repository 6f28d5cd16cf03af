import type { AgentUpdate } from "../../model/runs/agent-update.ts";

const LENGTH_MAX = 100_000;

/** Collects the final answer of a turn: what the agent wrote after its last action. */
export class AnswerCollector {
  #text = "";
  #messageId: string | undefined;
  #didSomething = false;

  get text(): string {
    return this.#text.trim();
  }

  clear(): void {
    this.#text = "";
    this.#didSomething = false;
  }

  onUpdate(update: AgentUpdate): void {
    if (update.kind === "agent.tool_call") {
      this.#didSomething = true;
    }
    if (update.kind !== "agent.message") {
      return;
    }
    if (this.#didSomething) {
      this.clear();
    }
    if (this.#text.length < LENGTH_MAX) {
      this.#text += this.#gapBefore(update.messageId) + update.text;
    }
    this.#messageId = update.messageId;
  }

  /**
   * Messages become paragraphs. Chunks of one message, or of an agent that does not number its messages, are joined.
   */
  #gapBefore(messageId: string | undefined): string {
    const isAnother =
      messageId !== undefined && this.#messageId !== undefined && messageId !== this.#messageId;
    return isAnother && this.#text !== "" ? "\n\n" : "";
  }
}
