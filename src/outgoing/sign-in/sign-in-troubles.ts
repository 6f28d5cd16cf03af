import { type Check, ok, warn } from "../../core/ports/check.ts";
import { PersonNeeded, type ProvenAccount } from "../../core/ports/sign-in-provider.ts";

/** What went wrong at the sign-ins of one issuer since the last one that let a person in, for the doctor. */
export class SignInTroubles {
  readonly check: Check;
  #count = 0;
  #reasons: readonly string[] = [];

  constructor(name: string) {
    this.check = { name: "sign_in", run: async () => this.#finding(name) };
  }

  /** An account that an administrator linked may be let in without a membership. */
  async watch(prove: () => Promise<ProvenAccount>): Promise<ProvenAccount> {
    try {
      const account = await prove();
      const { gaps = [], memberships } = account;
      if (memberships.length > 0) {
        this.#count = 0;
      } else if (gaps.length > 0) {
        this.#note(gaps);
      }
      return account;
    } catch (error) {
      if (!(error instanceof PersonNeeded) && error instanceof Error) {
        this.#note([error.cause instanceof Error ? error.cause.message : error.message]);
      }
      throw error;
    }
  }

  #note(reasons: readonly string[]): void {
    this.#count += 1;
    this.#reasons = reasons;
  }

  #finding(name: string) {
    return this.#count === 0
      ? ok(`No sign-in with ${name} has failed since the last one that worked.`)
      : warn(
          `Sign-ins with ${name} that let nobody in since the last one that worked: ${this.#count}. The last one: ${this.#reasons.join(" ")}`,
          "What each issuer needs is in docs/guides/single-sign-on.md. The log has a line for each: sign-in.unproven and sign-in.refused.",
        );
  }
}
