import type { Bench } from "./bench.ts";
import type { LoadOrder, LoadResult } from "./load/load-order.ts";
import { round } from "./report.ts";
import { busySeconds, secondsOf } from "./setup/processor-time.ts";
import { ratioOf, type Spread, spreadOf } from "./statistics.ts";

/** A server under load. */
export interface Side {
  readonly pid: number;
  readonly order: Omit<LoadOrder, "seconds" | "warmUpSeconds">;
}

export interface Window extends LoadResult {
  readonly perSecond: number;
  readonly serverMicros: number;
  readonly databaseMicros: number;
}

/** The number of cores that other processes may use during a window. Above it the window is measured again. */
const FOREIGN_CORES = 0.3;
const TRIES = 4;
const MICROS = 1e6;

/**
 * Measures all sides in turn, in each round in the reverse order of the round before, so that changes in the machine
 * affect all of them equally. `before` puts the server into the same state before each window.
 */
export async function measureInTurns<Name extends string>(
  bench: Bench,
  sides: Readonly<Record<Name, Side>>,
  before: () => Promise<void> = async () => undefined,
): Promise<Record<Name, readonly Window[]>> {
  const names = Object.keys(sides) as Name[];
  const windows = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Window[]>;
  for (const name of names) {
    await loadBefore(bench, sides[name]);
  }
  for (let index = 0; index < bench.options.rounds; index += 1) {
    for (const name of index % 2 === 0 ? names : names.toReversed()) {
      const window = await measureQuietly(bench, sides[name], before);
      windows[name].push(window);
      bench.log(`  ${name}: ${describe(window)}`);
    }
  }
  return windows;
}

/** Puts load on the server first, because code is slow until it is compiled. */
async function loadBefore({ load, options }: Bench, { order }: Side): Promise<void> {
  await load.perform({ ...order, seconds: options.initialLoadSeconds, warmUpSeconds: 0 });
}

export function spreadBy(windows: readonly Window[], value: (window: Window) => number): Spread {
  return spreadOf(windows.map(value));
}

/** Compares windows of the same round. */
export function ratiosOf(
  ours: readonly Window[],
  floor: readonly Window[],
  value: (window: Window) => number = ({ perSecond }) => perSecond,
): Readonly<Record<"ours" | "floor" | "ratio", Spread>> {
  return {
    ours: spreadBy(ours, value),
    floor: spreadBy(floor, value),
    ratio: ratioOf(ours.map(value), floor.map(value)),
  };
}

async function measureQuietly(bench: Bench, side: Side, before: () => Promise<void>): Promise<Window> {
  for (let left = TRIES; ; left -= 1) {
    await before();
    const { window, foreignCores } = await measure(bench, side);
    if (foreignCores <= FOREIGN_CORES) {
      return window;
    }
    bench.log(`  others used ${round(foreignCores)} cores: ${describe(window)}`);
    if (left > 1) {
      continue;
    }
    bench.remark(`A window is kept in which others used ${round(foreignCores)} cores.`);
    return window;
  }
}

async function measure(
  { load, options, postgres }: Bench,
  { order, pid }: Side,
): Promise<{ window: Window; foreignCores: number }> {
  const { seconds, warmUpSeconds } = options;
  const pids = { server: pid, database: postgres.child.pid, own: process.pid };
  const read = async () => ({ ...(await secondsOf(pids)), busy: await busySeconds() });
  let reading = read();
  const result = await load.perform({ ...order, seconds, warmUpSeconds }, () => {
    reading = read();
  });
  const [from, to] = [await reading, await read()];
  const window: Window = {
    ...result,
    perSecond: result.answers / result.seconds,
    serverMicros: ((to.server - from.server) * MICROS) / result.answers,
    databaseMicros: ((to.database - from.database) * MICROS) / result.answers,
  };
  return { window, foreignCores: (to.busy - from.busy - (to.own - from.own)) / result.seconds };
}

function describe({ perSecond, p50Ms, p99Ms, serverMicros, databaseMicros }: Window): string {
  const processorTime = `${round(serverMicros)} + ${round(databaseMicros)} us`;
  return `${round(perSecond)}/s, p50 ${round(p50Ms)} ms, p99 ${round(p99Ms)} ms, ${processorTime}`;
}
