import { duration, plural } from "../parts/format.ts";
import { Icon } from "../parts/icon.tsx";
import type { Row } from "./conversation/blocks.ts";
import type { Entry } from "./conversation/entries.ts";
import { useRun } from "./run-context.tsx";

/** Quiet steps behind one line. */
export function FoldView({ row }: { readonly row: Extract<Row, { readonly kind: "fold" }> }) {
  const { log } = useRun();
  const { entries, isOpen, key } = row;
  const [first, last] = [entries[0], entries.at(-1)];
  const seconds = first && last ? (Date.parse(last.lastAt) - Date.parse(first.at)) / 1_000 : 0;
  return (
    <div className="step" id={key}>
      <button type="button" className="step-line" aria-expanded={isOpen} onClick={() => log.toggleFold(key)}>
        <Icon name="all" />
        <span className="verb">
          {isOpen ? `${plural(entries.length, "step")}` : `${plural(entries.length, "more step")}`}
        </span>
        <span className="subject quiet">{summaryOf(entries)}</span>
        <span className="meta">
          {seconds >= 1 && <span>{duration(seconds)}</span>}
          <Icon name="chevron" className="chevron" />
        </span>
      </button>
    </div>
  );
}

const COUNTED: Readonly<Record<string, readonly [verb: string, one: string, many: string]>> = {
  read: ["read", "file", "files"],
  edit: ["edited", "file", "files"],
  execute: ["ran", "command", "commands"],
  search: ["searched", "time", "times"],
  fetch: ["fetched", "address", "addresses"],
};

function summaryOf(entries: readonly Entry[]): string {
  const counts = new Map<string, number>();
  for (const entry of entries) {
    const kind = entry.kind === "tool" ? (entry.toolKind ?? "other") : entry.kind;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return Array.from(counts, ([kind, count]) => {
    const [verb, one, many] = COUNTED[kind] ?? [];
    return verb === undefined || one === undefined || many === undefined
      ? ""
      : `${verb} ${plural(count, one, many)}`;
  })
    .filter(Boolean)
    .join(", ");
}
