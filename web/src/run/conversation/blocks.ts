import type { Entry, GrantedEntry, LineEntry, StepEntry, ToolEntry } from "./entries.ts";
import { callState, exitCodeOf } from "./tool-call.ts";

/** Entries that are shown together. */
export type Block =
  | {
      readonly kind: "entry";
      readonly key: string;
      readonly start: number;
      readonly entries: readonly [Entry];
      readonly isNewSpeaker: boolean;
    }
  /** What the system did, in one line: it prepared the workspace, or the run ended. */
  | {
      readonly kind: "system";
      readonly key: string;
      readonly start: number;
      readonly entries: readonly (StepEntry | LineEntry | Entry)[];
      /** The block before it ends the run. */
      readonly isAfterEnd: boolean;
    }
  /** What the agent did between two messages. */
  | {
      readonly kind: "steps";
      readonly key: string;
      readonly start: number;
      readonly entries: readonly Entry[];
    }
  | {
      readonly kind: "day";
      readonly key: string;
      readonly start: number;
      readonly entries: readonly [];
      readonly at: string;
    };

/** What the list draws at one place. */
export type Row =
  | { readonly kind: "entry"; readonly key: string; readonly entry: Entry; readonly isNewSpeaker: boolean }
  | { readonly kind: "system"; readonly key: string; readonly entries: readonly Entry[] }
  | { readonly kind: "day"; readonly key: string; readonly at: string }
  | {
      readonly kind: "step";
      readonly key: string;
      readonly entry: Entry;
      readonly grants: readonly GrantedEntry[];
      /** When the next entry began, for what has no end of its own. */
      readonly until: string | undefined;
      readonly isFirst: boolean;
      readonly isLast: boolean;
    }
  | {
      readonly kind: "fold";
      readonly key: string;
      readonly entries: readonly Entry[];
      readonly isOpen: boolean;
      readonly isFirst: boolean;
      readonly isLast: boolean;
    };

/** A question that nobody has answered. */
export function isOpenQuestion(row: Row): boolean {
  return row.kind === "entry" && row.entry.kind === "question" && row.entry.answer === undefined;
}

type Role = "own" | "system" | "end" | "steps";

/** Groups entries, one after another, into blocks. */
export class Grouping {
  readonly #push: (block: Block) => void;
  #last: Block | undefined;
  #open: { kind: "system" | "steps"; start: number; entries: Entry[] } | undefined;
  #day: number | undefined;

  /** Continues after the block `last`. */
  constructor(last: Block | undefined, push: (block: Block) => void) {
    this.#push = push;
    this.#last = last;
    const entry = last?.entries.at(-1);
    this.#day = entry === undefined ? undefined : dayOf(entry.at);
  }

  add(entry: Entry, index: number): void {
    const day = dayOf(entry.at);
    if (day !== this.#day) {
      this.close();
      if (this.#day !== undefined) {
        this.#add({ kind: "day", key: `day-${day}`, start: index, entries: [], at: entry.at });
      }
      this.#day = day;
    }
    const role = roleOf(entry, this.#open?.kind);
    if (role === "own") {
      this.close();
      const isNewSpeaker = !isMessage(this.#last);
      this.#add({ kind: "entry", key: entry.key, start: index, entries: [entry], isNewSpeaker });
      return;
    }
    const kind = role === "steps" ? "steps" : "system";
    if (this.#open?.kind !== kind) {
      this.close();
      this.#open = { kind, start: index, entries: [] };
    }
    this.#open.entries.push(entry);
    if (role === "end") {
      this.close();
    }
  }

  close(): void {
    if (this.#open !== undefined) {
      const { kind, start, entries } = this.#open;
      const place = { key: `${kind}-${entries[0]?.key}`, start, entries };
      this.#open = undefined;
      this.#add(kind === "steps" ? { kind, ...place } : { kind, ...place, isAfterEnd: endsRun(this.#last) });
    }
  }

  #add(block: Block): void {
    this.#last = block;
    this.#push(block);
  }
}

function endsRun(block: Block | undefined): boolean {
  const entry = block?.entries.at(-1);
  return entry?.kind === "line"
    ? entry.name === "ended"
    : entry?.kind === "problem" && entry.state !== undefined;
}

function roleOf(entry: Entry, open: "system" | "steps" | undefined): Role {
  switch (entry.kind) {
    case "thought":
    case "message":
      if (entry.text.trim() === "") {
        return open ?? "system";
      }
      return entry.kind === "thought" ? "steps" : "own";
    case "tool":
    case "granted":
    case "artifact":
      return "steps";
    case "other":
      return open ?? "steps";
    case "step":
      return "system";
    case "line":
      if (entry.name === "turn") {
        return entry.turn > 1 ? "own" : "system";
      }
      if (entry.name === "ended") {
        return "end";
      }
      return entry.name === "notice" && open === "steps" ? "steps" : "system";
    default:
      return "own";
  }
}

function isMessage(block: Block | undefined): boolean {
  return block?.kind === "entry" && block.entries[0].kind === "message";
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** The number of the local day. The offset is that of today, so a day may end an hour early in another season. */
function dayOf(at: string): number {
  const hour = at.slice(0, HOUR_LENGTH);
  if (hour !== lastHour) {
    lastHour = hour;
    lastDay = Math.floor((Date.parse(at) - OFFSET_MS) / DAY_MS);
  }
  return lastDay;
}
const OFFSET_MS = new Date().getTimezoneOffset() * MINUTE_MS;
/** Most offsets are whole hours, and events of one hour come together. */
const HOUR_LENGTH = "2026-01-01T00".length;
let lastHour = "";
let lastDay = 0;

/** So many quiet steps in a row are folded. The first two stay, so that nothing moves when the fold appears. */
const FOLDED_MIN = 4;
const SHOWN_BEFORE_FOLD = 2;

/** The rows of a block. `openFolds` has the keys of the folds that the reader opened. */
export function rowsOf(block: Block, openFolds: ReadonlySet<string>): readonly Row[] {
  switch (block.kind) {
    case "day":
      return [{ kind: "day", key: block.key, at: block.at }];
    case "system":
      return isEmpty(block) ? [] : [{ kind: "system", key: block.key, entries: block.entries }];
    case "entry":
      return [{ kind: "entry", key: block.key, entry: block.entries[0], isNewSpeaker: block.isNewSpeaker }];
    case "steps":
      return stepRows(block.entries, openFolds);
    default:
      return block satisfies never;
  }
}

/**
 * The start of the first turn, or a stored workspace, says nothing when it stands alone. Neither does the end of the
 * attempt after the end of the run.
 */
function isEmpty({ entries, isAfterEnd }: Extract<Block, { readonly kind: "system" }>): boolean {
  return entries.every(
    (entry) =>
      isBlank(entry) ||
      (entry.kind === "line" && (SILENT.has(entry.name) || (isAfterEnd && entry.name === "attemptEnd"))),
  );
}
const SILENT: ReadonlySet<string> = new Set(["turn", "stored"]);

function isBlank(entry: Entry): boolean {
  return (entry.kind === "thought" || entry.kind === "message") && entry.text.trim() === "";
}

/** The question about a call shows it until there is an answer. */
function isAsked(entry: Entry): boolean {
  return entry.kind === "tool" && callState(entry) === "asked";
}

type StepRow = Extract<Row, { readonly kind: "step" | "fold" }>;

function stepRows(entries: readonly Entry[], openFolds: ReadonlySet<string>): readonly Row[] {
  const steps: { entry: Entry; grants: GrantedEntry[]; until: string | undefined }[] = [];
  for (const [index, entry] of entries.entries()) {
    const last = steps.at(-1);
    if (entry.kind === "granted" && last?.entry.kind === "tool") {
      last.grants.push(entry);
    } else if (!isBlank(entry) && !isAsked(entry)) {
      steps.push({ entry, grants: [], until: entries[index + 1]?.at });
    }
  }
  const rows: StepRow[] = [];
  for (let index = 0; index < steps.length; ) {
    let end = index;
    while (end < steps.length && isQuiet(steps[end]?.entry)) {
      end += 1;
    }
    const folded = end - index >= FOLDED_MIN ? index + SHOWN_BEFORE_FOLD : end;
    const key = `fold-${steps[folded]?.entry.key}`;
    const isOpen = openFolds.has(key);
    for (let step = index; step < Math.max(end, index + 1); step += 1) {
      if (step === folded && folded < end) {
        const hidden = steps.slice(folded, end).map(({ entry }) => entry);
        rows.push({ kind: "fold", key, entries: hidden, isOpen, isFirst: false, isLast: false });
      }
      const shown = steps[step];
      if (shown !== undefined && (step < folded || isOpen || folded === end)) {
        rows.push({ kind: "step", key: shown.entry.key, ...shown, isFirst: false, isLast: false });
      }
    }
    index = Math.max(end, index + 1);
  }
  return rows.map((row, index) => ({ ...row, isFirst: index === 0, isLast: index === rows.length - 1 }));
}

/** What needs no look: it ended well, and nobody was asked. */
function isQuiet(entry: Entry | undefined): boolean {
  switch (entry?.kind) {
    case "thought":
    case "granted":
    case "other":
    case "line":
      return true;
    case "tool":
      return isQuietCall(entry);
    default:
      return false;
  }
}

function isQuietCall(call: ToolEntry): boolean {
  return callState(call) === "completed" && (exitCodeOf(call) ?? 0) === 0;
}
