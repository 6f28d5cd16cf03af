import type { RunEvent } from "../../model/runs/events.ts";

/**
 * What the log contains about the turns before `before`, line by line: the requests and the final answers. A
 * follow-up that was rewritten has its new text. A follow-up that no turn has taken is missing, because it may have
 * been withdrawn, or never approved. Follow-ups in `now` are left out, because they are the turn itself.
 */
export class TurnSummary {
  readonly #before: number;
  readonly #now: ReadonlySet<string>;
  /** By the id of the follow-up, or the number of the event. */
  readonly #lines = new Map<string | number, string>();
  /** The texts of follow-ups that no turn has taken so far. */
  readonly #waiting = new Map<string, string>();
  #length = 0;

  constructor(before: number, now: ReadonlySet<string>) {
    this.#before = before;
    this.#now = now;
  }

  get lines(): readonly string[] {
    return [...this.#lines.values()];
  }

  onEvent({ body, seq, turn }: RunEvent): void {
    switch (body.kind) {
      case "followup.received":
      case "followup.edited":
        this.#waiting.set(body.followUpId, body.message);
        break;
      case "turn.started":
        for (const id of body.followUpIds) {
          this.#take(id);
        }
        break;
      case "followup.steered":
        this.#take(body.followUpId);
        break;
      case "turn.ended":
        if (turn < this.#before) {
          this.#set(seq, `You answered: ${body.answer}`);
        }
        break;
      default:
        // Nothing else is part of the summary.
        break;
    }
  }

  /** Drops the first lines that nobody needs for a text of this length. */
  shorten(length: number): void {
    for (const [key, line] of this.#lines) {
      if (this.#length - line.length < length) {
        return;
      }
      this.#delete(key);
    }
  }

  #take(followUpId: string): void {
    const message = this.#waiting.get(followUpId);
    this.#waiting.delete(followUpId);
    if (message !== undefined && !this.#now.has(followUpId)) {
      this.#set(followUpId, `Follow-up: ${message}`);
    }
  }

  #set(key: string | number, line: string): void {
    this.#length += line.length - (this.#lines.get(key)?.length ?? 0);
    this.#lines.set(key, line);
  }

  #delete(key: string | number): void {
    this.#length -= this.#lines.get(key)?.length ?? 0;
    this.#lines.delete(key);
  }
}
