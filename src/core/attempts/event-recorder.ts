import type { AgentUpdate } from "../agents/agent-runner.ts";
import { cleaned, lengthOf } from "../clean-text.ts";
import type { Clock, Stop } from "../ports/clock.ts";
import type { Redactor } from "../secrets/redactor.ts";
import type { WorkspaceStep } from "../workspaces/workspace.ts";

/** Agents stream words in tiny pieces; together they are one event. */
const BATCH_MS = 50;
const MERGED_LENGTH_MAX = 4_000;
/** So much may wait to be stored before whoever tells is asked to wait. A long text is more, and is taken as well. */
const WAITING_LENGTH_MAX = 2 ** 20;
/** Of an event, besides what it says. */
const ROW_LENGTH = 200;

/** What is told while a run is prepared and worked on. */
export type RecordedUpdate = AgentUpdate | WorkspaceStep;

/** About what it takes to store it. */
export function storedLength(told: RecordedUpdate): number {
  return lengthOf(told) + ROW_LENGTH;
}

/**
 * Stores what is told, in order and in batches. Of words that may go on, what may be the beginning of a secret
 * is held back until it is clear what it is: else a secret would pass in two events, half in each.
 */
export class EventRecorder {
  readonly #clock: Clock;
  readonly #store: (updates: readonly RecordedUpdate[]) => Promise<void>;
  readonly #redactor: Redactor;
  #waiting: RecordedUpdate[] = [];
  #timer: Stop | undefined;
  #stored: Promise<void> = Promise.resolve();
  /** Of all that is not stored, and of what of it is in no batch yet. */
  #unstoredLength = 0;
  #waitingLength = 0;
  #room: PromiseWithResolvers<void> | undefined;

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
    const length = storedLength(update);
    this.#unstoredLength += length;
    this.#waitingLength += length;
    const last = this.#waiting.pop();
    this.#waiting.push(...(last === undefined ? [update] : joined(last, update, this.#redactor)));
    this.#timer ??= this.#clock.after(BATCH_MS, () => {
      // A failure is met by the next flush, which everybody awaits.
      this.#storeBut(this.#heldBack()).catch(() => undefined);
    });
  }

  /** Undefined while little waits to be stored; else resolves when that is so again, be it that nothing can be stored. */
  room(): Promise<void> | undefined {
    if (this.#unstoredLength <= WAITING_LENGTH_MAX) return undefined;
    this.#room ??= Promise.withResolvers();
    return this.#room.promise;
  }

  /** Resolves when all that was added is stored; rejects when some of it could not be. */
  flush(): Promise<void> {
    return this.#storeBut([]);
  }

  /** Takes off what waits the words that must wait on. */
  #heldBack(): RecordedUpdate[] {
    const last = this.#waiting.pop();
    if (last === undefined) return [];
    const { told, held } = cut(last, this.#redactor);
    this.#waiting.push(...told);
    return held;
  }

  #storeBut(held: RecordedUpdate[]): Promise<void> {
    this.#timer?.();
    this.#timer = undefined;
    const updates = this.#waiting.map((update) => cleaned(update, (text) => this.#redactor.redact(text)));
    this.#waiting = held;
    if (updates.length > 0) this.#stored = this.#stored.then(() => this.#store(updates));
    this.#makeRoomAfter(this.#stored);
    return this.#stored;
  }

  /** What is held back is as long as a secret at most, and does not count. */
  #makeRoomAfter(stored: Promise<void>): void {
    const length = this.#waitingLength;
    this.#waitingLength = 0;
    const makeRoom = () => {
      this.#unstoredLength -= length;
      if (this.#unstoredLength > WAITING_LENGTH_MAX) return;
      this.#room?.resolve();
      this.#room = undefined;
    };
    stored.then(makeRoom, makeRoom);
  }
}

/** Text that the next update of the same stream goes on with: an agent's words, what a command prints. */
interface Flow {
  readonly stream: string;
  readonly text: string;
  with(text: string): RecordedUpdate;
}

/** Two updates as one where the second goes on with the first, until that is long. */
function joined(last: RecordedUpdate, next: RecordedUpdate, redactor: Redactor): RecordedUpdate[] {
  const [before, after] = [flowOf(last), flowOf(next)];
  if (before === undefined || after?.stream !== before.stream) return [last, next];
  if (before.text.length <= MERGED_LENGTH_MAX) return [after.with(before.text + after.text)];
  const { told, held } = cut(last, redactor);
  const begun = held.map((update) => flowOf(update)?.text ?? "").join("");
  return [...told, after.with(begun + after.text)];
}

/** What can be told of text that may go on, and what of it must wait. */
function cut(update: RecordedUpdate, redactor: Redactor): { told: RecordedUpdate[]; held: RecordedUpdate[] } {
  const flow = flowOf(update);
  if (flow === undefined) return { told: [update], held: [] };
  const { text } = flow;
  const place = text.length - Math.max(redactor.openTail(text), HALF_CHARACTER.test(text) ? 1 : 0);
  const parts = [text.slice(0, place), text.slice(place)].map((part) =>
    part === "" ? [] : [flow.with(part)],
  );
  const [told = [], held = []] = parts;
  return { told, held };
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
      if (update.output === undefined || update.output === "") return undefined;
      return {
        stream: `${update.kind} ${update.stepId}`,
        text: update.output,
        with: (output) => ({ ...update, output }),
      };
    default:
      return undefined;
  }
}
