import type { Spread } from "./statistics.ts";

/** One line of the table. */
export interface Row {
  readonly figure: string;
  readonly what: string;
  readonly ours: string;
  readonly floor: string;
  readonly ratio: string;
  readonly goal: string;
  readonly verdict: string;
}

/** `reach` must be met; `aim` is desirable. */
export interface Goal {
  readonly reach: number;
  readonly aim: number;
  readonly wants: "more" | "less";
}

const COLUMNS = ["figure", "what", "ours", "floor", "ratio", "goal", "verdict"] as const;

export function ratioRow(
  name: Pick<Row, "figure" | "what">,
  { ours, floor, ratio }: Readonly<Record<"ours" | "floor" | "ratio", Spread>>,
  goal: Goal,
  unit: string,
): Row {
  return {
    ...name,
    ours: `${round(ours.median)} ${unit}`,
    floor: `${round(floor.median)} ${unit}`,
    ratio: formatSpread(ratio),
    goal: formatSpread(goal),
    verdict: verdictOf(ratio.median, goal),
  };
}

/** A figure with a goal of its own. `floor` is the result of a minimal program, if there is one. */
export function valueRow(
  name: Pick<Row, "figure" | "what">,
  ours: Spread,
  goal: Goal | undefined,
  unit: string,
  floor?: Spread,
): Row {
  return {
    ...name,
    ours: `${formatSpread(ours)} ${unit}`,
    floor: floor === undefined ? "" : `${round(floor.median)} ${unit}`,
    ratio: floor === undefined ? "" : round(ours.median / floor.median),
    goal: goal === undefined ? "" : `${formatSpread(goal)} ${unit}`,
    verdict: goal === undefined ? "" : verdictOf(ours.median, goal),
  };
}

export function tableOf(rows: readonly Row[]): string {
  const lines = [Object.fromEntries(COLUMNS.map((name) => [name, name])) as unknown as Row, ...rows];
  const widths = COLUMNS.map((name) => Math.max(...lines.map((row) => row[name].length)));
  const written = lines.map((row) =>
    cellsOf(COLUMNS.map((name, index) => row[name].padEnd(widths[index] ?? 0))),
  );
  const rule = cellsOf(widths.map((width) => "-".repeat(width)));
  return [written[0], rule, ...written.slice(1)].join("\n");
}

function cellsOf(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

export function formatSpread(value: Spread | Goal): string {
  if ("reach" in value) {
    return `${value.wants === "more" ? "≥" : "≤"} ${value.reach} (${value.aim})`;
  }
  return `${round(value.median)} (${round(value.min)}–${round(value.max)})`;
}

function verdictOf(value: number, { reach, aim, wants }: Goal): string {
  const meets = (goal: number) => (wants === "more" ? value >= goal : value <= goal);
  if (meets(aim)) {
    return "aim met";
  }
  return meets(reach) ? "reached" : "MISSED";
}

/** Rounds to three significant digits, because the measurement is not more precise. */
export function round(value: number): string {
  if (!Number.isFinite(value)) {
    return "?";
  }
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
