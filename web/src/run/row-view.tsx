import type { VirtualItem } from "@tanstack/react-virtual";
import { memo } from "react";
import type { Row } from "./conversation/blocks.ts";
import { EntryView } from "./entry-view.tsx";
import { FoldView } from "./fold-view.tsx";
import { StepView } from "./step-view.tsx";
import { SystemView } from "./system-view.tsx";

/** A row of the conversation at its place in the list. `measure` gets the element, to learn its height. */
export function RowView({
  item,
  margin,
  measure,
  row,
  isLinked,
}: {
  readonly item: VirtualItem;
  readonly margin: number;
  readonly measure: (element: HTMLElement | null) => void;
  readonly row: Row;
  /** The address of the page names it. */
  readonly isLinked: boolean;
}) {
  return (
    <div
      ref={measure}
      className={isLinked ? "entry-row linked" : "entry-row"}
      data-index={item.index}
      data-key={row.key}
      tabIndex={-1}
      style={{ transform: `translateY(${item.start - margin}px)` }}
    >
      <RowContent row={row} />
    </div>
  );
}

const RowContent = memo(
  function RowContent({ row }: { readonly row: Row }) {
    switch (row.kind) {
      case "entry":
        return (
          <div className="entry">
            <EntryView entry={row.entry} isNewSpeaker={row.isNewSpeaker} />
          </div>
        );
      case "system":
        return (
          <div className="entry tight">
            <SystemView entries={row.entries} id={row.key} />
          </div>
        );
      case "day":
        return (
          <p className="system-line turn day">
            <time dateTime={row.at}>
              {new Date(row.at).toLocaleDateString(undefined, {
                weekday: "long",
                day: "numeric",
                month: "long",
              })}
            </time>
          </p>
        );
      case "step":
        return (
          <div className={edges(row)}>
            <StepView row={row} />
          </div>
        );
      case "fold":
        return (
          <div className={edges(row)}>
            <FoldView row={row} />
          </div>
        );
      default:
        return row satisfies never;
    }
  },
  (before, after) => isSameRow(before.row, after.row),
);

function edges({ isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean }): string {
  return `steps inset ${isFirst ? "first" : ""} ${isLast ? "last" : ""}`;
}

/** Rows are made anew when a neighbour changes, often with the same content. */
function isSameRow(before: Row, after: Row): boolean {
  const [one, other] = [before as unknown as Members, after as unknown as Members];
  return Object.keys(one).every((name) => isSame(one[name], other[name])) && before.kind === after.kind;
}

type Members = Readonly<Record<string, unknown>>;

function isSame(one: unknown, other: unknown): boolean {
  return Array.isArray(one) && Array.isArray(other)
    ? one.length === other.length && one.every((item, index) => item === other[index])
    : one === other;
}
