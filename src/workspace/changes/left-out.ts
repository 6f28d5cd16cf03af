import { LEFT_OUT_REASONS, type LeftOutWork } from "../../core/ports/change-tracker.ts";
import type { ClonedRepository } from "../workspace-record.ts";

/** Reads what the scripts list as left out. What was there before the agent started is not its work. */
export function leftOutOf(
  { given, name, owner }: ClonedRepository,
  lines: readonly string[],
): readonly LeftOutWork[] {
  const known = new Set(given?.leftOut ?? []);
  return lines
    .filter((line) => !known.has(line))
    .flatMap((line) => {
      const reason = LEFT_OUT_REASONS.find((each) => line.startsWith(`${each} `));
      return reason === undefined
        ? []
        : [{ repository: { owner, name }, reason, path: line.slice(reason.length + 1) }];
    });
}
