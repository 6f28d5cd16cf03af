import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { RunId } from "../../core/basics/ids.ts";
import { type StoredThread, VERBOSITIES } from "../../core/model/threads/thread.ts";
import { type LoggedNotice, NOTICE_KINDS } from "../../core/ports/stores/notice-log.ts";
import { PageInfo } from "./page-info.ts";
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
    held: z
      .object({
        until: Timestamp.describe("When the first of them is posted."),
        kind: z.enum(NOTICE_KINDS).describe("What it is."),
      })
      .optional()
      .describe(
        "Present while messages of the run wait here, because the platform limits how much is posted.",
      ),
    created_at: Timestamp.describe("When the thread was first seen."),
  })
  .meta({
    id: "Thread",
    description: "An external conversation in which a run reports.",
    examples: [EXAMPLE],
  });
export type ThreadItem = z.output<typeof ThreadItem>;

export const ListThreadsResponse = z
  .object({
    threads: z.array(ThreadItem).describe("All threads that were ever bound to the run."),
    page_info: PageInfo,
  })
  .meta({
    id: "ListThreadsResponse",
    description: "The threads of a run.",
    examples: [{ threads: [EXAMPLE], page_info: { has_next_page: false } }],
  });

/** `pending`: the notices of the run that wait. */
export function threadItem(
  thread: StoredThread,
  runId: RunId,
  pending: readonly LoggedNotice[] = [],
): ThreadItem {
  const { id, adapter, createdAt, installation, verbosity } = thread;
  const held = pending
    .filter(({ kind, threadId }) => kind !== "card" && threadId === id)
    .flatMap(({ heldUntil, kind }) =>
      heldUntil === undefined ? [] : [{ until: heldUntil.toISOString(), kind }],
    )
    .toSorted((one, other) => one.until.localeCompare(other.until))[0];
  return defined({
    id,
    integration: adapter,
    installation,
    run_id: runId,
    is_current: thread.runId === runId,
    verbosity,
    held,
    created_at: createdAt.toISOString(),
  });
}
