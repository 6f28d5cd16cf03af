import type { Run } from "../../../../src/core/runs/run.ts";
import { RunEdit } from "../../../../src/core/runs/run-edit.ts";
import type { RunAggregate } from "../../../../src/core/runs/run-store.ts";
import { NoticeWriter } from "../../../../src/core/threads/notice-writer.ts";
import { aRun } from "../../../support/run-builders.ts";

/** Returns an edit of a run without a storage. */
export function anEdit(run: Partial<Run> = {}, aggregate: Partial<RunAggregate> = {}): RunEdit {
  const writer = new NoticeWriter(() => "http://here", new Map());
  const stands = { run: aRun(run), waiting: [], taken: [], threads: [], leaseOver: false, ...aggregate };
  return new RunEdit(stands, { now: new Date("2026-03-01T12:00:00.000Z"), writer });
}
