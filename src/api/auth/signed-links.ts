import { z } from "zod";
import type { Clock } from "../../core/basics/clock.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { PrincipalId, RunId, TeamId } from "../../core/basics/ids.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import { Signer } from "../http/signer.ts";

const LIFETIME_SECONDS = 5 * 60;

/** What a link opens: one item of one run. */
export interface LinkTarget {
  readonly runId: RunId;
  readonly teamId: TeamId;
  /** The item, if the run has several of the kind. */
  readonly id?: string;
}

/** The query of a signed link: the team and run that it opens, its expiry and the signature. */
export interface Signature {
  readonly run: string;
  readonly team: string;
  readonly expires: string;
  readonly signature: string;
}

/** Links that work for a short time without a key. They are given to callers that may read the target. */
export class SignedLinks {
  readonly #signer: Signer;
  readonly #clock: Clock;

  constructor(parts: { readonly sessionSecret: string; readonly clock: Clock }, purpose: string) {
    this.#signer = new Signer(parts.sessionSecret, purpose);
    this.#clock = parts.clock;
  }

  sign(path: string, target: LinkTarget): string {
    return this.signUntil(path, target).url;
  }

  signUntil(path: string, target: LinkTarget): { readonly url: string; readonly expiresAt: Date } {
    const { runId: run, teamId: team, id } = target;
    const seconds = Math.floor(this.#clock.now().getTime() / 1_000) + LIFETIME_SECONDS;
    const expires = String(seconds);
    const signature = this.#signer.sign(textOf({ run, team, expires }, id));
    const url = `${path}?${new URLSearchParams({ run, team, expires, signature })}`;
    return { url, expiresAt: new Date(seconds * 1_000) };
  }

  /** Returns a viewer that sees only the run of the link. Throws if the link is not valid or has expired. */
  open(query: Signature, id?: string): Viewer & { readonly onlyRunId: RunId } {
    const isOurs = this.#signer.verify(textOf(query, id), query.signature);
    if (!isOurs || Number(query.expires) * 1_000 <= this.#clock.now().getTime()) {
      throw notOpen();
    }
    const { run, team } = query;
    const onlyRunId = run as RunId;
    return { id: run as PrincipalId, teamId: team as TeamId, administrator: false, onlyRunId };
  }
}

function textOf({ run, team, expires }: Omit<Signature, "signature">, id = ""): string {
  return [run, team, id, expires].join("\n");
}

function notOpen(): AppError {
  return new AppError("not_authorized", "This link is no longer valid.", {
    remedy: "Request a new link.",
  });
}

/** The query of a signed address. Only the server reads it. */
export const SignedQuery = z.object({
  run: z.string().describe("Set by the server."),
  team: z.string().describe("Set by the server."),
  expires: z.string().describe("Set by the server."),
  signature: z.string().describe("Set by the server."),
});

export const Redirect = z
  .null()
  .describe("The header `Location` contains an address that works for five minutes without a key.");

/**
 * Returns a `Content-Disposition` that makes browsers save the file instead of showing it. The name is sent twice
 * (RFC 6266): in a reduced form for old clients, without characters that could end the quoted text, and completely.
 */
export function attachmentHeader(fileName: string): string {
  const plain = fileName.replace(/[^\w .()+@=,-]/g, "_");
  const whole = encodeURIComponent(fileName.toWellFormed()).replace(/['()*]/g, escaped);
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
