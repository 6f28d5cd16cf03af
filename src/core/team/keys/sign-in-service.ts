import type { Clock } from "../../basics/clock.ts";
import type { Digest } from "../../basics/crypto.ts";
import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import { idOfDigest, newId, type PrincipalId } from "../../basics/ids.ts";
import type { Principal, Viewer } from "../../model/people/principal.ts";
import { renewalOwner, type SignIn } from "../../model/people/sign-in.ts";
import type { SignInLinkStore, SignInSecrets } from "../../ports/stores/sign-in-store.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import { getPrincipal } from "../people/principal-service.ts";

export interface SignInDeps {
  readonly storage: Pick<Storage, "people" | "signIns">;
  readonly clock: Clock;
}

/** Where a sign-in comes from: how the principal proved who it is, and the request. */
export type NewSignIn = Pick<SignIn, "method" | "keyId" | "address" | "userAgent"> &
  Pick<SignInSecrets, "tokenHash" | "attemptHash"> & {
    /** Seals what the identity provider is asked with later. Absent: there is nothing to ask with. */
    readonly sealRenewal?: (owner: string) => string;
  };

/** How long a sign-in lasts. */
export const SIGN_IN_MS = 12 * 3_600_000;
/** The open sign-ins of one principal. A further one ends the one that was not used for the longest time. */
const OPEN_MAX = 100;
/** The sign-ins in one list. */
const LISTED_MAX = 1_000;
const USER_AGENT_MAX = 500;

/** Manages sign-ins to the pages. Administrators manage all of their team, other principals their own. */
export class SignInService {
  readonly #deps: SignInDeps;

  constructor(deps: SignInDeps) {
    this.#deps = deps;
  }

  /** Signs the principal in. The caller has verified who it is and makes the token, whose hash is stored. */
  async create({ id, teamId }: Principal, wanted: NewSignIn): Promise<SignIn> {
    const { attemptHash, sealRenewal, tokenHash, userAgent, ...origin } = wanted;
    const { clock, storage } = this.#deps;
    const now = clock.now();
    const times = { createdAt: now, lastSeenAt: now, expiresAt: new Date(now.getTime() + SIGN_IN_MS) };
    const agent = userAgent === undefined ? {} : { userAgent: userAgent.slice(0, USER_AGENT_MAX) };
    const signIn = { id: newId(now), teamId, principalId: id, ...origin, ...agent, ...times };
    const secrets = defined({
      tokenHash,
      attemptHash,
      sealedRenewal: sealRenewal === undefined ? undefined : sealRenewal(renewalOwner(signIn.id)),
    });
    if (!(await storage.signIns.add(signIn, secrets))) {
      throw new AppError("authentication_required", "This sign-in was used already.", {
        remedy: "Sign in again.",
      });
    }
    await this.#endOldest(signIn);
    return signIn;
  }

  /** The open sign-ins that the viewer manages. The last seen come first. */
  async list(viewer: Viewer): Promise<readonly SignIn[]> {
    const { clock, storage } = this.#deps;
    return storage.signIns.listOpen(managedBy(viewer), clock.now(), LISTED_MAX);
  }

  async end(viewer: Viewer, id: string): Promise<void> {
    const { clock, storage } = this.#deps;
    if ((await storage.signIns.end({ ...managedBy(viewer), ids: [id] }, clock.now())) === 0) {
      throw new AppError("resource_not_found", "There is no such sign-in.");
    }
  }

  async endAllOf(viewer: Viewer, principalId: PrincipalId): Promise<void> {
    const { clock, storage } = this.#deps;
    const { id, teamId } = await getPrincipal(storage, viewer.teamId, principalId);
    if (!viewer.administrator && id !== viewer.id) {
      throw new AppError("not_authorized", "Only an administrator may sign other principals out.");
    }
    await storage.signIns.end({ teamId, principalId: id }, clock.now());
  }

  async #endOldest({ createdAt: now, principalId, teamId }: SignIn): Promise<void> {
    const { signIns } = this.#deps.storage;
    const open = await signIns.listOpen({ teamId, principalId }, now, LISTED_MAX);
    const ids = open.slice(OPEN_MAX).map(({ id }) => id);
    if (ids.length > 0) {
      await signIns.end({ teamId, principalId, ids }, now);
    }
  }
}

function managedBy({ administrator, id, teamId }: Viewer) {
  return administrator ? { teamId } : { teamId, principalId: id };
}

/** How long a link can be used. */
const SIGN_IN_LINK_MS = 10 * 60_000;

export interface SignInLinkDeps {
  readonly storage: { readonly signInLinks: SignInLinkStore };
  readonly clock: Clock;
  readonly digest: Digest;
  /** Returns a new token with its stored form. */
  readonly makeToken: () => { readonly token: string; readonly hash: string };
  readonly publicUrl: () => string;
}

/** The account that asks for a link, and the platform's id of what it sent. */
export interface LinkRequest {
  readonly subject: string;
  readonly requestId: string;
}

/**
 * Returns the address of a page that signs the principal in. The caller has verified who the principal is, and shows
 * the address to nobody else. Undefined: the request got its link before, and a copy of it gets none. Opening the page
 * does not use the link up, because previews of messages open it too.
 */
export async function createSignInLink(
  { clock, digest, makeToken, publicUrl, storage }: SignInLinkDeps,
  { id: principalId, teamId }: Pick<Principal, "id" | "teamId">,
  request?: LinkRequest,
): Promise<{ readonly url: string; readonly expiresAt: Date } | undefined> {
  const { hash, token } = makeToken();
  const createdAt = clock.now();
  const expiresAt = new Date(createdAt.getTime() + SIGN_IN_LINK_MS);
  const id =
    request === undefined ? newId(createdAt) : idOfDigest(digest(`${request.subject} ${request.requestId}`));
  const asker = request === undefined ? {} : { subject: request.subject };
  const link = { id, teamId, principalId, createdAt, expiresAt, ...asker };
  if (!(await storage.signInLinks.add(link, hash))) {
    return undefined;
  }
  return { url: `${publicUrl()}/signin/link?token=${token}`, expiresAt };
}
