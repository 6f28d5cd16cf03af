import type { FastifyReply, FastifyRequest } from "fastify";
import type { OpenShareLink } from "../../core/model/people/share-link.ts";
import type { Run } from "../../core/model/runs/run.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import type { ShareLinkService } from "../../core/team/keys/share-link-service.ts";
import type { KeyHasher } from "./api-keys.ts";
import { SignedCookie, type SignedCookieDeps } from "./cookies.ts";

export interface GuestsDeps extends SignedCookieDeps {
  readonly links: ShareLinkService;
  readonly hashKey: KeyHasher;
  readonly formerHashers: readonly KeyHasher[];
}

interface Opened {
  readonly link: OpenShareLink;
  readonly tokenHash: string;
}

/**
 * People without an account who have a share link. The browser exchanges the link's token for a cookie, which it
 * sends only with the addresses of that run. Therefore one browser can use several links and a session at the same
 * time.
 */
export class Guests {
  readonly #deps: GuestsDeps;
  readonly #cookie: SignedCookie;

  constructor(deps: GuestsDeps) {
    this.#deps = deps;
    this.#cookie = new SignedCookie(deps, {
      name: "errand_share",
      purpose: "share-cookie",
      securePrefix: "__Secure-",
    });
  }

  /** Returns the link with this token if it is still valid. A link of an earlier secret key is stored under the present one. */
  async findByToken(token: string): Promise<Opened | undefined> {
    const { formerHashers, hashKey, links } = this.#deps;
    const tokenHash = hashKey(token);
    const present = await links.open(tokenHash);
    if (present !== undefined) {
      return { link: present, tokenHash };
    }
    for (const hashFormerly of formerHashers) {
      const link = await links.open(hashFormerly(token));
      if (link !== undefined) {
        await links.rehash(link, tokenHash);
        return { link, tokenHash };
      }
    }
    return undefined;
  }

  /** Returns the link of the browser's cookie. The link is read each time, because it may have been deleted. */
  async findByCookie(request: FastifyRequest): Promise<OpenShareLink | undefined> {
    const tokenHash = this.#cookie.read(request);
    return tokenHash === undefined ? undefined : this.#deps.links.open(tokenHash);
  }

  /** Sets the cookies that let the browser see the run until the link expires. */
  issueCookies(
    reply: FastifyReply,
    { link, tokenHash }: Opened,
    { id, sessionId }: Pick<Run, "id" | "sessionId">,
  ): void {
    const leftMs = link.expiresAt.getTime() - this.#deps.clock.now().getTime();
    const paths = [`/api/v1/agent/runs/${id}`, `/sessions/${sessionId}`];
    for (const path of paths) {
      this.#cookie.issue(reply, tokenHash, Math.ceil(leftMs / 1_000), path);
    }
  }
}

/** Returns the address of a shared session. Everyone who has it can see the run. */
export function shareUrl(publicUrl: string, sessionId: string, token: string): string {
  return `${publicUrl}/sessions/${sessionId}?share=${token}`;
}

export function hasShareToken(request: FastifyRequest): boolean {
  return tokenIn(request) !== undefined;
}

/** A route with an id in its address. */
export interface ById {
  Params: { readonly id: string };
}

/**
 * Exchanges the token in the address of a session for a cookie and redirects. The token is then not in an address
 * that is bookmarked, shown on a screen or passed on.
 */
export function takeShareToken(
  { storage }: { readonly storage: Storage },
  guests: Guests,
): (request: FastifyRequest<ById>, reply: FastifyReply) => Promise<unknown> {
  return async (request, reply) => {
    const token = tokenIn(request);
    const opened = token === undefined ? undefined : await guests.findByToken(token);
    const run = opened && (await storage.runs.find({ id: opened.link.runId }));
    const { id } = request.params;
    if (opened === undefined || run?.sessionId !== id.toLowerCase()) {
      return undefined;
    }
    guests.issueCookies(reply, opened, run);
    return reply.redirect(`/sessions/${run.sessionId}`, 303);
  };
}

function tokenIn({ query }: FastifyRequest): string | undefined {
  const { share } = Object(query);
  return typeof share === "string" ? share : undefined;
}
