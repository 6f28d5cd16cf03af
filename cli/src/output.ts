import type { WriteStream } from "node:tty";
import { stripVTControlCharacters, styleText } from "node:util";
import { compile } from "@michaelhomer/jqjs";
import widthOf from "fast-string-width";
import { UsageError } from "./failure.ts";

type Style = Parameters<typeof styleText>[0];

/** How results are written. */
export interface OutputOptions {
  /** `*`, or the members to write, separated by commas. Undefined: text for people. */
  readonly json?: string | undefined;
  /** A jq expression that is applied to the JSON. */
  readonly jq?: string | undefined;
  /** Nothing but results and errors is written. */
  readonly quiet?: boolean | undefined;
}

/** A column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | undefined;
  /** The value for people. Default: the same as for programs. */
  readonly text?: (row: Row) => string;
  /** The color of the value. */
  readonly style?: (row: Row) => Style | undefined;
}

const GAP = "  ";
/** Control characters except line feed and tab, and characters that change the direction of text. */
const CONTROL = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu;

/** Text from the server without characters that would control the terminal. */
export function safeText(text: string): string {
  return stripVTControlCharacters(text).replaceAll(CONTROL, "");
}

/** The same in one line. */
export function oneLine(text: string): string {
  return safeText(text.replaceAll(/\s+/g, " ")).trim();
}

/** Writes results to standard output, and everything else to standard error. */
export class Output {
  readonly #options: OutputOptions;
  readonly #out: WriteStream;
  readonly #err: WriteStream;

  constructor(options: OutputOptions, out: WriteStream = process.stdout, err: WriteStream = process.stderr) {
    this.#options = options;
    this.#out = out;
    this.#err = err;
  }

  /** Whether a person reads the results. */
  get isTerminal(): boolean {
    return this.#out.isTTY === true;
  }

  get isJson(): boolean {
    return this.#options.json !== undefined || this.#options.jq !== undefined;
  }

  get width(): number {
    return this.#out.columns ?? 80;
  }

  style(style: Style | undefined, text: string): string {
    return style === undefined ? text : styleText(style, text, { stream: this.#out });
  }

  write(text: string): void {
    this.#out.write(text);
  }

  line(text = ""): void {
    this.write(`${text}\n`);
  }

  /** Something that a person should know, which is not the result. */
  note(text: string): void {
    if (this.#options.quiet !== true) {
      this.#err.write(`${text}\n`);
    }
  }

  /** Writes JSON: whole or the chosen members, or the results of the jq expression. */
  json(value: unknown): void {
    const { json = "*", jq } = this.#options;
    const chosen =
      json === "*"
        ? value
        : pick(
            value,
            json.split(",").map((name) => name.trim()),
          );
    if (jq === undefined) {
      this.line(jsonText(chosen, 2));
      return;
    }
    for (const result of evaluate(jq, chosen)) {
      this.line(typeof result === "string" ? safeText(result) : jsonText(result));
    }
  }

  /** Writes rows as JSON, as a table for people, or separated by tabs for programs. */
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], empty: string): void {
    if (this.isJson) {
      this.json(rows);
      return;
    }
    if (!this.isTerminal) {
      for (const row of rows) {
        this.line(columns.map(({ value }) => oneLine(String(value(row) ?? ""))).join("\t"));
      }
      return;
    }
    if (rows.length === 0) {
      this.note(empty);
      return;
    }
    this.#writeTable(rows, columns);
  }

  /** Writes the members of one object as JSON, or one per line. */
  details(value: unknown, members: Readonly<Record<string, string | number | undefined>>): void {
    if (this.isJson) {
      this.json(value);
      return;
    }
    const entries = Object.entries(members).filter(([, text]) => text !== undefined && text !== "");
    const width = this.isTerminal ? Math.max(0, ...entries.map(([name]) => name.length)) : 0;
    for (const [name, text] of entries) {
      const between = this.isTerminal ? GAP : "\t";
      this.line(`${this.style("dim", name.padEnd(width))}${between}${safeText(String(text))}`);
    }
  }

  #writeTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
    const cells = rows.map((row) =>
      columns.map(({ text, value }) => oneLine(text?.(row) ?? String(value(row) ?? ""))),
    );
    const widths = columns.map(({ title }, index) =>
      Math.max(title.length, ...cells.map((line) => widthOf(line[index] ?? ""))),
    );
    const last = widths.length - 1;
    const left = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
    widths[last] = Math.max(10, Math.min(widths[last] ?? 0, this.width - left));
    this.line(
      this.style(
        "dim",
        lineOf(
          columns.map(({ title }) => title),
          widths,
        ),
      ),
    );
    for (const [index, row] of rows.entries()) {
      const fitted = (cells[index] ?? []).map((cell, at) => fit(cell, widths[at] ?? 0, at === last));
      this.line(
        fitted
          .map((cell, at) => this.style(columns[at]?.style?.(row), cell))
          .join(GAP)
          .trimEnd(),
      );
    }
  }
}

function lineOf(cells: readonly string[], widths: readonly number[]): string {
  return cells.map((cell, index) => fit(cell, widths[index] ?? 0, index === widths.length - 1)).join(GAP);
}

/** Cuts or fills a cell. */
function fit(text: string, width: number, isLast: boolean): string {
  let cut = text;
  while (widthOf(cut) > width) {
    cut = cut.endsWith("…") ? `${Array.from(cut).slice(0, -2).join("")}…` : `${cut}…`;
  }
  return isLast ? cut : cut + " ".repeat(width - widthOf(cut));
}

/** JSON without characters that would control the terminal. */
function jsonText(value: unknown, indent?: number): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value, null, indent).replaceAll(CONTROL, escaped);
}

function pick(value: unknown, members: readonly string[]): unknown {
  if (Array.isArray(value)) {
    return value.map((entry) => pick(entry, members));
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  return Object.fromEntries(members.map((name) => [name, (value as Record<string, unknown>)[name] ?? null]));
}

function evaluate(expression: string, value: unknown): readonly unknown[] {
  try {
    return Array.from(compile(expression)(value));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`The jq expression failed: ${oneLine(reason)}`);
  }
}

/** How long ago a time is, for people: `3m ago`. */
export function ago(time: string | undefined, now = Date.now()): string {
  return time === undefined ? "" : relative((Date.parse(time) - now) / 1000);
}

const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

function relative(seconds: number): string {
  const format = new Intl.RelativeTimeFormat("en", { style: "narrow", numeric: "always" });
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  return format.format(Math.trunc(seconds / size), unit);
}

/** A duration for people: `2m 10s`. */
export function durationText(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return [hours && `${hours}h`, minutes && `${minutes}m`, (rest || seconds === 0) && `${rest}s`]
    .filter(Boolean)
    .join(" ");
}

/** Reads `90s`, `30m`, `2h` or `7d`, in milliseconds. */
export function parseDuration(text: string): number {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(s|m|h|d)$/.exec(text) ?? [];
  if (amount === undefined) {
    throw new UsageError(`"${text}" is not a duration.`, "Write it as 90s, 30m, 2h or 7d.");
  }
  return Number(amount) * { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as "s"];
}
