import { z } from "zod";
import type { RunId } from "../../core/basics/ids.ts";
import { type StoredThread, VERBOSITIES } from "../../core/model/threads/thread.ts";
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
  .describe(
    "`quiet`: the status card changes only for a question and at the end. Messages are posted in both modes.",
  );

export const ListThreadsQuery = z.object({
  run_id: z.string().describe("The run whose threads are listed."),
});

export const ThreadChange = z.object({ verbosity: Verbosity }).meta({
  id: "ThreadChange",
  description: "How often the status card of the thread is updated.",
  examples: [{ verbosity: "quiet" }],
});

export const ThreadItem = z
  .object({
    id: z.uuid().describe("The thread's id."),
    integration: z.string().describe("The integration that the thread belongs to."),
    installation: z.string().describe("The workspace or account, by the id of its platform."),
    run_id: z.uuid().describe("The run to which the thread is or was bound."),
    is_current: z.boolean().describe("Whether messages in the thread go to this run."),
    verbosity: Verbosity,
    created_at: Timestamp.describe("When the thread was first seen."),
  })
  .meta({
    id: "Thread",
    description: "An external conversation in which a run reports.",
    examples: [EXAMPLE],
  });
export type ThreadItem = z.output<typeof ThreadItem>;

export const ListThreadsResponse = z
  .object({ threads: z.array(ThreadItem).describe("All threads that were ever bound to the run.") })
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
