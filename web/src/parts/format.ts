/** How numbers and times are written. Dates and digits follow the locale of the reader. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A duration in seconds: `40 s`, `14 min 32 s`, `2 h 5 min`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < MINUTE) {
    return `${whole} s`;
  }
  if (whole < HOUR) {
    const rest = whole % MINUTE;
    return `${Math.floor(whole / MINUTE)} min${rest === 0 ? "" : ` ${rest} s`}`;
  }
  const minutes = Math.floor((whole % HOUR) / MINUTE);
  return `${Math.floor(whole / HOUR)} h${minutes === 0 ? "" : ` ${minutes} min`}`;
}

/** A duration in its largest unit: `6 min`. */
export function roughDuration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < MINUTE) {
    return `${whole} s`;
  }
  if (whole < HOUR) {
    return `${Math.floor(whole / MINUTE)} min`;
  }
  return whole < DAY ? `${Math.floor(whole / HOUR)} h` : `${Math.floor(whole / DAY)} d`;
}

/** `31 min ago`, and the date after a week. */
export function ago(time: string, nowMs: number): string {
  const seconds = (nowMs - Date.parse(time)) / 1_000;
  if (seconds >= 7 * DAY) {
    return new Date(time).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
  }
  return seconds < MINUTE ? "just now" : `${roughDuration(seconds)} ago`;
}

/** The exact time with its zone, for `title`. */
export function exactTime(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: "full", timeStyle: "long" });
}

/** The time of day: `10:42`. */
export function clockTime(time: string): string {
  return new Date(time).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
}

/** US dollars with two places. Without a known cost there is no text. */
export function money(usd: number | undefined): string {
  if (usd === undefined) {
    return "";
  }
  return usd > 0 && usd < 0.01 ? "< $0.01" : `$${usd.toFixed(2)}`;
}

/** `412 k`, `2.6 M`. */
export function rough(count: number): string {
  if (count < 1_000) {
    return String(count);
  }
  return count < 1_000_000 ? `${Math.round(count / 1_000)} k` : `${(count / 1_000_000).toFixed(1)} M`;
}

export function bytes(size: number): string {
  if (size < 1_000) {
    return `${size} B`;
  }
  return size < 1_000_000 ? `${Math.round(size / 1_000)} kB` : `${(size / 1_000_000).toFixed(1)} MB`;
}

export function count(value: number): string {
  return value.toLocaleString();
}

/** `1 run`, `2 runs`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}
