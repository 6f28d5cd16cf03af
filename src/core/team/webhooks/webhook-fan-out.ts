import { newId, type TeamId } from "../../basics/ids.ts";
import type { Log } from "../../basics/log.ts";
import { type NewWebhookDelivery, typeOf, type WebhookEndpoint } from "../../model/webhooks/webhook.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import type { LogPart, VisibleEvent, VisibleRun } from "../../ports/stores/webhook-stores.ts";
import { type MessageTools, runMessage } from "./webhook-message.ts";

export interface WebhookFanOutDeps extends MessageTools {
  readonly storage: Pick<Storage, "atomically">;
  readonly log: Log;
}

/**
 * One transaction handles this many events. It creates deliveries for all endpoints of their teams, which may be
 * many.
 */
const PART_EVENTS = 100;
/** The time of an event is the start of its transaction. */
const TRANSACTION_MS = 10_000;

/**
 * Follows the log of all runs and creates deliveries: each state change once for each endpoint that subscribes to it.
 * Runs do not know about webhooks.
 */
export class WebhookFanOut {
  readonly #deps: WebhookFanOutDeps;
  #round: Promise<void> | undefined;

  constructor(deps: WebhookFanOutDeps) {
    this.#deps = deps;
  }

  /** Reads to the end of the log, one round at a time. The next round retries what failed. */
  round(): Promise<void> {
    this.#round ??= this.#read()
      .catch((error) => this.#deps.log.warn("webhook.fan_out.failed", { error }))
      .finally(() => {
        this.#round = undefined;
      });
    return this.#round;
  }

  async #read(): Promise<void> {
    while (await this.#readOn()) {}
  }

  #readOn(): Promise<boolean> {
    return this.#deps.storage.atomically(async (storage) => {
      const { stateChanges, hasMore } = await storage.webhooks.log.next(PART_EVENTS);
      await storage.webhooks.outbox.add(await this.#deliveriesOf(storage, stateChanges));
      return hasMore;
    });
  }

  async #deliveriesOf(
    storage: Pick<Storage, "webhooks">,
    stateChanges: LogPart["stateChanges"],
  ): Promise<readonly NewWebhookDelivery[]> {
    const endpoints = await endpointsFor(storage, stateChanges);
    return stateChanges.flatMap(({ event, run }) =>
      [...(endpoints.ofTeams.get(run.teamId) ?? []), ...(endpoints.ofRuns.get(run.id) ?? [])]
        .filter((endpoint) => isWanted(endpoint, run, event))
        .map(({ id: endpointId }) => ({
          id: newId(event.at),
          endpointId,
          about: { runId: run.id, seq: event.seq },
          ...runMessage(run, event, this.#deps),
        })),
    );
  }
}

/** One query for all runs, and one for each team. */
async function endpointsFor({ webhooks }: Pick<Storage, "webhooks">, stateChanges: LogPart["stateChanges"]) {
  const runIds = [...new Set(stateChanges.map(({ run }) => run.id))];
  const ofRuns = Map.groupBy(
    runIds.length === 0 ? [] : await webhooks.runEndpoints.list(runIds),
    ({ runId }) => runId,
  );
  const ofTeams = new Map<TeamId, readonly WebhookEndpoint[]>();
  for (const teamId of new Set(stateChanges.map(({ run }) => run.teamId))) {
    ofTeams.set(teamId, await webhooks.endpoints.list(teamId));
  }
  return { ofRuns, ofTeams };
}

function isWanted(
  { createdAt, enabled, events, runId }: WebhookEndpoint,
  { teamOwned }: Pick<VisibleRun, "teamOwned">,
  { at, body }: VisibleEvent,
): boolean {
  if (runId !== undefined) {
    return enabled;
  }
  // An endpoint of the team is visible to every member, so private runs are left out. If no worker ran for a while,
  // the log contains events from before the endpoint existed.
  const isNew = at.getTime() > createdAt.getTime() - TRANSACTION_MS;
  return enabled && teamOwned && events.includes(typeOf(body)) && isNew;
}
