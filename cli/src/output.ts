import type { WriteStream } from "node:tty";
import { stripVTControlCharacters, styleText } from "node:util";
import widthOf from "fast-string-width";
import { UsageError } from "./failure.ts";
import { compileJq, type JqFilter } from "./jq.ts";

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
  /** Never cut, because people copy it: an id or a name. */
  readonly isWhole?: boolean;
}

const GAP = "  ";
/** To this width, columns are cut so that a row fits the terminal. */
const CUT_MIN = 6;
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
  #filter: JqFilter | undefined;

  constructor(options: OutputOptions, out: WriteStream = process.stdout, err: WriteStream = process.stderr) {
    this.#options = options;
    this.#out = out;
    this.#err = err;
  }

  /** Compiles the jq expression, if there is one. */
  async prepare(): Promise<void> {
    const { jq } = this.#options;
    this.#filter = jq === undefined ? undefined : await compileJq(jq);
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
    const { json = "*" } = this.#options;
    const chosen =
      json === "*"
        ? value
        : pick(
            value,
            json.split(",").map((name) => name.trim()),
          );
    if (this.#filter === undefined) {
      this.line(printable(JSON.stringify(chosen, null, 2)));
      return;
    }
    // Texts are written without quotes, as `jq -r` does.
    this.#filter.apply(chosen, (json) =>
      this.line(json.startsWith('"') ? safeText(JSON.parse(json)) : printable(json)),
    );
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

  #writeTable<Row>(rows: readonly Row[], all: readonly Column<Row>[]): void {
    const measured = all.map((column) => {
      const cells = rows.map((row) => oneLine(column.text?.(row) ?? String(column.value(row) ?? "")));
      return { column, cells, width: Math.max(column.title.length, ...cells.map((cell) => widthOf(cell))) };
    });
    const shown = columnsWithin(this.width, measured);
    const widths = widthsWithin(this.width, shown);
    const titles = shown.map(({ column }) => column.title);
    this.line(this.style("dim", fitted(titles, widths).join(GAP)));
    for (const [index, row] of rows.entries()) {
      const texts = fitted(
        shown.map(({ cells }) => cells[index] ?? ""),
        widths,
      );
      const styled = texts.map((text, at) => this.style(shown[at]?.column.style?.(row), text));
      this.line(styled.join(GAP).trimEnd());
    }
  }
}

/** A column, and the widest of its cells. */
interface Measured {
  readonly column: { readonly isWhole?: boolean };
  readonly width: number;
}

const gapsOf = (columns: readonly unknown[]) => GAP.length * (columns.length - 1);

/**
 * The columns that fit beside each other when they are cut. On a narrow terminal, the ones before the last are left out
 * first, because the first columns name a row and the last says what it is.
 */
function columnsWithin<Column extends Measured>(
  width: number,
  columns: readonly Column[],
): readonly Column[] {
  const shown = [...columns];
  const least = () =>
    shown.reduce((sum, { column, width: own }) => sum + (column.isWhole ? own : Math.min(own, CUT_MIN)), 0);
  while (shown.length > 1 && least() + gapsOf(shown) > width) {
    const cuttable = [...shown.keys()].filter((index) => shown[index]?.column.isWhole !== true);
    shown.splice(cuttable.at(-2) ?? cuttable.at(-1) ?? shown.length - 1, 1);
  }
  return shown;
}

/** Cuts the cells of a row, or fills them. */
function fitted(cells: readonly string[], widths: readonly number[]): readonly string[] {
  return cells.map((cell, index) => fit(cell, widths[index] ?? 0, index === cells.length - 1));
}

/** The widths of columns. The widest ones that may be cut are, until all fit or none can be cut further. */
function widthsWithin(room: number, columns: readonly Measured[]): readonly number[] {
  const widths = columns.map(({ width }) => width);
  const canBeCut = (index: number) => columns[index]?.column.isWhole !== true;
  const sum = widths.reduce((before, width) => before + width, gapsOf(columns));
  for (let excess = sum - room; excess > 0; excess -= 1) {
    const widest = Math.max(CUT_MIN, ...widths.filter((_, index) => canBeCut(index)));
    const index = widths.findLastIndex((width, at) => canBeCut(at) && width === widest);
    if (widest === CUT_MIN || index < 0) {
      break;
    }
    widths[index] = widest - 1;
  }
  return widths;
}

/** Cuts or fills a cell. */
function fit(text: string, width: number, isLast: boolean): string {
  const cut = cutText(text, width);
  return isLast ? cut : cut + " ".repeat(width - widthOf(cut));
}

/** The text, or its beginning with an ellipsis, so that it is at most this wide on a screen. */
export function cutText(text: string, width: number): string {
  if (widthOf(text) <= width) {
    return text;
  }
  // A text may be much longer than a line. Only its beginning is measured again and again.
  const characters = Array.from(text.slice(0, 2 * width));
  while (characters.length > 0 && widthOf(characters.join("")) > width - 1) {
    characters.pop();
  }
  return `${characters.join("")}…`;
}

/** JSON without characters that would control the terminal. */
function printable(json: string): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.replaceAll(CONTROL, escaped);
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
