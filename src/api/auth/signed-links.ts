import { AppError } from "../../core/errors.ts";
import type { PrincipalId, RunId, TeamId } from "../../core/ids.ts";
import type { Viewer } from "../../core/people/principal.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { Signer } from "./signer.ts";

const LIFETIME_SECONDS = 5 * 60;

/** What a link opens, and nothing else: one thing of one run of one team. */
export interface Linked {
  readonly runId: RunId;
  readonly teamId: TeamId;
  /** Which of the run's things, where it has several. */
  readonly id?: string;
}

/** The part of an address that says who may open it and until when. */
export interface Signature {
  readonly run: string;
  readonly team: string;
  readonly expires: string;
  readonly signature: string;
}

/** Addresses that open without a key for a short while: given to whoever was just allowed to read what they lead to. */
export class SignedLinks {
  readonly #signer: Signer;
  readonly #clock: Clock;

  constructor(parts: { readonly sessionSecret: string; readonly clock: Clock }, purpose: string) {
    this.#signer = new Signer(parts.sessionSecret, purpose);
    this.#clock = parts.clock;
  }

  sign(path: string, { runId: run, teamId: team, id }: Linked): string {
    const expires = String(Math.floor(this.#clock.now().getTime() / 1_000) + LIFETIME_SECONDS);
    const signature = this.#signer.sign(textOf({ run, team, expires }, id));
    return `${path}?${new URLSearchParams({ run, team, expires, signature })}`;
  }

  /** Somebody who sees this one run. Throws when the address is not ours, was changed, or is over. */
  open(given: Signature, id?: string): Viewer & { readonly onlyRunId: RunId } {
    const isOurs = this.#signer.verify(textOf(given, id), given.signature);
    if (!isOurs || Number(given.expires) * 1_000 <= this.#clock.now().getTime()) throw notOpen();
    const { run, team } = given;
    const onlyRunId = run as RunId;
    return { id: run as PrincipalId, teamId: team as TeamId, administrator: false, onlyRunId };
  }
}

function textOf({ run, team, expires }: Omit<Signature, "signature">, id = ""): string {
  return [run, team, id, expires].join("\n");
}

function notOpen(): AppError {
  return new AppError("not_authorized", "This link is not valid any more.", {
    remedy: "Ask for a new one at the address that gave it.",
  });
}
