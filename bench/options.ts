import { parseArgs } from "node:util";

export interface BenchOptions {
  /** `P1`, `P4` …; empty: all. */
  readonly figures: readonly string[];
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Load before the first window. */
  readonly initialLoadSeconds: number;
  /** The number of runs in the large table for lists. The small table has a hundredth of it. */
  readonly rows: number;
  readonly soakSeconds: number;
}

const USAGE = `Usage: npm run bench -- [figures] [options]
  P1 P4 …          only these figures
  --rounds N       interleaved rounds (4)
  --seconds N      length of a measured window (5)
  --rows N         runs in the large table (1000000)
  --soak 30m       how long memory is watched (1m)
  --quick          2 rounds of 1 s, 100000 rows: to see that it works, not to compare`;

const USUAL = { rounds: 4, seconds: 5, initialLoadSeconds: 10, rows: 1_000_000 } as const;
const QUICK = { rounds: 2, seconds: 1, initialLoadSeconds: 2, rows: 100_000 } as const;
const WARM_UP_SECONDS = 1;
const SECONDS_OF = { s: 1, m: 60, h: 3_600 } as const;

export function readOptions(words: readonly string[]): BenchOptions {
  const { positionals, values } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      rounds: { type: "string" },
      seconds: { type: "string" },
      rows: { type: "string" },
      soak: { type: "string", default: "1m" },
      quick: { type: "boolean", default: false },
    },
  });
  const usual = values.quick ? QUICK : USUAL;
  return {
    figures: positionals.map((name) => name.toUpperCase()),
    rounds: countOf(values.rounds, usual.rounds),
    seconds: countOf(values.seconds, usual.seconds),
    rows: countOf(values.rows, usual.rows),
    warmUpSeconds: WARM_UP_SECONDS,
    initialLoadSeconds: usual.initialLoadSeconds,
    soakSeconds: durationOf(values.soak),
  };
}

function countOf(text: string | undefined, usual: number): number {
  const count = text === undefined ? usual : Number(text);
  if (!(count > 0)) {
    throw new Error(USAGE);
  }
  return count;
}

function durationOf(text: string): number {
  const [, count, unit] = /^(\d+)([smh])$/.exec(text) ?? [];
  if (count === undefined) {
    throw new Error(USAGE);
  }
  return Number(count) * SECONDS_OF[unit as keyof typeof SECONDS_OF];
}
