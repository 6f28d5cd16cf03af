import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { InboxEntry } from "../../core/ports/stores/inbox-store.ts";
import { DISPOSITIONS } from "../../core/ports/stores/inbox-store.ts";
import { limitInQuery } from "./list-runs.ts";
import { PageInfo } from "./page-info.ts";
import { Timestamp } from "./text.ts";

const LIMIT_MAX = 500;
const LIMIT_DEFAULT = 50;
/** The filter for events without a disposition. */
export const OPEN = "open";
const EXAMPLE = {
  id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d74",
  integration: "issues",
  name: "issue_comment",
  received_at: "2026-03-01T09:00:00.000Z",
  disposition: "refused",
  reason: "You need write access to acme/web to start a run.",
};

const Disposition = z
  .enum(DISPOSITIONS)
  .describe(
    "The result: a run, a follow-up, a changed or withdrawn request, a cancellation, an answer, a reply, or the reason why nothing was done.",
  );

export const ListInboxQuery = z.object({
  limit: limitInQuery(LIMIT_MAX, LIMIT_DEFAULT).describe("The number of events per page."),
  cursor: z.string().optional().describe("`next_cursor` of the previous page. Requires the same filters."),
  disposition: z
    .enum([...DISPOSITIONS, OPEN])
    .optional()
    .describe(`The result of the event. \`${OPEN}\`: not processed yet.`),
  integration: z.string().optional().describe("The integration that received the event."),
  run_id: z.string().optional().describe("The run that the event created, continued or cancelled."),
});
export type ListInboxQuery = z.output<typeof ListInboxQuery>;

export const InboxItem = z
  .object({
    id: z.uuid().describe("The event's id."),
    integration: z.string().describe("The integration that received the event."),
    name: z.string().describe("The name of the event on its platform."),
    received_at: Timestamp.describe("When the event was stored and acknowledged."),
    disposition: Disposition.nullable().describe("The result; null while the event waits."),
    reason: z.string().optional().describe("The reason for the result, or the error of the last attempt."),
    run_id: z.uuid().optional().describe("The run that the event created, continued or cancelled."),
  })
  .meta({
    id: "InboxEvent",
    description: "An incoming event and its result. The content of the event is not shown.",
    examples: [EXAMPLE],
  });
type InboxItem = z.output<typeof InboxItem>;

export const ListInboxResponse = z
  .object({ events: z.array(InboxItem).describe("The newest event comes first."), page_info: PageInfo })
  .meta({
    id: "ListInboxResponse",
    description: "A page of incoming events.",
    examples: [{ events: [EXAMPLE], page_info: { has_next_page: false } }],
  });
export type ListInboxResponse = z.output<typeof ListInboxResponse>;

export function inboxItem({
  id,
  adapter,
  name,
  receivedAt,
  disposition,
  reason,
  runId,
}: InboxEntry): InboxItem {
  return defined({
    id,
    integration: adapter,
    name,
    received_at: receivedAt.toISOString(),
    disposition: disposition ?? null,
    reason,
    run_id: runId,
  });
}
