import type { Clock } from "../../basics/clock.ts";
import type { SecretBox } from "../../basics/crypto.ts";
import type { Log } from "../../basics/log.ts";
import { renewalOwner, type SignIn } from "../../model/people/sign-in.ts";
import { PROOF_MS } from "../../model/people/sign-in-holder.ts";
import type { ProvenAccount, Renewal, SignInProvider } from "../../ports/sign-in-provider.ts";
import type { ClaimedRenewal } from "../../ports/stores/sign-in-store.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import { admitAccount, suspend } from "./admit-account.ts";

export interface SignInRenewalDeps {
  readonly storage: Storage;
  readonly providers: readonly SignInProvider[];
  readonly secrets: Pick<SecretBox, "open" | "seal">;
  readonly clock: Clock;
  readonly log: Log;
}

/** The age of a proof that is renewed. Three attempts fit into the hour after which a refusal counts as a lapse. */
const RENEW_MS = 20 * 60_000;
/** For how long a claim keeps other processes away, and how long a system that did not answer is left alone. */
const CLAIM_MS = 5 * 60_000;
const CLAIMED_MAX = 5;

/**
 * Asks the systems outside whether they still confirm the people whose sign-ins can be renewed without a browser. Several
 * processes may do this at once: each sign-in is claimed by one, because what a system is asked with often works once.
 */
export class SignInRenewals {
  readonly #deps: SignInRenewalDeps;
  #isBusy = false;
  /** Each outage is logged once. */
  #isOutage = false;

  constructor(deps: SignInRenewalDeps) {
    this.#deps = deps;
  }

  async round(): Promise<void> {
    if (this.#isBusy || this.#deps.providers.every(({ again }) => again === undefined)) {
      return;
    }
    this.#isBusy = true;
    try {
      let claimed = await this.#claim();
      while (claimed.length > 0) {
        const answers = await Promise.all(claimed.map((claim) => this.#renew(claim)));
        claimed = answers.every(Boolean) ? await this.#claim() : [];
      }
    } catch (error) {
      this.#deps.log.warn("sign-in.renewal.failed", { error });
    } finally {
      this.#isBusy = false;
    }
  }

  #claim(): Promise<readonly ClaimedRenewal[]> {
    const { clock, storage } = this.#deps;
    const now = clock.now();
    return storage.signIns.claimRenewals({
      now,
      provenBefore: new Date(now.getTime() - RENEW_MS),
      until: new Date(now.getTime() + CLAIM_MS),
      limit: CLAIMED_MAX,
    });
  }

  /** Returns whether the system answered. */
  async #renew(claim: ClaimedRenewal): Promise<boolean> {
    const { signIn } = claim;
    const answer = await this.#ask(claim);
    this.#logOutage(answer, signIn);
    switch (answer.outcome) {
      case "proven":
        await this.#admit(signIn, answer.account);
        break;
      case "refused":
        await this.#refuse(claim, answer.reason);
        break;
      case "unclear":
        this.#deps.log.info("sign-in.renewal.unclear", { signInId: signIn.id, reason: answer.reason });
        await this.#deps.storage.signIns.renewed(signIn.id, {});
        break;
      case "unanswered":
        await this.#deps.storage.signIns.renewed(signIn.id, this.#sealed(signIn, answer.renewal));
        return false;
      default:
        answer satisfies never;
    }
    return true;
  }

  async #ask(claim: ClaimedRenewal): Promise<Renewal> {
    const { providers, secrets } = this.#deps;
    const again = providers.find(({ method }) => method === claim.signIn.method)?.again;
    if (again === undefined) {
      return { outcome: "unclear", reason: "This way to sign in is not configured any more." };
    }
    const renewal = this.#opened(secrets, claim);
    return renewal === undefined
      ? { outcome: "unclear", reason: "What was stored for the renewal cannot be read." }
      : again.renew(renewal);
  }

  /** Undefined if its secret key is gone. */
  #opened(box: Pick<SecretBox, "open">, { sealedRenewal, signIn }: ClaimedRenewal): string | undefined {
    try {
      return box.open(sealedRenewal, renewalOwner(signIn.id));
    } catch {
      return undefined;
    }
  }

  /** A person who is no longer admitted is suspended by the admission, or was linked to another principal. */
  async #admit(signIn: SignIn, account: ProvenAccount): Promise<void> {
    const { clock, log, storage } = this.#deps;
    const { id, method, principalId, teamId } = signIn;
    const now = clock.now();
    const admission = await storage.atomically(async (stores) => {
      const admitted = await admitAccount(stores, account, now);
      if (admitted?.principal.id === principalId) {
        await stores.signIns.renewed(id, { provenAt: now, ...this.#sealed(signIn, account.renewal) });
      } else {
        await stores.signIns.end({ teamId, principalId, ids: [id] }, now);
      }
      return admitted;
    }, authorOf(method));
    if (admission?.principal.id !== principalId) {
      log.info("sign-in.ended", { signInId: id, gaps: account.gaps });
    }
    if (admission?.leftNoAdministrator === true) {
      log.warn("team.without_administrator", { teamId });
    }
  }

  /**
   * A refusal soon after a proof is about the person. Later, what the system is asked with may have lapsed while no process
   * ran. It may also be used up by a claim whose answer was lost. A later proof in another browser counts more.
   */
  async #refuse({ isRepeated, signIn }: ClaimedRenewal, reason: string): Promise<void> {
    const { clock, log, storage } = this.#deps;
    const { createdAt, id, method, principalId, provenAt = createdAt, teamId } = signIn;
    const now = clock.now();
    const isSuspended = await storage.atomically(async (stores) => {
      const open = await stores.signIns.listOpen({ teamId, principalId }, now, OPEN_MAX);
      const hasLater = open.some((one) => one.method === method && one.id !== id && proofOf(one) > provenAt);
      const isLapse = isRepeated || hasLater || provenAt.getTime() + PROOF_MS <= now.getTime();
      await (isLapse
        ? stores.signIns.end({ teamId, principalId, ids: [id] }, now)
        : suspend(stores, { id: principalId, teamId }, now));
      return !isLapse;
    }, authorOf(method));
    log.info("sign-in.refused_again", { signInId: id, principalId, isSuspended, reason });
  }

  #sealed({ id }: SignIn, renewal: string | undefined): { readonly sealedRenewal?: string } {
    return renewal === undefined ? {} : { sealedRenewal: this.#deps.secrets.seal(renewal, renewalOwner(id)) };
  }

  #logOutage({ outcome, ...answer }: Renewal, { method }: SignIn): void {
    const isOutage = outcome === "unanswered";
    if (isOutage && !this.#isOutage && "reason" in answer) {
      this.#deps.log.warn("sign-in.provider.unavailable", { method, reason: answer.reason });
    }
    this.#isOutage = isOutage;
  }
}

const OPEN_MAX = 1_000;

function proofOf({ createdAt, provenAt = createdAt }: SignIn): Date {
  return provenAt;
}

/** No person asked for the renewal, so the audit entries name the system. */
function authorOf(method: SignIn["method"]) {
  return { actor: { uid: `sign-in:${method}`, type: "system" } } as const;
}
