import { defined } from "../../basics/defined.ts";
import { isEnded } from "../../model/runs/states.ts";
import { messageKeyOf, type Notice } from "../../model/threads/notice.ts";
import type { PaceLimit, WriteKind } from "../../model/threads/pace-limit.ts";
import type { KeyedLimit, PacedDelivery } from "../../ports/stores/outbox-store.ts";
import type { AdapterTraits, Delivery } from "../../ports/thread-adapter.ts";

/** What a place has used of its limit. All times are milliseconds of the storage's clock. */
export interface PaceState {
  /** The writes up to now, and the firm reservations, have used the rate up to this time. */
  readonly usedUntil: number;
  /** The tentative reservations take until this time. */
  readonly tentativeUntil: number;
  /** The platform asked to wait until then. */
  readonly closedUntil: number;
}

/**
 * A delivery that must wait has a time of its own, so that a thousand of them do not all ask again and again. At a firm
 * time it is sent. At a tentative time it is sent if nothing more important has used the rate, and otherwise asks again.
 */
export const RESERVATIONS = ["firm", "tentative"] as const;

export type Reservation = (typeof RESERVATIONS)[number];

/** A message that waits longer lets the edits and reactions of its thread pass, and the card says until when it waits. */
export const LONG_WAIT_MS = 60_000;

export const UNUSED: PaceState = { usedUntil: 0, tentativeUntil: 0, closedUntil: 0 };

export function writeKindOf({ notice, shownAt }: Pick<Delivery, "notice" | "shownAt">): WriteKind {
  if (notice.kind === "seen" || notice.kind === "ended" || notice.kind === "check") {
    return "reaction";
  }
  return shownAt === undefined ? "post" : "edit";
}

/**
 * Progress gives way to questions, approvals, answers and ends. A new message is never progress, and neither is the reaction
 * that shows that a request was seen. The first card of a run is, where a limit says so.
 */
export function isProgress(
  delivery: Pick<Delivery, "notice" | "shownAt">,
  limits: readonly PaceLimit[],
): boolean {
  const { notice } = delivery;
  switch (writeKindOf(delivery)) {
    case "reaction":
      return notice.kind === "ended" || isProgressCheck(delivery);
    case "edit":
      return isProgressCard(notice);
    default:
      return notice.kind === "card" && limits.some(({ cardsYield }) => cardsYield === true);
  }
}

/** A check that is shown must end. Without it nobody misses one. */
function isProgressCheck({ notice, shownAt }: Pick<Delivery, "notice" | "shownAt">): boolean {
  return notice.kind === "check" && (shownAt === undefined || !isEnded(notice.check.state));
}

/** Whether the notice is a card that a later one replaces. */
export function isProgressCard(notice: Notice): boolean {
  if (notice.kind !== "card") {
    return false;
  }
  const { approval, state } = notice.card;
  return state !== "BLOCKED" && approval === undefined && !isEnded(state);
}

/** The limits that count this delivery. */
export function limitsOf(
  { adapter, id, notice, shownAt, thread }: PacedDelivery,
  { containerOf, pace = [], writesOf }: Pick<AdapterTraits, "containerOf" | "pace" | "writesOf">,
): readonly KeyedLimit[] {
  const kind = writeKindOf(defined({ notice, shownAt }));
  const places = {
    message: `${thread.id} ${messageKeyOf(notice, id)}`,
    container: containerOf?.(thread.key) ?? thread.key,
    installation: "",
  };
  return pace
    .filter(({ counts, spares = [] }) => counts.includes(kind) || spares.includes(kind))
    .map((limit) => {
      const key = [adapter, thread.installation, limit.per, limit.name, places[limit.per]].join(" ");
      const isSpared = !limit.counts.includes(kind);
      return { ...limit, key, writes: isSpared ? 0 : (writesOf?.(notice, thread.installation) ?? 1) };
    });
}

export interface PaceQuestion {
  readonly now: number;
  readonly isProgress: boolean;
  /** Set if the delivery has waited for its time, which has come. */
  readonly reservation: Reservation | undefined;
}

export interface PaceAnswer {
  /** Undefined: the delivery may be sent now. */
  readonly wait?: { readonly until: number; readonly reservation: Reservation };
  /** It is not sent at all. */
  readonly isDropped?: true;
  readonly states: readonly PaceState[];
}

interface StatedLimit {
  readonly limit: KeyedLimit;
  readonly state: PaceState;
}

/** Decides about one delivery, whose limits have these states. */
export function decidePace(limits: readonly StatedLimit[], question: PaceQuestion): PaceAnswer {
  const { now, reservation } = question;
  const isClosed = limits.some(({ state }) => state.closedUntil > now);
  if (reservation === "firm" && !isClosed) {
    return { states: limits.map(({ state }) => state) };
  }
  const isScarce = limits.some(
    ({ limit, state }) => limit.writes === 0 && freeAt(limit, state, limit.reserve ?? 0) > now,
  );
  if (question.isProgress && isScarce) {
    return { isDropped: true, states: limits.map(({ state }) => state) };
  }
  const counted = limits.map((each) => asThePlatformCounts(each, now));
  return question.isProgress ? progressPace(counted, question) : firmPace(counted, now);
}

const STRICT_MS = 60 * 60_000;

function asThePlatformCounts({ limit, state }: StatedLimit, now: number): StatedLimit {
  const isStrict = state.closedUntil > 0 && now < state.closedUntil + STRICT_MS;
  return limit.writes === 0 && isStrict ? { limit: { ...limit, writes: 1 }, state } : { limit, state };
}

/** Each delivery uses the rate at once, although it may be sent later. So later ones stand behind it. */
function firmPace(limits: readonly StatedLimit[], now: number): PaceAnswer {
  const counting = limits.filter(({ limit }) => limit.writes > 0);
  const until = Math.max(now, ...counting.map(({ limit, state }) => freeAt(limit, state, 0)));
  const states = limits.map(({ limit, state }) => used(limit, state, now));
  return until <= now ? { states } : { wait: { until, reservation: "firm" }, states };
}

/** Progress uses the rate only when it is sent. The others that wait do not see its reservation. */
function progressPace(limits: readonly StatedLimit[], { now, reservation }: PaceQuestion): PaceAnswer {
  const times = limits.map(({ limit, state }) => {
    const free = freeAt(limit, state, limit.reserve ?? 0);
    return reservation === undefined ? Math.max(free, state.tentativeUntil) : free;
  });
  if (times.every((time) => time <= now)) {
    return { states: limits.map(({ limit, state }) => used(limit, state, now)) };
  }
  // A limit that is free has no queue, although the delivery waits for another one.
  const queued = limits.map(({ limit, state }, index) => {
    const time = times[index] ?? now;
    if (time <= now) {
      return { time, state };
    }
    const queuedAt = Math.max(time, state.tentativeUntil);
    return { time: queuedAt, state: { ...state, tentativeUntil: queuedAt + limit.everyMs } };
  });
  const until = Math.max(...queued.map(({ time }) => time));
  return { wait: { until, reservation: "tentative" }, states: queued.map(({ state }) => state) };
}

function freeAt(
  { burst, everyMs }: PaceLimit,
  { closedUntil, usedUntil }: PaceState,
  reserve: number,
): number {
  return Math.max(closedUntil, usedUntil - (burst - 1 - reserve) * everyMs);
}

function used({ everyMs, writes }: KeyedLimit, state: PaceState, now: number): PaceState {
  if (writes === 0) {
    return state;
  }
  return { ...state, usedUntil: Math.max(state.usedUntil, now) + writes * everyMs };
}

/** The platform asked to wait. After that the rate begins without a burst. */
export function closedPace({ burst, everyMs }: PaceLimit, state: PaceState, until: number): PaceState {
  const usedUntil = Math.max(state.usedUntil, until + (burst - 1) * everyMs);
  return { ...state, usedUntil, closedUntil: Math.max(state.closedUntil, until) };
}
