import { z } from "zod";
import type { RunId } from "../../core/ids.ts";
import { type StoredThread, VERBOSITIES } from "../../core/threads/thread.ts";
import { Timestamp } from "./text.ts";

const RUN_ID = "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e";
const EXAMPLE = {
  id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d73",
  integration: "chat",
  installation: "T024BE7LD",
  run_id: RUN_ID,
  is_current: true,
  verbosity: "normal",
  created_at: "2026-03-01T09:00:00.000Z",
};

const Verbosity = z
  .enum(VERBOSITIES)
  .describe("`quiet`: the card changes only for a question and at an end. What is said stays the same.");

export const ListThreadsQuery = z.object({
  run_id: z.string().describe("The run whose threads are asked for."),
});

export const ThreadChange = z.object({ verbosity: Verbosity }).meta({
  id: "ThreadChange",
  description: "How much a thread is told.",
  examples: [{ verbosity: "quiet" }],
});

export const ThreadItem = z
  .object({
    id: z.uuid().describe("The thread's id."),
    integration: z.string().describe("Where it is."),
    installation: z.string().describe("The workspace or account there, by the platform's own id."),
    run_id: z.uuid().describe("The run that it is or was bound to."),
    is_current: z.boolean().describe("Whether what is said there goes to this run."),
    verbosity: Verbosity,
    created_at: Timestamp.describe("When it was heard of first."),
  })
  .meta({
    id: "Thread",
    description: "A conversation outside in which a run is told of.",
    examples: [EXAMPLE],
  });
export type ThreadItem = z.output<typeof ThreadItem>;

export const ListThreadsResponse = z
  .object({ threads: z.array(ThreadItem).describe("Those that the run was ever bound to.") })
  .meta({
    id: "ListThreadsResponse",
    description: "The threads of a run.",
    examples: [{ threads: [EXAMPLE] }],
  });

export function threadItem(thread: StoredThread, runId: RunId): ThreadItem {
  const { id, adapter, createdAt, installation, verbosity } = thread;
  return {
    id,
    integration: adapter,
    installation,
    run_id: runId,
    is_current: thread.runId === runId,
    verbosity,
    created_at: createdAt.toISOString(),
  };
}
