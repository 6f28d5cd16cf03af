import type { SecretBox } from "../../../../../src/core/basics/crypto.ts";
import { newId, type RunId } from "../../../../../src/core/basics/ids.ts";
import type { Log } from "../../../../../src/core/basics/log.ts";
import type { RunEventBody } from "../../../../../src/core/model/runs/events.ts";
import type { Run, RunDefinition } from "../../../../../src/core/model/runs/run.ts";
import {
  type NewWebhookDelivery,
  secretOwner,
  type WebhookEndpoint,
} from "../../../../../src/core/model/webhooks/webhook.ts";
import type { Storage } from "../../../../../src/core/ports/stores/storage.ts";
import type { TriedWebhook } from "../../../../../src/core/ports/stores/webhook-stores.ts";
import type {
  SignedMessage,
  WebhookAnswer,
  WebhookClient,
} from "../../../../../src/core/ports/webhook-client.ts";
import { WebhookFanOut } from "../../../../../src/core/team/webhooks/webhook-fan-out.ts";
import { WebhookSender } from "../../../../../src/core/team/webhooks/webhook-sender.ts";
import { ManualClock, quiet } from "../../../../support/manual-clock.ts";
import { InMemoryPubSub } from "../../../../support/memory/in-memory-pubsub.ts";
import { createInMemoryStorage } from "../../../../support/memory/storage/in-memory-storage.ts";
import { aChange, anOrigin, aRun } from "../../../../support/run-builders.ts";
import { aDelivery, anEndpoint } from "../../../../support/webhook-builders.ts";

/** Receivers that answer as a test says and store what they were sent. */
class ScriptedReceivers implements WebhookClient {
  readonly posts: SignedMessage[] = [];
  /** The number of posts without an answer yet. */
  open = 0;
  answer: (message: SignedMessage, stop: AbortSignal) => Promise<WebhookAnswer> = async () => answered(204);

  problemOf(): undefined {
    return undefined;
  }

  async post(message: SignedMessage, stop: AbortSignal): Promise<WebhookAnswer> {
    this.posts.push(message);
    this.open += 1;
    try {
      return await this.answer(message, stop);
    } finally {
      this.open -= 1;
    }
  }
}

export function answered(status: number, retryAfterMs?: number): WebhookAnswer {
  return { durationMs: 5, status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** Never answers, until the post is aborted. */
export function hangs(_message: SignedMessage, stop: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    stop.addEventListener("abort", () => reject(stop.reason), { once: true });
  });
}

/** A sealed secret names its owner, so that a test detects a wrong owner. */
const box: SecretBox = {
  prefix: "",
  prefixes: [],
  bytesOf: (sealed) => sealed.length,
  seal: (text, owner) => `${owner}|${text}`,
  open(sealed, owner) {
    if (!sealed.startsWith(`${owner}|`)) {
      throw new Error("cannot be opened");
    }
    return sealed.slice(owner.length + 1);
  },
};

export interface LogLine {
  readonly level: keyof Log;
  readonly message: string;
  readonly facts: Record<string, unknown>;
}

/** The services of webhooks on in-memory fakes. */
export class WebhookHarness {
  readonly clock = new ManualClock();
  readonly pubsub = new InMemoryPubSub();
  readonly storage: Storage;
  readonly receivers = new ScriptedReceivers();
  readonly lines: LogLine[] = [];
  readonly log: Log;
  readonly sender: WebhookSender;
  readonly fanOut: WebhookFanOut;
  readonly box = box;

  constructor() {
    const { clock, lines, pubsub, receivers: client } = this;
    this.storage = createInMemoryStorage({ clock, pubsub, sendJobs: () => undefined });
    const line =
      (level: keyof Log) =>
      (message: string, facts: Record<string, unknown> = {}) =>
        void lines.push({ level, message, facts });
    this.log = { info: line("info"), warn: line("warn"), error: line("error") };
    this.sender = new WebhookSender({ storage: this.storage, client, box, clock, log: this.log });
    this.fanOut = this.aFanOut();
  }

  aFanOut(): WebhookFanOut {
    const sessionLink = ({ sessionId }: Pick<RunDefinition, "sessionId">) =>
      `https://errand.example/sessions/${sessionId}`;
    const redact = (text: string) => text.replaceAll("canary", "[redacted]");
    return new WebhookFanOut({ storage: this.storage, log: this.log, redact, sessionLink });
  }

  async anEndpoint(changes: Partial<WebhookEndpoint> = {}): Promise<WebhookEndpoint> {
    const { id } = anEndpoint();
    const endpoint = anEndpoint({
      id,
      secrets: [{ sealed: box.seal("whsec_1", secretOwner(id)) }],
      ...changes,
    });
    await this.storage.webhooks.endpoints.add(endpoint);
    return endpoint;
  }

  async aDelivery(
    endpoint: WebhookEndpoint,
    changes: Partial<NewWebhookDelivery> = {},
  ): Promise<NewWebhookDelivery> {
    const delivery = aDelivery(endpoint, { id: newId(this.clock.now()), ...changes });
    await this.storage.webhooks.outbox.add([delivery]);
    return delivery;
  }

  async aRun(origin: Partial<RunDefinition> = {}, events: readonly RunEventBody[] = []): Promise<Run> {
    const newOrigin = anOrigin({ createdAt: this.clock.now(), ...origin });
    const created: RunEventBody = { kind: "run.created", state: "QUEUED" };
    const bodies = [created, ...events].map((body) => ({ turn: 0, body }));
    return this.storage.runs.create(newOrigin, aChange(aRun(newOrigin), { events: bodies }));
  }

  async addEvents(runId: RunId, ...events: readonly RunEventBody[]): Promise<void> {
    const bodies = events.map((body) => ({ turn: 1, body }));
    await this.storage.runs.change(runId, ({ run }) => aChange(run, { events: bodies }));
  }

  /** Sends all deliveries that are due and those that follow at once. */
  async send(): Promise<void> {
    this.sender.wake();
    await quiet();
  }

  /** Moves the time forward and then sends what is due. */
  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.send();
  }

  endpoint({ id, teamId }: WebhookEndpoint): Promise<WebhookEndpoint | undefined> {
    return this.storage.webhooks.endpoints.find(teamId, id);
  }

  async delivery({ endpointId, id }: NewWebhookDelivery): Promise<TriedWebhook> {
    const delivery = await this.storage.webhooks.history.find(endpointId, id);
    if (delivery === undefined) {
      throw new Error("There is no such delivery.");
    }
    return delivery;
  }

  /** Returns the deliveries of the endpoint, oldest first. */
  async deliveriesOf({ id: endpointId }: WebhookEndpoint): Promise<readonly NewWebhookDelivery[]> {
    return (await this.storage.webhooks.history.list({ endpointId, limit: 1_000 })).toReversed();
  }
}
