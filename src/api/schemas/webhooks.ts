import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import {
  RUN_EVENT_TYPES,
  WEBHOOK_EVENT_TYPES,
  type WebhookEndpoint,
} from "../../core/model/webhooks/webhook.ts";
import type { WebhookInput } from "../../core/team/webhooks/webhook-service.ts";
import { PageInfo } from "./page-info.ts";
import { Timestamp, textOfCharacters } from "./text.ts";

const WEBHOOK_ID = "0195b2a4-7f00-7c11-9d2e-5a6b7c8d9e0f";
const RUN_ID = "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e";

const WEBHOOK_REQUEST_EXAMPLE = {
  url: "https://board.example.com/errand",
  description: "Moves the ticket",
  events: ["run.succeeded", "run.failed", "run.error"],
};

const WEBHOOK_CHANGE_EXAMPLE = { enabled: true };

const WEBHOOK_EXAMPLE = {
  id: WEBHOOK_ID,
  ...WEBHOOK_REQUEST_EXAMPLE,
  enabled: true,
  created_by: "0195b2a0-0000-7000-8000-000000000001",
  created_at: "2026-03-01T08:00:00.000Z",
  updated_at: "2026-03-01T08:00:00.000Z",
};

/** An invented secret, like all values in this file. */
const REVEALED_WEBHOOK_EXAMPLE = {
  ...WEBHOOK_EXAMPLE,
  secret: "whsec_ZXhhbXBsZSBvZiBhIHNlY3JldCBvZiB3ZWJob29rcw==",
};

const RUN_WEBHOOK_EXAMPLE = {
  url: "https://board.example.com/errand",
  secret: "whsec_ZXhhbXBsZSBvZiBhIHNlY3JldCBvZiB3ZWJob29rcw==",
};

export const DELIVERY_EXAMPLE = {
  id: "0195b2a8-7bd2-7a30-8c44-1d2e3f405162",
  webhook_id: WEBHOOK_ID,
  type: "run.succeeded",
  run_id: RUN_ID,
  seq: 41,
  state: "waiting",
  tries: 1,
  error: "The receiver answered HTTP 503.",
  next_try_at: "2026-03-01T09:04:37.000Z",
  created_at: "2026-03-01T09:04:31.400Z",
};

export const TRY_EXAMPLE = {
  number: 1,
  at: "2026-03-01T09:04:31.700Z",
  duration_ms: 212,
  status: 503,
  error: "The receiver answered HTTP 503.",
};

export const DELIVERY_DETAIL_EXAMPLE = {
  ...DELIVERY_EXAMPLE,
  body: `{"type":"run.succeeded","timestamp":"2026-03-01T09:04:31.250Z","data":{"run_id":"${RUN_ID}","seq":41,"state":"SUCCEEDED"}}`,
  history: [TRY_EXAMPLE],
};

const URL_LENGTH = 2_048;
const DESCRIPTION_LENGTH = 240;
const OVERLAP_SECONDS = 24 * 60 * 60;
const OVERLAP_MAX_SECONDS = 7 * OVERLAP_SECONDS;

const WebhookEventType = z.enum(WEBHOOK_EVENT_TYPES).meta({
  id: "WebhookEventType",
  description:
    "`run.created`, `run.` with the name of the run's new state, and `webhook.disabled`: another webhook of the " +
    "team was disabled because it failed.",
  examples: ["run.succeeded"],
});

const Url = textOfCharacters(URL_LENGTH).describe(
  "The receiver's URL. It must be https, and outside the server's own network unless the operator allows it.",
);
const Description = textOfCharacters(DESCRIPTION_LENGTH).describe("A description for people.");
const Events = z
  .array(WebhookEventType)
  .transform((events) => [...new Set(events)])
  .describe("The events that are sent. An empty list means all that begin with `run.`.");
const Enabled = z
  .boolean()
  .describe(
    "Whether messages are sent. Events that happen while the webhook is disabled are never sent. Default: true.",
  );

export const WebhookRequest = z
  .object({
    url: Url,
    description: Description.optional(),
    events: Events.optional(),
    enabled: Enabled.optional(),
  })
  .meta({ id: "WebhookRequest", description: "A new webhook.", examples: [WEBHOOK_REQUEST_EXAMPLE] });

const SECRET_BYTES_MIN = 24;
const SECRET_BYTES_MAX = 64;

export const RunWebhook = z
  .object({
    url: Url,
    secret: z
      .string()
      .refine(isSecret, `must be whsec_ and the base64 of ${SECRET_BYTES_MIN} to ${SECRET_BYTES_MAX} bytes`)
      .describe(
        `Signs the messages: \`whsec_\` and the base64 of ${SECRET_BYTES_MIN} to ${SECRET_BYTES_MAX} bytes. It is stored ` +
          "encrypted and never returned.",
      ),
  })
  .meta({
    id: "RunWebhook",
    description:
      "Receives all messages that begin with `run.` about this run alone. A retry does not copy it.",
    examples: [RUN_WEBHOOK_EXAMPLE],
  });

function isSecret(text: string): boolean {
  const encoded =
    /^whsec_((?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?)$/.exec(text)?.[1] ?? "";
  const { length } = Buffer.from(encoded, "base64");
  return length >= SECRET_BYTES_MIN && length <= SECRET_BYTES_MAX;
}

export const WebhookChange = z
  .object({
    url: Url.optional(),
    description: Description.optional(),
    events: Events.optional(),
    enabled: Enabled.optional(),
  })
  .meta({
    id: "WebhookChange",
    description:
      "The members to change. Other members keep their value. Enabling a webhook also resets `failing_since`.",
    examples: [WEBHOOK_CHANGE_EXAMPLE],
  });

export const RotateWebhookSecretRequest = z
  .object({
    overlap_seconds: z
      .int()
      .min(0)
      .max(OVERLAP_MAX_SECONDS)
      .default(OVERLAP_SECONDS)
      .describe("For how long messages are also signed with the old secret."),
  })
  .meta({
    id: "RotateWebhookSecretRequest",
    description: "The end of the old secret.",
    examples: [{ overlap_seconds: OVERLAP_SECONDS }],
  });

const members = {
  id: z.uuid().describe("The webhook's id."),
  url: z.string().describe("The receiver's URL."),
  description: z.string().optional().describe("A description for people."),
  events: z.array(WebhookEventType).describe("The events that are sent."),
  enabled: z.boolean().describe("Whether messages are sent."),
  disabled_reason: z.string().optional().describe("Why the server disabled the webhook."),
  failing_since: Timestamp.optional().describe("Since when all tries have failed."),
  previous_secret_expires_at: Timestamp.optional().describe(
    "Until this time, messages are also signed with the previous secret.",
  ),
  created_by: z.string().describe("The uid of the principal that created the webhook."),
  created_at: Timestamp.describe("When the webhook was created."),
  updated_at: Timestamp.describe("When the webhook was last changed."),
};

export const Webhook = z
  .object(members)
  .meta({ id: "Webhook", description: "A URL that receives events of runs.", examples: [WEBHOOK_EXAMPLE] });
type Webhook = z.output<typeof Webhook>;

export const RevealedWebhook = z
  .object({
    ...members,
    secret: z.string().describe("The secret that signs messages. It is shown only once."),
  })
  .meta({
    id: "RevealedWebhook",
    description: "A webhook with its new secret.",
    examples: [REVEALED_WEBHOOK_EXAMPLE],
  });

export const ListWebhooksResponse = z
  .object({ webhooks: z.array(Webhook).describe("The oldest webhook comes first."), page_info: PageInfo })
  .meta({
    id: "ListWebhooksResponse",
    description: "All webhooks of the team.",
    examples: [{ webhooks: [WEBHOOK_EXAMPLE], page_info: { has_next_page: false } }],
  });

/** An empty list of events means the default, like an absent one. */
export function webhookChangesOf({ url, description, events, enabled }: z.output<typeof WebhookChange>) {
  const changes: Partial<WebhookInput> = {
    ...defined({
      url,
      description,
      events: events === undefined ? undefined : events.length === 0 ? RUN_EVENT_TYPES : events,
      enabled,
    }),
  };
  return changes;
}

export function webhookInputOf(request: z.output<typeof WebhookRequest>): WebhookInput {
  return { events: RUN_EVENT_TYPES, enabled: true, ...webhookChangesOf(request), url: request.url };
}

export function webhookOf(endpoint: WebhookEndpoint, now: Date): Webhook {
  const { createdAt, createdBy, description, disabledReason, failingSince, updatedAt } = endpoint;
  const previousEnd = endpoint.secrets
    .map(({ expiresAt }) => expiresAt)
    .find((at) => at !== undefined && at > now);
  return {
    id: endpoint.id,
    url: endpoint.url,
    ...defined({ description }),
    events: [...endpoint.events],
    enabled: endpoint.enabled,
    ...defined({
      disabled_reason: disabledReason,
      failing_since: failingSince?.toISOString(),
      previous_secret_expires_at: previousEnd?.toISOString(),
    }),
    created_by: createdBy,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}
