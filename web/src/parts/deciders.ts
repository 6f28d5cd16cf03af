import type { RunItem } from "@errand/client";
import { plural } from "./format.ts";

type Waiting = Pick<RunItem, "state" | "waiting_for">;

/** Whether the run waits for an answer or an approval that the reader may give. */
export function needsReader({ state, waiting_for: waiting }: Waiting): boolean {
  return state === "BLOCKED" && waiting?.may_decide === true;
}

/**
 * Whose decision a blocked run waits for, in few words: `Needs you`, `Needs Dana`. Guests are not told whom it waits
 * for.
 */
export function needsWord({ waiting_for: waiting }: Pick<RunItem, "waiting_for">): string {
  if (waiting?.may_decide === true) {
    return "Needs you";
  }
  const [first] = namesOf(waiting);
  return `Needs ${first?.split(/[\s@]/)[0] ?? "a person"}`;
}

/** The full names of those who may decide: `Dana Fischer`, `Dana Fischer or Lee Wong`. Empty: nobody is known. */
export function decidersText({ waiting_for: waiting }: Pick<RunItem, "waiting_for">): string {
  const [first = "", second, ...others] = namesOf(waiting);
  if (second === undefined) {
    return first;
  }
  return others.length === 0
    ? `${first} or ${second}`
    : `${first}, ${second} or ${plural(others.length, "other person", "other people")}`;
}

function namesOf(waiting: RunItem["waiting_for"]): readonly string[] {
  return (waiting?.deciders ?? []).flatMap(({ display_name: name, email }) => name ?? email ?? []);
}
