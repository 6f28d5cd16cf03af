import { AppError } from "../errors.ts";
import type { TeamId } from "../ids.ts";
import type { Storage } from "../storage.ts";
import type { Installation } from "./installation.ts";
import { isOperator, type Viewer } from "./principal.ts";
import { requireTeam } from "./require-team.ts";

export interface InstallationChanges {
  readonly name?: string;
  readonly enabled?: boolean;
  /** Only operators may assign an installation to another team. */
  readonly teamId?: TeamId;
}

/**
 * Manages the outside workspaces and organisations of a team. Operators see all of them, because they assign them.
 * Changes run inside a transaction, so that an installation is not reassigned in between.
 */
export class InstallationService {
  readonly #storage: Pick<Storage, "installations" | "teams">;

  constructor(storage: Pick<Storage, "installations" | "teams">) {
    this.#storage = storage;
  }

  async list(viewer: Viewer): Promise<readonly Installation[]> {
    return this.#storage.installations.list(isOperator(viewer) ? undefined : viewer.teamId);
  }

  async change(viewer: Viewer, id: string, changes: InstallationChanges): Promise<Installation> {
    const known = await this.#storage.installations.lock(id);
    if (known === undefined || !isSeen(known, viewer)) {
      throw new AppError("resource_not_found", "There is no such installation.");
    }
    const { teamId: wanted = known.teamId, ...others } = changes;
    const teamId = wanted === known.teamId ? known.teamId : await requireTeam(this.#storage, viewer, wanted);
    const changed = { ...known, ...others, teamId };
    await this.#storage.installations.update(changed);
    return changed;
  }
}

function isSeen({ teamId }: Installation, viewer: Viewer): boolean {
  return isOperator(viewer) || teamId === viewer.teamId;
}
