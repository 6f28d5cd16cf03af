import type { AgentUpdate } from "../ports/agent-runner.ts";

const LENGTH_MAX = 100_000;

/** The closing words of a turn: what the agent said after the last thing it did. */
export class AnswerKeeper {
  #text = "";
  #didSomething = false;

  get text(): string {
    return this.#text.trim();
  }

  clear(): void {
    this.#text = "";
    this.#didSomething = false;
  }

  hear(update: AgentUpdate): void {
    if (update.kind === "agent.tool_call") this.#didSomething = true;
    if (update.kind !== "agent.message") return;
    if (this.#didSomething) this.clear();
    if (this.#text.length < LENGTH_MAX) this.#text += update.text;
  }
}
