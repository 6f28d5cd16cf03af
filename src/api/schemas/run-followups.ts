import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { Principal } from "../../core/model/people/principal.ts";
import { FOLLOW_UP_DELIVERIES, type FollowUp } from "../../core/model/runs/follow-up.ts";
import { RUN_MODES } from "../../core/model/runs/run.ts";
import { isWaitingForApproval } from "../../core/runs/approval.ts";
import { approvalMember, RunApproval } from "./approval.ts";
import { commentItem, LineComment } from "./line-comment.ts";
import { limitInQuery } from "./list-runs.ts";
import { PageInfo } from "./page-info.ts";
import { creatorInfo, RunCreatorInfo } from "./run-creator.ts";
import { RunSourceType } from "./run-item.ts";
import { FollowupMessage } from "./run-requests.ts";
import { Timestamp } from "./text.ts";

const LIMIT_MAX = 500;
const LIMIT_DEFAULT = 20;

const STATUSES = ["held", "waiting_approval", "given", "withdrawn", "refused"] as const;

const EXAMPLE = {
  followup_id: "0195b2a6-1b2c-7d3e-8f40-516273849506",
  message: "Leave the old tests as they are",
  author: { uid: "0195b29f-0c11-7a52-9e0d-7b1f2c3d4e5f", type: "user" as const, display_name: "Ada" },
  source: "API" as const,
  created_at: "2026-03-01T09:02:00.000Z",
  delivery: "queue" as const,
  visibility: "thread" as const,
  status: "held" as const,
};

const FollowupAuthor = RunCreatorInfo.extend({
  uid: z.string().describe("The principal's id; for a guest, the id of the share link."),
  type: z
    .enum(["user", "service_account", "guest"])
    .describe("`user`: a person. `service_account`: a program. `guest`: the guest of a share link."),
}).meta({ id: "FollowupAuthor", description: "The author of a follow-up.", examples: [EXAMPLE.author] });

export const RunFollowup = z
  .object({
    followup_id: z.uuid().describe("The follow-up's id."),
    message: z
      .string()
      .describe("The text that the agent reads, with the comments. After a change, the new one."),
    comments: z
      .array(LineComment)
      .optional()
      .describe("The comments on changed lines that came with it. A change of the text replaces them."),
    author: FollowupAuthor,
    source: RunSourceType.describe("Where it was sent from."),
    created_at: Timestamp.describe("When it was received."),
    delivery: z.enum(FOLLOW_UP_DELIVERIES).describe("How it was to be delivered."),
    visibility: z
      .enum(["thread", "private"])
      .describe("`private`: it is not posted to threads. Everyone who sees the run can read it here."),
    status: z
      .enum(STATUSES)
      .describe(
        "`held`: it waits for the next turn. `waiting_approval`: a policy requires its approval; no later follow-up is " +
          "given before it. `given`: a turn has taken it. `withdrawn`, `refused`: the agent never gets it.",
      ),
    mode: z.enum(RUN_MODES).optional().describe("The mode that it asks for."),
    turn: z.int().optional().describe("The turn that has taken it."),
    approval: RunApproval.optional().describe(
      "The approval that a policy requires of this follow-up alone. Before a run starts, its follow-ups are approved with it.",
    ),
    edited_at: Timestamp.optional().describe("When its text was last changed."),
  })
  .meta({ id: "RunFollowup", description: "A message to a run after its creation.", examples: [EXAMPLE] });
type RunFollowup = z.output<typeof RunFollowup>;

export const ListRunFollowupsQuery = z.object({
  limit: limitInQuery(LIMIT_MAX, LIMIT_DEFAULT).describe(
    "The maximum number of follow-ups per page. A page is shorter if they are long (4 MiB).",
  ),
  cursor: z.string().optional().describe("`next_cursor` of the previous page of the same run."),
});

export const ListRunFollowupsResponse = z
  .object({
    followups: z.array(RunFollowup).describe("The oldest comes first."),
    page_info: PageInfo,
  })
  .meta({
    id: "ListRunFollowupsResponse",
    description: "A page of the follow-ups of a run.",
    examples: [{ followups: [EXAMPLE], page_info: { has_next_page: false } }],
  });

export const UpdateRunFollowupRequest = z.object({ message: FollowupMessage }).meta({
  id: "UpdateRunFollowupRequest",
  description: "The new text of a follow-up that is held or waits for approval.",
  examples: [{ message: "Leave the old tests as they are" }],
});

export function runFollowupOf(followUp: FollowUp, author: Principal | undefined): RunFollowup {
  const { authorId, byGuest, comments, editedAt, mode, turn } = followUp;
  return {
    followup_id: followUp.id,
    message: followUp.message,
    author: byGuest === true ? { uid: authorId, type: "guest" } : creatorInfo(authorId, author),
    source: followUp.source,
    created_at: followUp.createdAt.toISOString(),
    delivery: followUp.delivery,
    visibility: followUp.private ? "private" : "thread",
    status: statusOf(followUp),
    ...defined({ comments: comments?.map(commentItem), mode, turn }),
    ...approvalMember(followUp.approval),
    ...defined({ edited_at: editedAt?.toISOString() }),
  };
}

function statusOf(followUp: FollowUp): RunFollowup["status"] {
  const { approval, turn, withdrawnAt } = followUp;
  if (withdrawnAt !== undefined) {
    return approval?.approved === false ? "refused" : "withdrawn";
  }
  if (isWaitingForApproval(followUp)) {
    return "waiting_approval";
  }
  return turn === undefined ? "held" : "given";
}
