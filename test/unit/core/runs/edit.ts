import type { Run } from "../../../../src/core/model/runs/run.ts";
import type { RunAggregate } from "../../../../src/core/ports/stores/run-store.ts";
import type { AdapterTraits } from "../../../../src/core/ports/thread-adapter.ts";
import { NoticeWriter } from "../../../../src/core/runs/notice-writer.ts";
import { RunEdit } from "../../../../src/core/runs/run-edit.ts";
import { aRun } from "../../../support/run-builders.ts";

/** Returns an edit of a run without a storage. */
export function anEdit(
  run: Partial<Run> = {},
  aggregate: Partial<RunAggregate> = {},
  traits: ReadonlyMap<string, AdapterTraits> = new Map(),
): RunEdit {
  const writer = new NoticeWriter(() => "http://here", traits);
  const stands = {
    run: aRun(run),
    waiting: [],
    taken: [],
    threads: [],
    leaseOver: false,
    version: "",
    ...aggregate,
  };
  return new RunEdit(stands, { now: new Date("2026-03-01T12:00:00.000Z"), writer });
}
