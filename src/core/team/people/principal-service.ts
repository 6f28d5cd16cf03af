import type { Clock } from "../../basics/clock.ts";
import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import { newId, type PrincipalId, type TeamId } from "../../basics/ids.ts";
import type { Principal, PrincipalType, Viewer } from "../../model/people/principal.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import { hasAdministrator, requireTeam } from "./team-service.ts";

export interface NewPrincipal {
  readonly type: PrincipalType;
  readonly displayName: string;
  readonly email?: string;
  readonly photoUrl?: string;
  readonly administrator: boolean;
  /** Default: the caller's own team. */
  readonly teamId?: TeamId;
}

export type PrincipalChanges = Partial<
  Pick<Principal, "displayName" | "email" | "photoUrl" | "administrator" | "disabled">
>;

export interface PeopleDeps {
  readonly storage: Pick<Storage, "people" | "signIns" | "teams">;
  readonly clock: Clock;
}

/** Administrators manage the users and service accounts of their team through this service. */
export class PrincipalService {
  readonly #deps: PeopleDeps;

  constructor(deps: PeopleDeps) {
    this.#deps = deps;
  }

  async list({ teamId }: Viewer): Promise<readonly Principal[]> {
    return this.#deps.storage.people.list(teamId);
  }

  async get(viewer: Viewer, id: PrincipalId): Promise<Principal> {
    return getPrincipal(this.#deps.storage, viewer.teamId, id);
  }

  async create(viewer: Viewer, { teamId: wantedTeam, ...wanted }: NewPrincipal): Promise<Principal> {
    const { clock, storage } = this.#deps;
    const teamId = await requireTeam(storage, viewer, wantedTeam);
    if (teamId !== viewer.teamId && wanted.administrator) {
      await requireNoAdministrator(storage, teamId);
    }
    const createdAt = clock.now();
    const principal = { ...wanted, id: newId<PrincipalId>(createdAt), teamId, disabled: false, createdAt };
    await storage.people.put(principal);
    return principal;
  }

  /** A disabled principal is signed out in the same transaction. To enable it again does not sign it in. */
  async change({ teamId }: Viewer, id: PrincipalId, changes: PrincipalChanges): Promise<Principal> {
    const { clock, storage } = this.#deps;
    const changed = await storage.people.change(teamId, id, (principal, administrators) => {
      const after = changedByHand(principal, changes);
      requireAnAdministrator(after, administrators);
      return after;
    });
    if (changed?.disabled === true) {
      await storage.signIns.end({ teamId, principalId: id }, clock.now());
    }
    return changed ?? raiseUnknown();
  }
}

/** A principal of the team. A principal of another team is not found. */
export async function getPrincipal(
  { people }: Pick<Storage, "people">,
  teamId: TeamId,
  id: PrincipalId,
): Promise<Principal> {
  const [principal] = await people.getMany([id]);
  return principal?.teamId === teamId ? principal : raiseUnknown();
}

export function raiseUnknown(): never {
  throw new AppError("resource_not_found", "There is no such principal.");
}

/** A role that an administrator sets is not from a group, and what an administrator disables no sign-in enables. */
function changedByHand(principal: Principal, changes: PrincipalChanges): Principal {
  const { suspendedAt, ...rest } = { ...principal, ...changes };
  const isSuspended = changes.disabled === undefined && suspendedAt !== undefined;
  return {
    ...rest,
    ...defined({
      suspendedAt: isSuspended ? suspendedAt : undefined,
      roleFromGroup: changes.administrator === undefined ? undefined : false,
    }),
  };
}

/** An operator appoints the first administrator of a team. After that the team's own administrators do. */
async function requireNoAdministrator(storage: Pick<Storage, "people">, teamId: TeamId): Promise<void> {
  if (await hasAdministrator(storage, teamId)) {
    throw new AppError("not_authorized", "This team has an administrator, who appoints others.", {
      remedy: "Ask an administrator of that team.",
    });
  }
}

/** Without an administrator nobody could appoint another one. */
function requireAnAdministrator(after: Principal, administrators: readonly Principal[]): void {
  const isOne = after.administrator && !after.disabled;
  if (isOne || administrators.some(({ id }) => id !== after.id) || administrators.length === 0) {
    return;
  }
  throw new AppError("invalid_request", "This is the team's last administrator.", {
    remedy: "Make another principal an administrator first.",
  });
}
