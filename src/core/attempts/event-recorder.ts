import type { AgentUpdate } from "../ports/agent-runner.ts";
import type { Clock, Stop } from "../ports/clock.ts";

/** Agents stream words in tiny pieces; together they are one event. */
const BATCH_MS = 50;
const MERGED_LENGTH_MAX = 4_000;
/** A longer text inside an update is cut: the log is no file store. */
const TEXT_LENGTH_MAX = 64_000;
/** What is nested deeper is cut: neither this process nor the database could walk through it. */
const DEPTH_MAX = 100;

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

/** Secrets redacted, and nothing the database refuses: no NUL, no half of a surrogate pair, no endless text. */
export function cleaned<T>(value: T, redact: (text: string) => string): T {
  return clean(value, redact) as T;
}

function clean(value: unknown, redact: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") return cleanText(value, redact);
  if (typeof value !== "object" || value === null) return value;
  if (depth === DEPTH_MAX) return "… [cut]";
  if (Array.isArray(value)) return value.map((member) => clean(member, redact, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [cleanText(key, redact), clean(member, redact, depth + 1)]),
  );
}

function cleanText(text: string, redact: (text: string) => string): string {
  const whole = redact(text.replaceAll("\0", "\u2400").toWellFormed());
  if (whole.length <= TEXT_LENGTH_MAX) return whole;
  return `${whole.slice(0, TEXT_LENGTH_MAX).toWellFormed()}… [${whole.length - TEXT_LENGTH_MAX} characters cut]`;
}
