import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import {
  type LineComment as Comment,
  type DraftComment as Draft,
  LINE_SIDES,
} from "../../core/model/runs/line-comment.ts";
import {
  COMMENT_BODY_MAX,
  COMMENT_HUNK_MAX,
  COMMENT_PATH_MAX,
  COMMENTS_MAX,
} from "../../core/runs/comment-text.ts";
import { PageInfo } from "./page-info.ts";
import { Timestamp } from "./text.ts";

const EXAMPLE = {
  repository: "acme/web",
  path: "src/login.ts",
  side: "right" as const,
  line: 41,
  hunk: "@@ -38,2 +40,2 @@\n-setSession(session)\n+await setSession(session)",
  body: "Say why it must be awaited.",
};
const DRAFT_ID = "0195b2a6-1b2c-4d3e-8f40-516273849506";
const DRAFT_EXAMPLE = {
  draft_id: DRAFT_ID,
  ...EXAMPLE,
  created_at: "2026-03-01T09:02:00.000Z",
  updated_at: "2026-03-01T09:02:00.000Z",
};

export const LineComment = z
  .object({
    repository: z
      .string()
      .optional()
      .describe("`owner/name`, as the changes of the run name it. It may be left out if there is only one."),
    path: z.string().describe(`The path of the file, at most ${COMMENT_PATH_MAX} characters.`),
    side: z.enum(LINE_SIDES).describe("`left`: the file before the changes. `right`: the file after them."),
    line: z.int().describe("The line, counted from 1 on its side. Of several lines, the last one."),
    start_line: z.int().optional().describe("The first of several lines."),
    hunk: z
      .string()
      .describe(
        `The lines of the diff that the comment is about. The last one is \`line\`. At most ${COMMENT_HUNK_MAX} characters.`,
      ),
    commit_id: z.string().optional().describe("The commit whose version was commented on, if it is pushed."),
    body: z.string().describe(`The comment, at most ${COMMENT_BODY_MAX} characters.`),
  })
  .meta({
    id: "LineComment",
    description: "A comment on one or several lines of the changes of a run.",
    examples: [EXAMPLE],
  });
type LineComment = z.output<typeof LineComment>;

export const SentLineComment = LineComment.extend({
  draft_id: z.string().optional().describe("The draft of the sender that it was. It is deleted."),
}).meta({
  id: "SentLineComment",
  description: "A comment on one or several lines, sent with a follow-up.",
  examples: [{ ...EXAMPLE, draft_id: DRAFT_ID }],
});

export const DraftComment = LineComment.extend({
  draft_id: z.uuid().describe("The draft's id, chosen by its author."),
  created_at: Timestamp.describe("When it was stored first."),
  updated_at: Timestamp.describe("When it was stored last."),
}).meta({
  id: "DraftComment",
  description: "A comment that its author has not sent yet.",
  examples: [DRAFT_EXAMPLE],
});
type DraftComment = z.output<typeof DraftComment>;

export const ListDraftCommentsResponse = z
  .object({
    draft_comments: z.array(DraftComment).describe(`The oldest comes first. At most ${COMMENTS_MAX}.`),
    page_info: PageInfo,
  })
  .meta({
    id: "ListDraftCommentsResponse",
    description: "The comments of the caller on a run that are not sent yet.",
    examples: [{ draft_comments: [DRAFT_EXAMPLE], page_info: { has_next_page: false } }],
  });

export function commentOf({
  body,
  commit_id,
  hunk,
  line,
  path,
  repository,
  side,
  start_line,
}: LineComment): Comment {
  const optional = defined({ commitId: commit_id, repository, startLine: start_line });
  return { ...optional, path, side, line, hunk, body };
}

export function commentItem({
  body,
  commitId,
  hunk,
  line,
  path,
  repository,
  side,
  startLine,
}: Comment): LineComment {
  const optional = defined({ commit_id: commitId, repository, start_line: startLine });
  return { ...optional, path, side, line, hunk, body };
}

export function draftItem({ comment, createdAt, id, updatedAt }: Draft): DraftComment {
  return {
    draft_id: id,
    ...commentItem(comment),
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}
