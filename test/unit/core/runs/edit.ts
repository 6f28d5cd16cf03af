import type { Run } from "../../../../src/core/runs/run.ts";
import { RunEdit } from "../../../../src/core/runs/run-edit.ts";
import type { RunSubject } from "../../../../src/core/runs/run-store.ts";
import { NoticeWriter } from "../../../../src/core/threads/notice-writer.ts";
import { aRun } from "../../../support/run-builders.ts";

/** Returns an edit of a run without a storage. */
export function anEdit(run: Partial<Run> = {}, subject: Partial<RunSubject> = {}): RunEdit {
  const writer = new NoticeWriter(() => "http://here", new Map());
  const stands = { run: aRun(run), waiting: [], taken: [], threads: [], leaseOver: false, ...subject };
  return new RunEdit(stands, { now: new Date("2026-03-01T12:00:00.000Z"), writer });
}
