import type { Clock } from "../../basics/clock.ts";
import { AppError, invalidMember } from "../../basics/errors.ts";
import type { PrincipalId, TeamId } from "../../basics/ids.ts";
import { isAlive } from "../../model/people/api-key.ts";
import { type IdentityLink, OWN_SUBJECTS } from "../../model/people/identity.ts";
import type { Principal, Viewer } from "../../model/people/principal.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import { getPrincipal } from "./principal-service.ts";

export interface IdentityDeps {
  readonly storage: Pick<Storage, "identities" | "people" | "keys">;
  readonly clock: Clock;
}

/** Manages which outside accounts belong to which principal. */
export class IdentityService {
  readonly #deps: IdentityDeps;

  constructor(deps: IdentityDeps) {
    this.#deps = deps;
  }

  async list({ teamId }: Viewer): Promise<readonly IdentityLink[]> {
    const links = await this.#deps.storage.identities.list(teamId);
    return links.filter(({ subject }) => !subject.startsWith(OWN_SUBJECTS));
  }

  /**
   * Links the account to the principal. Runs keep their creator. A principal without any account and key is disabled,
   * because it can no longer be used.
   */
  async link({ teamId }: Viewer, subject: string, principalId: PrincipalId): Promise<IdentityLink> {
    const { identities } = this.#deps.storage;
    requireForeign(subject);
    requireEnabled(await getPrincipal(this.#deps.storage, teamId, principalId));
    const before = await identities.find(teamId, subject);
    const link = await identities.link(teamId, subject, principalId);
    if (before !== undefined && before.principalId !== principalId) {
      await this.#retire(teamId, before.principalId);
    }
    return link;
  }

  /** The account's next message creates a new principal. */
  async unlink(viewer: Viewer, id: string): Promise<void> {
    const isSeen = (await this.list(viewer)).some((link) => link.id === id);
    if (isSeen && (await this.#deps.storage.identities.unlink(viewer.teamId, id))) {
      return;
    }
    throw new AppError("resource_not_found", "There is no such link.");
  }

  async #retire(teamId: TeamId, id: PrincipalId): Promise<void> {
    const { identities, people } = this.#deps.storage;
    const hasAccount = (await identities.list(teamId)).some(({ principalId }) => principalId === id);
    if (hasAccount || (await this.#hasKey(teamId, id))) {
      return;
    }
    await people.change(teamId, id, (principal) => ({
      ...principal,
      disabled: principal.disabled || !principal.administrator,
    }));
  }

  async #hasKey(teamId: TeamId, id: PrincipalId): Promise<boolean> {
    const { clock, storage } = this.#deps;
    const [principal] = await storage.people.getMany([id]);
    const keys = (await storage.keys.list(teamId)).filter(({ principalId }) => principalId === id);
    return keys.some((key) => principal !== undefined && isAlive({ key, principal }, clock.now()));
  }
}

function requireForeign(subject: string): void {
  if (subject.startsWith(OWN_SUBJECTS)) {
    throw invalidMember("subject", "is not that of an outside account");
  }
}

function requireEnabled({ disabled }: Principal): void {
  if (!disabled) {
    return;
  }
  throw new AppError("invalid_request", "This principal is disabled.", { remedy: "Enable it first." });
}
