import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { type LoggedNotice, NOTICE_KINDS, NOTICE_STATES } from "../../core/ports/stores/notice-log.ts";
import { limitInQuery } from "./list-runs.ts";
import { PageInfo } from "./page-info.ts";
import { Timestamp } from "./text.ts";

const LIMIT_MAX = 500;
const LIMIT_DEFAULT = 50;
const EXAMPLE = {
  id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d75",
  run_id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e",
  thread_id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d73",
  kind: "card",
  state: "delivered",
  attempts: 1,
  created_at: "2026-03-01T09:00:00.000Z",
  delivered_at: "2026-03-01T09:00:01.000Z",
  permalink: "https://acme.example.com/archives/C1/p1772355600000100",
};

const NoticeState = z.enum(NOTICE_STATES).meta({
  id: "NoticeState",
  description:
    "`pending`: it waits or is tried again. `delivered`: the thread shows it. `replaced`: a newer card was shown " +
    "instead, or it could not be shown and nobody needs it any more. `dead`: it was given up.",
  examples: ["delivered"],
});

export const ListNoticesQuery = z.object({
  limit: limitInQuery(LIMIT_MAX, LIMIT_DEFAULT).describe("The number of notices per page."),
  cursor: z.string().optional().describe("`next_cursor` of the previous page. Requires the same filters."),
  run_id: z.string().optional().describe("Only notices of this run."),
  thread_id: z.string().optional().describe("Only notices to this thread."),
  state: NoticeState.optional().describe("Only notices in this state."),
});
export type ListNoticesQuery = z.output<typeof ListNoticesQuery>;

export const NoticeItem = z
  .object({
    id: z.uuid().describe("The notice's id."),
    run_id: z.uuid().optional().describe("The run of the notice. Absent for replies that belong to no run."),
    thread_id: z.uuid().describe("The thread that shows the notice."),
    kind: z
      .enum(NOTICE_KINDS)
      .describe(
        "`card`: the status of a run. `answer` and `question`: of an agent. `other`: any other message.",
      ),
    state: NoticeState,
    attempts: z.int().describe("The number of attempts to deliver it."),
    created_at: Timestamp.describe("When the notice was stored."),
    delivered_at: Timestamp.optional().describe("When it was delivered."),
    held_until: Timestamp.optional().describe(
      "Present while the platform's limits hold it back: when it is sent.",
    ),
    error: z.string().optional().describe("Why the last attempt failed."),
    permalink: z.url().optional().describe("The address of the message in the thread."),
  })
  .meta({
    id: "Notice",
    description: "A message to a thread and its delivery. The text of the message is not shown.",
    examples: [EXAMPLE],
  });
type NoticeItem = z.output<typeof NoticeItem>;

export const ListNoticesResponse = z
  .object({ notices: z.array(NoticeItem).describe("The newest notice comes first."), page_info: PageInfo })
  .meta({
    id: "ListNoticesResponse",
    description: "A page of notices.",
    examples: [{ notices: [EXAMPLE], page_info: { has_next_page: false } }],
  });
export type ListNoticesResponse = z.output<typeof ListNoticesResponse>;

export function noticeItem(notice: LoggedNotice): NoticeItem {
  const { deliveredAt, error, heldUntil, permalink, runId } = notice;
  return defined({
    id: notice.id,
    run_id: runId,
    thread_id: notice.threadId,
    kind: notice.kind,
    state: notice.state,
    attempts: notice.attempts,
    created_at: notice.createdAt.toISOString(),
    delivered_at: deliveredAt?.toISOString(),
    held_until: heldUntil?.toISOString(),
    error,
    permalink,
  });
}
