import type { PrincipalId, RunId } from "../../basics/ids.ts";
import type { DraftComment } from "../../model/runs/line-comment.ts";

export interface DraftCommentStore {
  /** The oldest first. */
  list(runId: RunId, authorId: PrincipalId): Promise<readonly DraftComment[]>;
  /** Replaces the author's draft with this id, which keeps its time. False: the run is gone, or the id is another's. */
  put(draft: DraftComment): Promise<boolean>;
  /** False: the author has no such draft. */
  remove(draft: Pick<DraftComment, "authorId" | "id" | "runId">): Promise<boolean>;
}
