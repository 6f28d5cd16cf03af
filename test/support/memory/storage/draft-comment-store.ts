import type { PrincipalId, RunId } from "../../../../src/core/basics/ids.ts";
import type { DraftComment } from "../../../../src/core/model/runs/line-comment.ts";
import type { DraftCommentStore } from "../../../../src/core/ports/stores/draft-comment-store.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";
import type { Tables } from "./tables.ts";

type DraftKey = Pick<DraftComment, "authorId" | "id" | "runId">;

export class InMemoryDraftCommentStore implements DraftCommentStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  list(runId: RunId, authorId: PrincipalId): Promise<readonly DraftComment[]> {
    return this.#database.read(({ draftComments }) =>
      [...draftComments.values()].filter((draft) => draft.runId === runId && draft.authorId === authorId),
    );
  }

  put(draft: DraftComment): Promise<boolean> {
    return this.#database.transaction(({ tables: { draftComments, runs } }) => {
      const before = draftComments.get(keyOf(draft));
      if (!runs.has(draft.runId) || (before !== undefined && before.authorId !== draft.authorId)) {
        return false;
      }
      const { createdAt } = before ?? draft;
      draftComments.set(keyOf(draft), { ...draft, createdAt });
      return true;
    });
  }

  remove(draft: DraftKey): Promise<boolean> {
    return this.#database.transaction(({ tables }) => removeDraft(tables, draft));
  }
}

export function removeDraft({ draftComments }: Tables, draft: Partial<DraftKey>): boolean {
  const key = keyOf(draft);
  return draftComments.get(key)?.authorId === draft.authorId && draftComments.delete(key);
}

function keyOf({ id, runId }: Partial<DraftKey>): string {
  return `${runId} ${id}`;
}
