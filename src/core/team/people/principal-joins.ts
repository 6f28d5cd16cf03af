import type { Log } from "../../basics/log.ts";
import { type IdentityLink, OWN_SUBJECTS } from "../../model/people/identity.ts";
import type { Principal } from "../../model/people/principal.ts";
import type { PeopleStore } from "../../ports/stores/people-stores.ts";
import type { PrincipalJoin, PrincipalJoinStore, RebindTools } from "../../ports/stores/principal-joins.ts";

export interface PrincipalJoinsDeps extends RebindTools {
  readonly storage: {
    readonly people: Pick<PeopleStore, "getMany">;
    readonly principalJoins: PrincipalJoinStore;
  };
  readonly log: Log;
}

/** The accounts that a platform proved to be of one person, who wrote with the first of them. */
export interface PersonOf {
  readonly subject: string;
  readonly aliases?: readonly string[] | undefined;
}

/** Joins the principals that the accounts of one person had before the platform said that they are of one person. */
export class PrincipalJoins {
  readonly #deps: PrincipalJoinsDeps;

  constructor(deps: PrincipalJoinsDeps) {
    this.#deps = deps;
  }

  /** The principal of the person afterwards. A join that fails is tried again with the next message of the person. */
  async joinedOf(principal: Principal, { aliases = [], subject }: PersonOf): Promise<Principal> {
    const { id, teamId } = principal;
    if (aliases.length === 0) {
      return principal;
    }
    const { box, digest, log, storage } = this.#deps;
    const subjects = [subject, ...aliases];
    const join = () =>
      storage.principalJoins.join({ teamId, subjects }, (...all) => chooseJoin(subjects, ...all), {
        box,
        digest,
      });
    try {
      let result = await join();
      while (result.isJoined) {
        result = await join();
      }
      // Another process may have joined it after the caller looked it up.
      const { principalId = id } = result;
      return principalId === id ? principal : ((await storage.people.getMany([principalId]))[0] ?? principal);
    } catch (error) {
      log.warn("principals.not_joined", { principalId: id, error });
      return principal;
    }
  }

  /** As `PrincipalJoinStore.moveRest`. */
  async prune(): Promise<number> {
    const { box, digest, storage } = this.#deps;
    return storage.principalJoins.moveRest({ box, digest });
  }
}

/**
 * Only principals with the same rights are joined, and no link that an administrator made is changed. So a join gives
 * nobody a right, and takes none away. The other ones stay two until an administrator links an account.
 */
export function chooseJoin(
  subjects: readonly string[],
  principals: readonly Principal[],
  links: readonly IdentityLink[],
): PrincipalJoin | undefined {
  const platforms = new Set(subjects.map(platformOf));
  const linksOf = ({ id }: Principal) => links.filter(({ principalId }) => principalId === id);
  const isShared = (principal: Principal) =>
    linksOf(principal).some(
      ({ subject }) => platforms.has(platformOf(subject)) && !subjects.includes(subject),
    );
  const isFixed = (principal: Principal) =>
    linksOf(principal).some(
      ({ linkedAt, subject }) => linkedAt !== undefined || subject.startsWith(OWN_SUBJECTS),
    );
  const candidates = principals
    .filter((principal) => principal.type === "user" && !principal.disabled && !isShared(principal))
    .sort((one, other) => Number(isFixed(other)) - Number(isFixed(one)) || +one.createdAt - +other.createdAt);
  for (const [index, into] of candidates.entries()) {
    const from = candidates
      .slice(index + 1)
      .find((other) => !isFixed(other) && rightsOf(other) === rightsOf(into));
    if (from !== undefined) {
      return { from, into };
    }
  }
  return undefined;
}

function platformOf(subject: string): string {
  return subject.slice(0, subject.indexOf(":"));
}

function rightsOf({ administrator, groups = [] }: Principal): string {
  return JSON.stringify([administrator, [...groups].sort()]);
}
