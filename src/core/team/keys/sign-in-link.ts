import type { Clock } from "../../basics/clock.ts";
import type { Digest } from "../../basics/crypto.ts";
import { idOfDigest, newId } from "../../basics/ids.ts";
import type { Principal } from "../../model/people/principal.ts";
import type { SignInLinkStore } from "../../ports/stores/sign-in-store.ts";

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
