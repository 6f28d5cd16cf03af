import { AppError } from "../core/basics/errors.ts";
import type { AdapterFacts } from "../core/ports/adapter-facts.ts";
import { type Check, type Finding, fail, ok, warn } from "../core/ports/check.ts";
import type { WebhookArrivals } from "./webhook-route.ts";

/** Checks that are the same for every platform. */

const MS_PER_SECOND = 1_000;
/** Signatures and tokens are refused when the clocks differ by more than one to five minutes. */
const SKEW_WARN_SECONDS = 30;
const SKEW_FAIL_SECONDS = 60;

/** `dateOf`: the value of the header `Date` of an answer of the platform. */
export function clockCheck(
  name: string,
  platform: string,
  dateOf: () => Promise<string | null | undefined>,
  now: () => Date,
): Check {
  return {
    name,
    run: () =>
      explained(async () => {
        const date = Date.parse((await dateOf()) ?? "");
        if (Number.isNaN(date)) {
          return ok(`${platform} does not say what time it is.`);
        }
        const seconds = Math.round(Math.abs(now().getTime() - date) / MS_PER_SECOND);
        if (seconds < SKEW_WARN_SECONDS) {
          return ok(`The clock of this machine and that of ${platform} agree.`);
        }
        const report = seconds < SKEW_FAIL_SECONDS ? warn : fail;
        return report(
          `The clock of this machine differs from that of ${platform} by ${seconds} s.`,
          "Synchronize the clock of this machine, for example with NTP.",
        );
      }),
  };
}

export interface EventsCheckOptions {
  readonly name: string;
  readonly platform: string;
  /** The path of the webhook address. */
  readonly path: string;
  /** The variable with the secret of the signatures. */
  readonly secret: string;
  /** Where the address is set on the platform. */
  readonly setting: string;
}

/** Whether events arrive, and with the right signature. */
export function eventsCheck(
  { name, path, platform, secret, setting }: EventsCheckOptions,
  arrivals: WebhookArrivals,
  facts: AdapterFacts,
): Check {
  return {
    name,
    async run() {
      const { forged, verifiedAt } = arrivals;
      if (forged > 0) {
        const since = verifiedAt === undefined ? "this process started" : verifiedAt.toISOString();
        return warn(
          `${forged} requests had a wrong signature, and none a valid one since ${since}.`,
          `If ${platform} sent them, set ${secret} to the secret that ${platform} shows. Otherwise a stranger sent them.`,
        );
      }
      if (verifiedAt !== undefined) {
        return ok(`${platform} last sent a request with a valid signature at ${verifiedAt.toISOString()}.`);
      }
      const stored = await facts.lastEventAt();
      if (stored !== undefined) {
        return ok(
          `Nothing has come since this process started. The last event came at ${stored.toISOString()}.`,
        );
      }
      return warn(
        `No event of ${platform} has come yet.`,
        `Set ${setting} to ${facts.publicUrl()}${path}, and see that ${platform} reaches this address.`,
      );
    },
  };
}

/** An expected failure becomes the result of the check. */
export async function explained(look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof AppError)) {
      throw error;
    }
    const { remedy = "Look whether this machine reaches the platform, and at the platform's own status." } =
      error.options;
    return fail(error.message, remedy);
  }
}

/** Checks run at the same time. Those that need the same answer share one call. */
export function shared<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let pending: Promise<Value> | undefined;
  return () => {
    pending ??= ask().finally(() => {
      pending = undefined;
    });
    return pending;
  };
}
