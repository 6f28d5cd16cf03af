import { useSyncExternalStore } from "react";
import { ago, duration, exactTime, roughDuration } from "./format.ts";

const listeners = new Set<() => void>();
let nowMs = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function onSecond(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    nowMs = Date.now();
    for (const each of listeners) {
      each();
    }
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The current time in milliseconds, rounded down to `everyMs`. All users share one timer. */
function useNow(everyMs = 1_000): number {
  return useSyncExternalStore(onSecond, () => Math.floor(nowMs / everyMs) * everyMs);
}

/** How long ago something was. */
export function Ago({ time }: { readonly time: string }) {
  const now = useNow(10_000);
  return (
    <time dateTime={time} title={exactTime(time)}>
      {ago(time, now)}
    </time>
  );
}

/** The time from `since` until now, or until `until`. `exact`: to the second. */
export function Elapsed({
  since,
  until,
  exact = false,
}: {
  readonly since: string;
  readonly until?: string | undefined;
  readonly exact?: boolean;
}) {
  const now = useNow(exact ? 1_000 : 5_000);
  const seconds =
    ((until === undefined ? Math.max(now, Date.parse(since)) : Date.parse(until)) - Date.parse(since)) /
    1_000;
  return (
    <time className="num" dateTime={`PT${Math.floor(seconds)}S`} title={`Since ${exactTime(since)}`}>
      {exact ? duration(seconds) : roughDuration(seconds)}
    </time>
  );
}
