import type { ApiClient } from "../api-client.ts";
import { WebhookVerificationError } from "../errors.ts";
import type {
  ListWebhookDeliveriesQuery,
  ListWebhookDeliveriesResponse,
  ListWebhooksResponse,
  ReplayedWebhookDeliveries,
  ReplayWebhookDeliveriesRequest,
  RevealedWebhook,
  RotateWebhookSecretRequest,
  RunItem,
  Success,
  Webhook,
  WebhookChange,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookEventType,
  WebhookRequest,
} from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions, withQuery } from "../http/request.ts";

/** What a received message says about its run, as it was at the time of the event. */
export interface WebhookRun
  extends Pick<
    RunItem,
    | "run_id"
    | "state"
    | "title"
    | "source"
    | "created_at"
    | "session_link"
    | "conversation_id"
    | "status_message"
    | "parent_run_id"
    | "trigger_url"
    | "metadata"
  > {
  /** The number of the event in the log of the run. */
  readonly seq: number;
  /** Absent for `run.created`. */
  readonly previous_state?: RunItem["state"];
}

/** A received message. Later servers may send further types. */
export type WebhookMessage =
  | {
      readonly type: Exclude<WebhookEventType, "webhook.disabled">;
      /** When the event happened, as an ISO 8601 text. */
      readonly timestamp: string;
      readonly data: WebhookRun;
    }
  | {
      readonly type: "webhook.disabled" | "webhook.test";
      readonly timestamp: string;
      readonly data: { readonly webhook_id: string; readonly [member: string]: unknown };
    };

export interface UnwrapOptions {
  /** The body exactly as it was received, before any parsing. */
  readonly body: string;
  /** The headers of the received request. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The secret of the webhook, which begins with `whsec_`. */
  readonly secret: string;
  /**
   * How far the time of the message may differ from the clock.
   *
   * @default 300_000
   */
  readonly toleranceMs?: number | undefined;
}

const DEFAULT_TOLERANCE_MS = 300_000;
const SECRET_PREFIX = "whsec_";

/** Webhooks: addresses that the server notifies of the runs of a team. */
export class Webhooks {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Creates a webhook. Only this response and that of `rotateSecret` contain a secret. */
  create(body: WebhookRequest, options?: RequestOptions): ApiPromise<RevealedWebhook> {
    return this.#client.post("/agent/webhooks", { ...options, body });
  }

  /** Gets a webhook. */
  retrieve(webhookId: string, options?: RequestOptions): ApiPromise<Webhook> {
    return this.#client.get(path`/agent/webhooks/${webhookId}`, options);
  }

  /** Lists the webhooks of the team. */
  list(options?: RequestOptions): ListPromise<ListWebhooksResponse, Webhook> {
    return this.#client.list("/agent/webhooks", (page: ListWebhooksResponse) => page.webhooks, options);
  }

  /** Changes, enables or disables a webhook. */
  update(webhookId: string, body: WebhookChange, options?: RequestOptions): ApiPromise<Webhook> {
    return this.#client.patch(path`/agent/webhooks/${webhookId}`, { ...options, body });
  }

  /** Deletes a webhook and the history of its deliveries. */
  delete(webhookId: string, options?: RequestOptions): ApiPromise<Success> {
    return this.#client.delete(path`/agent/webhooks/${webhookId}`, options);
  }

  /** Creates a new secret. For a day, or for `overlap_seconds`, messages are signed with the old one too. */
  rotateSecret(
    webhookId: string,
    body: RotateWebhookSecretRequest = {},
    options?: RequestOptions,
  ): ApiPromise<RevealedWebhook> {
    return this.#client.post(path`/agent/webhooks/${webhookId}/rotate-secret`, { ...options, body });
  }

  /** Sends a message of the type `webhook.test`. */
  test(webhookId: string, options?: RequestOptions): ApiPromise<WebhookDelivery> {
    return this.#client.post(path`/agent/webhooks/${webhookId}/test`, options);
  }

  /** Lists the deliveries of a webhook, the newest first. */
  deliveries(
    webhookId: string,
    query: ListWebhookDeliveriesQuery = {},
    options?: RequestOptions,
  ): ListPromise<ListWebhookDeliveriesResponse, WebhookDelivery> {
    const entriesOf = (page: ListWebhookDeliveriesResponse) => page.deliveries;
    return this.#client.list(
      path`/agent/webhooks/${webhookId}/deliveries`,
      entriesOf,
      withQuery(query, options),
    );
  }

  /** Gets a delivery with its message and all tries. */
  delivery(
    webhookId: string,
    deliveryId: string,
    options?: RequestOptions,
  ): ApiPromise<WebhookDeliveryDetail> {
    return this.#client.get(path`/agent/webhooks/${webhookId}/deliveries/${deliveryId}`, options);
  }

  /** Sends a delivery again, whatever its state. */
  replay(webhookId: string, deliveryId: string, options?: RequestOptions): ApiPromise<WebhookDelivery> {
    return this.#client.post(path`/agent/webhooks/${webhookId}/deliveries/${deliveryId}/replay`, options);
  }

  /** Sends all deliveries of a period again that were given up. */
  replayMany(
    webhookId: string,
    body: ReplayWebhookDeliveriesRequest,
    options?: RequestOptions,
  ): ApiPromise<ReplayedWebhookDeliveries> {
    return this.#client.post(path`/agent/webhooks/${webhookId}/deliveries/replay`, { ...options, body });
  }

  /**
   * Verifies a received message and parses it. Throws `WebhookVerificationError` unless it was signed with the secret
   * within the last five minutes. No request is sent.
   *
   * @example
   * const { type, data } = await client.webhooks.unwrap({ body, headers, secret });
   */
  async unwrap({
    body,
    headers,
    secret,
    toleranceMs = DEFAULT_TOLERANCE_MS,
  }: UnwrapOptions): Promise<WebhookMessage> {
    const id = headerIn(headers, "webhook-id");
    const timestamp = headerIn(headers, "webhook-timestamp");
    const signatures = headerIn(headers, "webhook-signature").split(" ");
    const differenceMs = Math.abs(this.#client.sender.clock.now() - Number(timestamp) * 1_000);
    // A timestamp that is no number differs by NaN.
    if (!(differenceMs <= toleranceMs)) {
      throw new WebhookVerificationError("The time of the message differs too much from the clock.");
    }
    const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
    const key = await keyFrom(secret);
    for (const signature of signatures) {
      const [version, encoded = ""] = signature.split(",", 2);
      if (version === "v1" && (await crypto.subtle.verify("HMAC", key, bytesOf(encoded), signed))) {
        // The signature proves that the server has written it.
        return JSON.parse(body) as WebhookMessage;
      }
    }
    throw new WebhookVerificationError("No signature of the message was made with this secret.");
  }
}

function headerIn(headers: UnwrapOptions["headers"], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : recordValue(headers, name);
  if (value === null || value === undefined) {
    throw new WebhookVerificationError(`The header ${name} is missing.`);
  }
  return value;
}

function recordValue(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  name: string,
): string | undefined {
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return typeof value === "string" ? value : value?.[0];
}

async function keyFrom(secret: string) {
  const bytes = secret.startsWith(SECRET_PREFIX) ? bytesOf(secret.slice(SECRET_PREFIX.length)) : undefined;
  if (bytes === undefined || bytes.length === 0) {
    throw new WebhookVerificationError(`The secret must begin with ${SECRET_PREFIX}.`);
  }
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

/** Decodes base64. A text that is no base64 gives no bytes. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
