import type { WebClientOptions } from "@slack/web-api";
import type { FastifyPluginAsync } from "fastify";
import type { Log } from "../../core/ports/log.ts";
import type { InboxEvent, ThreadAdapter } from "../../core/threads/thread-adapter.ts";
import { authorizeAuthor } from "./authorize.ts";
import { BotIdentity } from "./bot-identity.ts";
import type { SlackConfig } from "./config.ts";
import { TRIGGER } from "./defuse.ts";
import { createBoltApp } from "./listeners.ts";
import { Messenger } from "./messenger.ts";
import { InboxReceiver } from "./receiver.ts";
import { createWebClient, webClientOptions } from "./web-client.ts";

export { readSlackConfig, type SlackConfig } from "./config.ts";

export interface SlackDeps {
  /** Stores an event in the inbox; false when this delivery is already there. */
  accept(event: Omit<InboxEvent, "id" | "receivedAt">): Promise<boolean>;
  readonly log: Log;
  /** For every call to Slack, instead of the global one. */
  readonly fetch?: WebClientOptions["fetch"];
}

export interface SlackAdapter {
  readonly adapter: ThreadAdapter;
  /** Serves `POST /webhooks/slack`. */
  readonly routes: FastifyPluginAsync;
}

export function createSlackAdapter(config: SlackConfig, deps: SlackDeps): SlackAdapter {
  const { accept, log, fetch } = deps;
  const parts = { config, fetch };
  const client = createWebClient(parts);
  const identity = new BotIdentity(client);
  const messenger = new Messenger(client, identity);
  const receiver = new InboxReceiver({ signingSecret: config.signingSecret, trigger: TRIGGER, log, accept });
  createBoltApp({ receiver, identity, clientOptions: webClientOptions(parts) });
  const adapter: ThreadAdapter = {
    name: "slack",
    traits: { source: "SLACK", closingWords: "message", trigger: TRIGGER },
    translate: (event) => receiver.replay(event),
    authorize: (message) => authorizeAuthor(client, message),
    deliver: (delivery) => messenger.deliver(delivery),
  };
  return { adapter, routes: receiver.routes };
}
