import { cleaned } from "../clean-text.ts";
import type { AgentUpdate } from "../ports/agent-runner.ts";
import type { Clock, Stop } from "../ports/clock.ts";

/** Agents stream words in tiny pieces; together they are one event. */
const BATCH_MS = 50;
const MERGED_LENGTH_MAX = 4_000;

/** Stores what an agent tells, in order and in batches. */
export class EventRecorder {
  readonly #clock: Clock;
  readonly #store: (updates: readonly AgentUpdate[]) => Promise<void>;
  readonly #redact: (text: string) => string;
  #waiting: AgentUpdate[] = [];
  #timer: Stop | undefined;
  #stored: Promise<void> = Promise.resolve();

  constructor(
    clock: Clock,
    redact: (text: string) => string,
    store: (updates: readonly AgentUpdate[]) => Promise<void>,
  ) {
    this.#clock = clock;
    this.#redact = redact;
    this.#store = store;
  }

  add(update: AgentUpdate): void {
    const last = this.#waiting.at(-1);
    const merged = last === undefined ? undefined : merge(last, update);
    if (merged === undefined) this.#waiting.push(update);
    else this.#waiting[this.#waiting.length - 1] = merged;
    this.#timer ??= this.#clock.after(BATCH_MS, () => {
      // A failure is met by the next flush, which everybody awaits.
      this.flush().catch(() => undefined);
    });
  }

  /** Resolves when all that was added is stored; rejects when some of it could not be. */
  flush(): Promise<void> {
    this.#timer?.();
    this.#timer = undefined;
    const updates = this.#waiting.map((update) => cleaned(update, this.#redact));
    this.#waiting = [];
    if (updates.length > 0) this.#stored = this.#stored.then(() => this.#store(updates));
    return this.#stored;
  }
}

function merge(last: AgentUpdate, next: AgentUpdate): AgentUpdate | undefined {
  const isText = last.kind === "agent.message" || last.kind === "agent.thought";
  if (!isText || next.kind !== last.kind || last.messageId !== next.messageId) return undefined;
  if (last.text.length > MERGED_LENGTH_MAX) return undefined;
  return { ...last, text: last.text + next.text };
}
