import { AppError } from "../../basics/errors.ts";
import type { TeamId } from "../../basics/ids.ts";
import type { Installation } from "../../model/people/installation.ts";
import { isOperator, type Viewer } from "../../model/people/principal.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import { hasAdministrator, requireTeam } from "./team-service.ts";

export interface InstallationChanges {
  readonly name?: string;
  readonly enabled?: boolean;
  /** An operator names the team that gets the installation. An administrator of that team names it to accept. */
  readonly teamId?: TeamId;
}

/**
 * Manages the outside workspaces and organisations of a team. Operators see all of them, because they assign them. A
 * team with an administrator gets an installation only with the administrator's consent: messages from there start runs
 * with the secrets of the team. Changes run inside a transaction, so that an installation is not reassigned in between.
 */
export class InstallationService {
  readonly #storage: Pick<Storage, "installations" | "people" | "teams">;

  constructor(storage: Pick<Storage, "installations" | "people" | "teams">) {
    this.#storage = storage;
  }

  async list(viewer: Viewer): Promise<readonly Installation[]> {
    const { installations } = this.#storage;
    if (isOperator(viewer)) {
      return installations.list();
    }
    const { teamId } = viewer;
    return [...(await installations.list(teamId)), ...(await installations.listOffered(teamId))];
  }

  async get(viewer: Viewer, id: string): Promise<Installation> {
    const found = (await this.list(viewer)).find((installation) => installation.id === id);
    if (found === undefined) {
      throw notFound();
    }
    return found;
  }

  async change(viewer: Viewer, id: string, changes: InstallationChanges): Promise<Installation> {
    const known = await this.#storage.installations.lock(id);
    if (known === undefined || !isSeen(known, viewer)) {
      throw notFound();
    }
    const { teamId: wanted, ...others } = changes;
    const assigned = wanted === undefined ? known : await this.#assign(viewer, known, wanted);
    await this.#requireConsent(viewer, assigned, others);
    const changed = { ...assigned, ...others };
    await this.#storage.installations.update(changed);
    return changed;
  }

  /** Naming the present team takes an offer back. */
  async #assign(viewer: Viewer, installation: Installation, wanted: TeamId): Promise<Installation> {
    const teamId = await requireTeam(this.#storage, viewer, wanted);
    const { offeredTo: _, ...owned } = installation;
    const needsConsent =
      teamId !== installation.teamId &&
      teamId !== viewer.teamId &&
      (await hasAdministrator(this.#storage, teamId));
    return needsConsent ? { ...installation, offeredTo: teamId } : { ...owned, teamId };
  }

  async #requireConsent(
    viewer: Viewer,
    { enabled: wasEnabled, teamId }: Installation,
    { enabled, name }: Omit<InstallationChanges, "teamId">,
  ): Promise<void> {
    if (teamId === viewer.teamId) {
      return;
    }
    if (!isOperator(viewer) && (enabled !== undefined || name !== undefined)) {
      throw new AppError("not_authorized", "This installation is only offered to your team.", {
        remedy: "Accept it with the uid of your team as team_uid.",
      });
    }
    if (enabled === true && !wasEnabled && (await hasAdministrator(this.#storage, teamId))) {
      throw new AppError("not_authorized", "Only an administrator of its team enables this installation.");
    }
  }
}

function notFound(): AppError {
  return new AppError("resource_not_found", "There is no such installation.");
}

function isSeen({ offeredTo, teamId }: Installation, viewer: Viewer): boolean {
  return isOperator(viewer) || teamId === viewer.teamId || offeredTo === viewer.teamId;
}
