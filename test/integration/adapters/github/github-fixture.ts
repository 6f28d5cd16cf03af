import {
  createGithubAdapter,
  type GithubAdapter,
  type GithubDeps,
} from "../../../../src/adapters/github/index.ts";
import type { InboundMessage, InboxEvent } from "../../../../src/core/ports/thread-adapter.ts";
import { parseAllowList } from "../../../../src/outgoing/allow-list.ts";
import { Destinations } from "../../../../src/outgoing/destinations.ts";
import { createTailReader } from "../../../../src/outgoing/tail-reader.ts";
import type { EmulatedGithub, Written } from "../../../support/emulated-github.ts";
import { SILENT_LOG } from "../../../support/logs.ts";
import { loopbackOnlyFetch } from "../../../support/loopback-only.ts";

const readTail = createTailReader({ destinations: new Destinations(parseAllowList("127.0.0.1")) });

export type Accepted = Omit<InboxEvent, "id" | "receivedAt">;

/** The adapter connected to the emulated GitHub. */
export function adapterOn(github: EmulatedGithub, deps: Partial<GithubDeps> = {}): GithubAdapter {
  const { id: appId, privateKey, webhookSecret } = github.app;
  return createGithubAdapter(
    { appId, privateKey, webhookSecrets: [webhookSecret], apiUrl: github.apiUrl },
    { accept: async () => true, readTail, log: SILENT_LOG, fetch: loopbackOnlyFetch, ...deps },
  );
}

export function storedEvent({ event, payload }: Written): InboxEvent {
  return {
    id: "inbox-1",
    adapter: "github",
    orderingKey: "github",
    deliveryId: "delivery-1",
    name: event,
    body: JSON.stringify(payload),
    receivedAt: new Date(0),
  };
}

/** The inbound message that the adapter makes of a text. */
export async function inboundMessageOf(
  { adapter }: GithubAdapter,
  written: Written,
): Promise<InboundMessage> {
  const translation = await adapter.translate(storedEvent(written));
  if (translation.kind === "message") {
    return translation.message;
  }
  throw new Error(`It is no message: ${JSON.stringify(translation)}`);
}

/** A `fetch` to the emulated GitHub, except for calls that `answer` answers. */
export function fetchWith(answer: (request: Request) => Response | undefined): typeof fetch {
  return async (input, init) => answer(new Request(input, init)) ?? loopbackOnlyFetch(input, init);
}

export function refusing(path: RegExp, status: number, message: string): typeof fetch {
  return fetchWith(({ url }) => (path.test(url) ? Response.json({ message }, { status }) : undefined));
}
