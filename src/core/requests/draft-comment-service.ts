import type { Clock } from "../basics/clock.ts";
import { AppError } from "../basics/errors.ts";
import type { RunId } from "../basics/ids.ts";
import type { Viewer } from "../model/people/principal.ts";
import { requireVisible } from "../model/policies/visibility.ts";
import type { DraftComment, LineComment } from "../model/runs/line-comment.ts";
import type { Storage } from "../ports/stores/storage.ts";
import { COMMENTS_MAX, requireComment } from "../runs/comment-text.ts";

export interface DraftCommentDeps {
  readonly storage: Pick<Storage, "draftComments" | "runs">;
  readonly clock: Clock;
}

/** The comments of a person on a run that wait to be sent together. Only this person sees them. */
export class DraftCommentService {
  readonly #deps: DraftCommentDeps;

  constructor(deps: DraftCommentDeps) {
    this.#deps = deps;
  }

  async list(viewer: Viewer, runId: RunId): Promise<readonly DraftComment[]> {
    await this.#requireRun(viewer, runId);
    return this.#deps.storage.draftComments.list(runId, viewer.id);
  }

  /** Adds the comment, or replaces the one with this id. The caller keeps other changes of these drafts out. */
  async put(viewer: Viewer, runId: RunId, id: string, comment: LineComment): Promise<DraftComment> {
    requireComment(comment);
    const { clock, storage } = this.#deps;
    const drafts = await this.list(viewer, runId);
    const before = drafts.find((draft) => draft.id === id);
    if (before === undefined && drafts.length >= COMMENTS_MAX) {
      throw new AppError("invalid_request", `You have ${COMMENTS_MAX} comments on this run already.`, {
        remedy: "Send them, or delete one.",
      });
    }
    const now = clock.now();
    const { createdAt } = before ?? { createdAt: now };
    const draft = { id, runId, authorId: viewer.id, comment, createdAt, updatedAt: now };
    if (!(await storage.draftComments.put(draft))) {
      throw new AppError("resource_not_found", "There is no such draft.");
    }
    return draft;
  }

  async remove(viewer: Viewer, runId: RunId, id: string): Promise<void> {
    await this.#requireRun(viewer, runId);
    if (!(await this.#deps.storage.draftComments.remove({ id, runId, authorId: viewer.id }))) {
      throw new AppError("resource_not_found", "There is no such draft.");
    }
  }

  async #requireRun(viewer: Viewer, id: RunId): Promise<void> {
    requireVisible(await this.#deps.storage.runs.find({ id }), viewer);
  }
}
