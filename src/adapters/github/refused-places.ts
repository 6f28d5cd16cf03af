import { AppError } from "../../core/basics/errors.ts";
import type { Notice } from "../../core/model/threads/notice.ts";
import type { Delivery } from "../../core/ports/thread-adapter.ts";
import { isProgressCard } from "../../core/threads/outbox/pace.ts";
import { parseMessageRef } from "./addresses.ts";
import { PlaceRefused } from "./errors.ts";

/** How long cards and reactions are left out. The next message of a person there ends it earlier. */
const REFUSED_MS = 10 * 60_000;
const PLACES_MAX = 1_000;
/** What GitHub says of a place that is gone, or in which the App may post nothing. */
const REFUSALS: readonly string[] = ["not_authorized", "resource_not_found"];

/**
 * Conversations and review threads in which GitHub refused a post for a reason that does not pass by itself: locked,
 * archived, deleted, blocked. Reactions and cards that show progress are not tried there again, because each would be
 * refused like the one before. Answers, questions and the last card are: their dead notices say what to do, and can be sent
 * again.
 */
export class RefusedPlaces {
  readonly #now: () => number;
  readonly #untilMs = new Map<string, number>();

  /** `now` returns milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether to leave the delivery out. */
  refuses({ notice, thread }: Pick<Delivery, "notice" | "thread">): boolean {
    const isLeftOut = notice.kind === "seen" || notice.kind === "ended" || isProgressCard(notice);
    return isLeftOut && (this.#untilMs.get(keyOf(thread, notice)) ?? 0) > this.#now();
  }

  /** Learns from the error of a delivery. */
  async watch<T>(delivery: Delivery, deliver: () => Promise<T>): Promise<T> {
    try {
      return await deliver();
    } catch (error) {
      this.#note(delivery, error);
      throw error;
    }
  }

  #note({ notice, thread }: Pick<Delivery, "notice" | "thread">, error: unknown): void {
    const isComment = notice.kind !== "seen" && notice.kind !== "ended";
    const isPermanent = error instanceof AppError && !error.retryable && REFUSALS.includes(error.code);
    if (error instanceof PlaceRefused || (isComment && isPermanent)) {
      if (this.#untilMs.size >= PLACES_MAX) {
        this.#untilMs.clear();
      }
      this.#untilMs.set(keyOf(thread, notice), this.#now() + REFUSED_MS);
    }
  }

  /** A person wrote there, so that it may be open again. */
  forget(thread: Pick<Delivery["thread"], "installation" | "key">): void {
    for (const place of this.#untilMs.keys()) {
      if (place.startsWith(`${thread.installation} ${thread.key} `)) {
        this.#untilMs.delete(place);
      }
    }
  }
}

/** A review thread whose first comment was deleted says nothing about the conversation. */
function keyOf({ installation, key }: Delivery["thread"], notice: Notice): string {
  const ref = notice.kind === "message" ? notice.inReplyTo : undefined;
  const root = ref === undefined ? "" : (parseMessageRef(ref).root ?? "");
  return `${installation} ${key} ${root}`;
}
