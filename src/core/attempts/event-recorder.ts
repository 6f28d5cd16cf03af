import { cleaned } from "../clean-text.ts";
import type { AgentUpdate } from "../ports/agent-runner.ts";
import type { Clock, Stop } from "../ports/clock.ts";
import type { Redactor } from "../ports/redactor.ts";

/** Agents stream words in tiny pieces; together they are one event. */
const BATCH_MS = 50;
const MERGED_LENGTH_MAX = 4_000;

/**
 * Stores what an agent tells, in order and in batches. Of words that may go on, what may be the beginning of a secret
 * is held back until it is clear what it is: else a secret would pass in two events, half in each.
 */
export class EventRecorder {
  readonly #clock: Clock;
  readonly #store: (updates: readonly AgentUpdate[]) => Promise<void>;
  readonly #redactor: Redactor;
  #waiting: AgentUpdate[] = [];
  #timer: Stop | undefined;
  #stored: Promise<void> = Promise.resolve();

  constructor(clock: Clock, redactor: Redactor, store: (updates: readonly AgentUpdate[]) => Promise<void>) {
    this.#clock = clock;
    this.#redactor = redactor;
    this.#store = store;
  }

  add(update: AgentUpdate): void {
    const last = this.#waiting.pop();
    this.#waiting.push(...(last === undefined ? [update] : joined(last, update, this.#redactor)));
    this.#timer ??= this.#clock.after(BATCH_MS, () => {
      // A failure is met by the next flush, which everybody awaits.
      this.#storeBut(this.#heldBack()).catch(() => undefined);
    });
  }

  /** Resolves when all that was added is stored; rejects when some of it could not be. */
  flush(): Promise<void> {
    return this.#storeBut([]);
  }

  /** Takes off what waits the words that must wait on. */
  #heldBack(): AgentUpdate[] {
    const last = this.#waiting.pop();
    if (last === undefined) return [];
    const { told, held } = cut(last, this.#redactor);
    this.#waiting.push(...told);
    return held;
  }

  #storeBut(held: AgentUpdate[]): Promise<void> {
    this.#timer?.();
    this.#timer = undefined;
    const updates = this.#waiting.map((update) => cleaned(update, (text) => this.#redactor.redact(text)));
    this.#waiting = held;
    if (updates.length > 0) this.#stored = this.#stored.then(() => this.#store(updates));
    return this.#stored;
  }
}

type Words = Extract<AgentUpdate, { readonly kind: "agent.message" | "agent.thought" }>;

/** Two updates as one where both are words of one message, until those are long. */
function joined(last: AgentUpdate, next: AgentUpdate, redactor: Redactor): AgentUpdate[] {
  if (!areWords(last) || !areWords(next) || !isSameMessage(last, next)) return [last, next];
  if (last.text.length <= MERGED_LENGTH_MAX) return [{ ...last, text: last.text + next.text }];
  const { told, held } = cut(last, redactor);
  const begun = held.map(({ text }) => text).join("");
  return [...told, { ...next, text: begun + next.text }];
}

/** What can be told of words that may go on, and what of them must wait. */
function cut(update: AgentUpdate, redactor: Redactor): { told: AgentUpdate[]; held: Words[] } {
  if (!areWords(update)) return { told: [update], held: [] };
  const { text } = update;
  const place = text.length - Math.max(redactor.openTail(text), HALF_CHARACTER.test(text) ? 1 : 0);
  const parts = [text.slice(0, place), text.slice(place)].map((part) =>
    part === "" ? [] : [{ ...update, text: part }],
  );
  const [told = [], held = []] = parts;
  return { told, held };
}

/** The first half of a surrogate pair. */
const HALF_CHARACTER = /[\ud800-\udbff]$/;

function areWords(update: AgentUpdate): update is Words {
  return update.kind === "agent.message" || update.kind === "agent.thought";
}

function isSameMessage(left: Words, right: Words): boolean {
  return left.kind === right.kind && left.messageId === right.messageId;
}
