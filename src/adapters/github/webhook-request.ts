import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import { parseJson } from "../../core/parse-json.ts";
import type { ReceivedEvent } from "../../core/threads/thread-adapter.ts";
import { threadKeyOf } from "./thread-key.ts";

/**
 * The events in which a user can address the bot. The route does not check whether the text mentions the bot: that
 * needs the App's name from GitHub, and no call is made before the acknowledgement.
 */
const STORED_ACTIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ["issue_comment", ["created", "edited", "deleted"]],
  ["issues", ["opened", "edited", "deleted"]],
  ["pull_request", ["opened", "edited"]],
  ["pull_request_review", ["submitted", "edited"]],
  ["pull_request_review_comment", ["created", "edited", "deleted"]],
]);

const SIGNATURE = /^sha256=([0-9a-f]{64})$/;

const numbered = z.object({ number: z.number() }).optional();
const bodySchema = z.object({
  action: z.string(),
  repository: z.object({ id: z.number() }),
  issue: numbered,
  pull_request: numbered,
});

export type WebhookRequest =
  | { readonly kind: "forged" | "unnamed" | "malformed" | "unused" }
  | { readonly kind: "event"; readonly event: ReceivedEvent };

export interface RawRequest {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

/** Reads what GitHub sent. The signature by one of the secrets is checked before anything is parsed. */
export function readWebhookRequest(request: RawRequest, secrets: readonly string[]): WebhookRequest {
  if (!isSigned(secrets, request.body, headerOf(request, "x-hub-signature-256"))) {
    return { kind: "forged" };
  }
  const body = request.body.toString();
  const deliveryId = headerOf(request, "x-github-delivery");
  const name = headerOf(request, "x-github-event");
  if (!deliveryId || !name) {
    return { kind: "unnamed" };
  }
  return readEvent({ body, deliveryId, name });
}

/** Whether a delivery with this event and action is stored. */
export function isStored(name: string, action: string): boolean {
  return STORED_ACTIONS.get(name)?.includes(action) ?? false;
}

/** Reads a delivery that is known to be GitHub's. */
export function readEvent({
  body,
  deliveryId,
  name,
}: Pick<ReceivedEvent, "body" | "deliveryId" | "name">): WebhookRequest {
  if (!STORED_ACTIONS.has(name)) {
    return { kind: "unused" };
  }
  const read = readBody(body);
  if (!read) {
    return { kind: "malformed" };
  }
  const { action, orderingKey } = read;
  if (!isStored(name, action)) {
    return { kind: "unused" };
  }
  return { kind: "event", event: { adapter: "github", orderingKey, deliveryId, name, body } };
}

/**
 * Checks the signature over the bytes as they arrived
 * (https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries). Octokit's function takes text, in
 * which all invalid bytes are the same character.
 */
function isSigned(secrets: readonly string[], body: Buffer, signature = ""): boolean {
  const sent = SIGNATURE.exec(signature)?.[1];
  if (sent === undefined || body.length === 0) {
    return false;
  }
  const actual = Buffer.from(sent, "hex");
  return secrets.some((secret) =>
    timingSafeEqual(createHmac("sha256", secret).update(body).digest(), actual),
  );
}

function headerOf({ headers }: RawRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

/** The ordering key is the issue or pull request, also for review threads. */
function readBody(body: string): { readonly action: string; readonly orderingKey: string } | undefined {
  const read = bodySchema.safeParse(parseJson(body));
  if (!read.success) {
    return undefined;
  }
  const { action, repository, issue, pull_request } = read.data;
  const number = (issue ?? pull_request)?.number;
  if (number === undefined) {
    return undefined;
  }
  return { action, orderingKey: `github:${threadKeyOf({ repositoryId: repository.id, number })}` };
}
