import { cleaned, lengthOf } from "../../basics/clean-text.ts";
import type { Clock, Stop } from "../../basics/clock.ts";
import type { AgentUpdate } from "../../model/runs/agent-update.ts";
import type { WorkspaceStep } from "../../model/workspaces/workspace.ts";
import type { Redactor } from "../../ports/redactor.ts";
import { ToolCallLog } from "./tool-call-log.ts";

/** Agents stream text in small pieces. The pieces of this period become one event. */
const BATCH_MS = 50;
const MERGED_LENGTH_MAX = 4_000;
/** When more than this waits to be stored, the caller is asked to wait. A longer text is still accepted. */
const WAITING_LENGTH_MAX = 2 ** 20;
/** The stored size of an event besides its text. */
const ROW_LENGTH = 200;

/** What is recorded while a run is prepared and worked on. */
export type RecordedUpdate = AgentUpdate | WorkspaceStep;

/** The approximate size of the update in the database, in characters. */
export function storedLength(ready: RecordedUpdate): number {
  return lengthOf(ready) + ROW_LENGTH;
}

/**
 * Stores updates in order and in batches. Its life:
 *
 * 1. An update waits in the current batch. One that continues the text of the last update is joined with it.
 * 2. After a short time the batch is redacted and stored, after all batches before it. While a text may continue, its end
 *    is held back if it could be the beginning of a secret. Otherwise a secret could be stored in two events, one half in
 *    each.
 * 3. While too much is unstored, `backpressure` returns a promise, and the agent's output waits for it.
 * 4. `flush` stores everything, also what was held back. The end of a turn and each question wait for it.
 * 5. After a failure nothing more is stored, and each flush reports it.
 */
export class EventRecorder {
  readonly #clock: Clock;
  readonly #store: (updates: readonly RecordedUpdate[]) => Promise<void>;
  readonly #redactor: Redactor;
  /** Made for the first tool call. */
  #toolCalls: ToolCallLog | undefined;
  #waiting: RecordedUpdate[] = [];
  #timer: Stop | undefined;
  #stored: Promise<void> = Promise.resolve();
  /** The first counts everything that is not stored, the second the part of it that is in no batch yet. */
  #unstoredLength = 0;
  #waitingLength = 0;
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(
    clock: Clock,
    redactor: Redactor,
    store: (updates: readonly RecordedUpdate[]) => Promise<void>,
  ) {
    this.#clock = clock;
    this.#redactor = redactor;
    this.#store = store;
  }

  add(update: RecordedUpdate): void {
    if (update.kind === "agent.tool_call") {
      this.#toolCalls ??= this.#newToolCallLog();
      this.#toolCalls.add(update);
    } else {
      this.#add(update);
    }
  }

  /**
   * Undefined while more can be added. Otherwise a promise that resolves when more can be added again, or when nothing can
   * be stored any more.
   */
  backpressure(): Promise<void> | undefined {
    if (this.#unstoredLength <= WAITING_LENGTH_MAX) {
      return undefined;
    }
    this.#drained ??= Promise.withResolvers();
    return this.#drained.promise;
  }

  /** Resolves when all added updates are stored; rejects when some could not be stored. */
  flush(): Promise<void> {
    this.#toolCalls?.flush();
    return this.#storeBut([]);
  }

  #newToolCallLog(): ToolCallLog {
    const store = (update: RecordedUpdate) => this.#add(update);
    return new ToolCallLog({ clock: this.#clock, redactor: this.#redactor, store });
  }

  #add(update: RecordedUpdate): void {
    const length = storedLength(update);
    this.#unstoredLength += length;
    this.#waitingLength += length;
    const last = this.#waiting.pop();
    this.#waiting.push(...(last === undefined ? [update] : joined(last, update, this.#redactor)));
    this.#timer ??= this.#clock.after(BATCH_MS, () => {
      // The next flush reports the failure, and every caller awaits it.
      this.#storeBut(this.#heldBack()).catch(() => undefined);
    });
  }

  /** Removes the text that must be held back from the waiting updates, and returns it. */
  #heldBack(): RecordedUpdate[] {
    const last = this.#waiting.pop();
    if (last === undefined) {
      return [];
    }
    const { ready, held } = cut(last, this.#redactor);
    this.#waiting.push(...ready);
    return held;
  }

  #storeBut(held: RecordedUpdate[]): Promise<void> {
    this.#timer?.();
    this.#timer = undefined;
    const updates = this.#waiting.map((update) => cleaned(update, (text) => this.#redactor.redact(text)));
    this.#waiting = held;
    if (updates.length > 0) {
      this.#stored = this.#stored.then(() => this.#store(updates));
    }
    this.#releaseAfter(this.#stored);
    return this.#stored;
  }

  /** The text that is held back is not counted, because it is never longer than a secret. */
  #releaseAfter(stored: Promise<void>): void {
    const length = this.#waitingLength;
    this.#waitingLength = 0;
    const release = () => {
      this.#unstoredLength -= length;
      if (this.#unstoredLength > WAITING_LENGTH_MAX) {
        return;
      }
      this.#drained?.resolve();
      this.#drained = undefined;
    };
    stored.then(release, release);
  }
}

/** A text that the next update of the same stream continues: an agent's message, or the output of a command. */
interface Flow {
  readonly stream: string;
  readonly text: string;
  with(text: string): RecordedUpdate;
}

/** Joins two updates if the second continues the first, up to a maximum length. */
function joined(last: RecordedUpdate, next: RecordedUpdate, redactor: Redactor): RecordedUpdate[] {
  const [before, after] = [flowOf(last), flowOf(next)];
  if (before === undefined || after?.stream !== before.stream) {
    return [last, next];
  }
  if (before.text.length <= MERGED_LENGTH_MAX) {
    return [after.with(before.text + after.text)];
  }
  const { ready, held } = cut(last, redactor);
  const begun = held.map((update) => flowOf(update)?.text ?? "").join("");
  return [...ready, after.with(begun + after.text)];
}

/** Splits a text that may continue into the part that can be stored and the part that must be held back. */
function cut(
  update: RecordedUpdate,
  redactor: Redactor,
): { ready: RecordedUpdate[]; held: RecordedUpdate[] } {
  const flow = flowOf(update);
  if (flow === undefined) {
    return { ready: [update], held: [] };
  }
  const { text } = flow;
  const end = text.length - Math.max(redactor.openTail(text), HALF_CHARACTER.test(text) ? 1 : 0);
  const parts = [text.slice(0, end), text.slice(end)].map((part) => (part === "" ? [] : [flow.with(part)]));
  const [ready = [], held = []] = parts;
  return { ready, held };
}

/** The first half of a surrogate pair. */
const HALF_CHARACTER = /[\ud800-\udbff]$/;

function flowOf(update: RecordedUpdate): Flow | undefined {
  switch (update.kind) {
    case "agent.message":
    case "agent.thought":
      return {
        stream: `${update.kind} ${update.messageId ?? ""}`,
        text: update.text,
        with: (text) => ({ ...update, text }),
      };
    case "workspace.step":
      if (update.output === undefined || update.output === "") {
        return undefined;
      }
      return {
        stream: `${update.kind} ${update.stepId}`,
        text: update.output,
        with: (output) => ({ ...update, output }),
      };
    default:
      return undefined;
  }
}
