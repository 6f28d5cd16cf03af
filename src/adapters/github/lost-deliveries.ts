import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { Log } from "../../core/basics/log.ts";
import { parseJson } from "../../core/basics/parse-json.ts";
import type { ReceivedEvent } from "../../core/ports/thread-adapter.ts";
import type { LostEvents, RecoveryStep } from "../../core/threads/inbox/event-recovery.ts";
import type { GithubClient } from "./client.ts";
import { isStored, readEvent } from "./webhook.ts";

const PAGE_SIZE = 30;
/** GitHub keeps deliveries for three days. */
const KEPT_MS = 3 * 24 * 3_600_000;
/** A delivery is listed when it has failed, and the clocks differ. */
const OVERLAP_MS = 15 * 60_000;

/** Octokit reads an integer that a number cannot hold as a bigint. */
const longId = z.union([z.number(), z.bigint()]).transform(String);
const deliveriesAnswer = z.array(
  z.object({
    id: longId,
    guid: z.string(),
    delivered_at: z.iso.datetime({ offset: true }),
    status_code: z.number(),
    event: z.string(),
    action: z.string().nullish(),
  }),
);
const deliveryAnswer = z.object({
  request: z.object({ payload: z.record(z.string(), z.unknown()).nullish() }),
});
type ListedDelivery = z.infer<typeof deliveriesAnswer>[number];

/** A search goes through the list from the newest delivery to the oldest one that an earlier search has not seen. */
const searchSchema = z.object({
  /** In milliseconds since 1970, as the other time. Older deliveries have been searched. */
  sinceMs: z.number(),
  /** Absent: the search is complete. */
  current: z.object({ begunAtMs: z.number(), page: z.string() }).optional(),
});
type Search = z.infer<typeof searchSchema>;

export interface LostDeliveriesDeps {
  readonly client: GithubClient;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * The deliveries of the App's webhook that failed. GitHub does not repeat them, but lists them for three days. The
 * delivery id of an event is the GUID, which all attempts share.
 */
export class LostDeliveries implements LostEvents {
  readonly #deps: LostDeliveriesDeps;

  constructor(deps: LostDeliveriesDeps) {
    this.#deps = deps;
  }

  async *find(cursor: string | undefined, listStored: Parameters<LostEvents["find"]>[1]) {
    const nowMs = this.#deps.now();
    const search = this.#searchOf(cursor);
    const sinceMs = Math.max(search.sinceMs, nowMs - KEPT_MS);
    const { begunAtMs } = search.current ?? { begunAtMs: nowMs };
    let page = search.current?.page;
    do {
      const { deliveries, nextPage } = await this.#list(page);
      const recent = deliveries.filter(({ delivered_at: at }) => Date.parse(at) >= sinceMs);
      // The list begins with the newest.
      const lost = failedOnes(recent).toReversed();
      const stored = await listStored(lost.map(({ guid }) => guid));
      const events = await this.#readAll(lost.filter(({ guid }) => !stored.has(guid)));
      page = recent.length === deliveries.length ? nextPage : undefined;
      const after: Search =
        page === undefined ? { sinceMs: begunAtMs - OVERLAP_MS } : { sinceMs, current: { begunAtMs, page } };
      yield { events, cursor: JSON.stringify(after) } satisfies RecoveryStep;
    } while (page !== undefined);
  }

  #searchOf(cursor = ""): Search {
    const read = searchSchema.safeParse(parseJson(cursor));
    return read.success ? read.data : { sinceMs: 0 };
  }

  /** GitHub refuses the cursor of a page whose deliveries it has deleted. Then the search begins again. */
  async #list(
    page: string | undefined,
  ): Promise<{ readonly deliveries: readonly ListedDelivery[]; readonly nextPage: string | undefined }> {
    const cursor = defined({ cursor: page ? page : undefined });
    try {
      const { nextCursor: nextPage, value: deliveries } = await this.#deps.client.listAsApp({
        route: "GET /app/hook/deliveries",
        parameters: { per_page: PAGE_SIZE, status: "failure", ...cursor },
        answer: deliveriesAnswer,
      });
      return { deliveries, nextPage };
    } catch (error) {
      if (page !== undefined && isFinal(error)) {
        return this.#list(undefined);
      }
      throw error;
    }
  }

  async #readAll(deliveries: readonly ListedDelivery[]): Promise<readonly ReceivedEvent[]> {
    const events: ReceivedEvent[] = [];
    for (const delivery of deliveries) {
      const event = await this.#read(delivery);
      if (event !== undefined) {
        events.push(event);
      }
    }
    return events;
  }

  /** Undefined: it can no longer be read, or is none that the webhook would store. */
  async #read({ event: name, guid: deliveryId, id }: ListedDelivery): Promise<ReceivedEvent | undefined> {
    const route = "GET /app/hook/deliveries/{delivery_id}";
    const parameters = { delivery_id: id };
    try {
      const { request } = await this.#deps.client.asApp({ route, parameters, answer: deliveryAnswer });
      const read = readEvent({ name, deliveryId, body: JSON.stringify(request.payload ?? {}, asNumber) });
      return read.kind === "event" ? read.event : undefined;
    } catch (error) {
      if (!isFinal(error)) {
        throw error;
      }
      this.#deps.log.warn("github.delivery.not_read", { deliveryId, error });
      return undefined;
    }
  }
}

/** One attempt of each delivery. */
function failedOnes(deliveries: readonly ListedDelivery[]): readonly ListedDelivery[] {
  const failed = deliveries.filter(
    ({ action, event, status_code: code }) => (code < 200 || code >= 300) && isStored(event, action ?? ""),
  );
  return [...new Map(failed.map((delivery) => [delivery.guid, delivery])).values()];
}

function asNumber(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}

function isFinal(error: unknown): boolean {
  return error instanceof AppError && !error.retryable;
}
