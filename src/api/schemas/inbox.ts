import { z } from "zod";
import type { SettledEvent } from "../../core/inbox/inbox-log.ts";
import { DISPOSITIONS } from "../../core/inbox/inbox-result.ts";
import { limitInQuery } from "./list-runs.ts";
import { PageInfo } from "./run-item.ts";
import { Timestamp } from "./text.ts";

const LIMIT_MAX = 500;
const LIMIT_DEFAULT = 50;
/** What has no disposition yet. */
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
  .describe("What became of it: a run, a follow-up, a cancel, an answer, a reply, or why nothing did.");

export const ListInboxQuery = z.object({
  limit: limitInQuery(LIMIT_MAX, LIMIT_DEFAULT).describe("Events a page."),
  cursor: z.string().optional().describe("Where the previous page ended; only with the same filters."),
  disposition: z
    .enum([...DISPOSITIONS, OPEN])
    .optional()
    .describe(`What became of it; \`${OPEN}\`: nothing yet.`),
  integration: z.string().optional().describe("Where it came from."),
  run_id: z.string().optional().describe("The run that it made, steered or stopped."),
});
export type ListInboxQuery = z.output<typeof ListInboxQuery>;

const InboxItem = z
  .object({
    id: z.uuid().describe("The event's id."),
    integration: z.string().describe("Where it came from."),
    name: z.string().describe("What the platform calls it."),
    received_at: Timestamp.describe("When it was stored, and acknowledged."),
    disposition: Disposition.nullable().describe("How it ended; null while it waits."),
    reason: z.string().optional().describe("Why, or what went wrong when it was tried last."),
    run_id: z.uuid().optional().describe("The run that it made, steered or stopped."),
  })
  .meta({
    id: "InboxEvent",
    description: "Something that came in from outside, and what became of it. What it said is not shown.",
    examples: [EXAMPLE],
  });
type InboxItem = z.output<typeof InboxItem>;

export const ListInboxResponse = z
  .object({ events: z.array(InboxItem).describe("The newest first."), page_info: PageInfo })
  .meta({
    id: "ListInboxResponse",
    description: "A page of what came in.",
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
}: SettledEvent): InboxItem {
  return {
    id,
    integration: adapter,
    name,
    received_at: receivedAt.toISOString(),
    disposition: disposition ?? null,
    ...(reason === undefined ? {} : { reason }),
    ...(runId === undefined ? {} : { run_id: runId }),
  };
}
