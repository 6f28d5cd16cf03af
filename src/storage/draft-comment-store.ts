import type { PrincipalId, RunId } from "../core/basics/ids.ts";
import type { DraftComment } from "../core/model/runs/line-comment.ts";
import type { DraftCommentStore } from "../core/ports/stores/draft-comment-store.ts";
import type { Statements } from "./database.ts";
import { LINE_COMMENT } from "./json-columns.ts";
import { parseJsonColumn } from "./rows.ts";

/** Waits for a deletion of the run, and then adds nothing. */
const PUT = `
  INSERT INTO draft_comments (run_id, author_id, id, comment, created_at, updated_at)
  SELECT id, $2::uuid, $3::uuid, $4::jsonb, $5::timestamptz, $6::timestamptz
  FROM runs WHERE id = $1::uuid FOR KEY SHARE
  ON CONFLICT (run_id, id) DO UPDATE SET comment = EXCLUDED.comment, updated_at = EXCLUDED.updated_at
  WHERE draft_comments.author_id = EXCLUDED.author_id
  RETURNING id`;

export class PrismaDraftCommentStore implements DraftCommentStore {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async list(runId: RunId, authorId: PrincipalId): Promise<readonly DraftComment[]> {
    const rows = await this.#database.query((client) =>
      client.draftComment.findMany({
        where: { runId, authorId },
        orderBy: [{ createdAt: "asc" }, { id: "asc" }],
      }),
    );
    return rows.map((row) => ({
      ...row,
      comment: parseJsonColumn(LINE_COMMENT, row.comment, {
        table: "draft_comments",
        id: row.id,
        column: "comment",
      }),
    }));
  }

  async put({ authorId, comment, createdAt, id, runId, updatedAt }: DraftComment): Promise<boolean> {
    const values = [runId, authorId, id, JSON.stringify(comment), createdAt, updatedAt];
    return (await this.#database.rows({ text: PUT, values })).length > 0;
  }

  async remove({ authorId, id, runId }: Pick<DraftComment, "authorId" | "id" | "runId">): Promise<boolean> {
    const removal = { where: { runId, authorId, id } };
    return (await this.#database.query((client) => client.draftComment.deleteMany(removal))).count > 0;
  }
}
