import { z } from "zod";
import { RUN_EVENT_TYPES, WEBHOOK_EVENT_TYPES } from "../../core/webhooks/event-types.ts";
import type { WebhookEndpoint } from "../../core/webhooks/webhook-endpoint.ts";
import type { WebhookInput } from "../../core/webhooks/webhook-service.ts";
import { Timestamp, textOfCharacters } from "./text.ts";
import {
  REVEALED_WEBHOOK_EXAMPLE,
  WEBHOOK_CHANGE_EXAMPLE,
  WEBHOOK_EXAMPLE,
  WEBHOOK_REQUEST_EXAMPLE,
} from "./webhook-examples.ts";

const URL_LENGTH = 2_048;
const DESCRIPTION_LENGTH = 240;
const OVERLAP_SECONDS = 24 * 60 * 60;
const OVERLAP_MAX_SECONDS = 7 * OVERLAP_SECONDS;

const WebhookEventType = z.enum(WEBHOOK_EVENT_TYPES).meta({
  id: "WebhookEventType",
  description:
    "`run.created`, `run.` and the name of the state that a run moves to, and `webhook.disabled`: another webhook of " +
    "the team was switched off because it failed.",
  examples: ["run.succeeded"],
});

const Url = textOfCharacters(URL_LENGTH).describe(
  "Where messages are posted to: https, and not inside the server's own network unless its operator allows it.",
);
const Description = textOfCharacters(DESCRIPTION_LENGTH).describe("For people.");
const Events = z
  .array(WebhookEventType)
  .transform((events) => [...new Set(events)])
  .describe("What it is told of. None given: all that begin with `run.`.");
const Enabled = z
  .boolean()
  .describe("What happens while it is switched off, it is never told. Default true.");

export const WebhookRequest = z
  .object({
    url: Url,
    description: Description.optional(),
    events: Events.optional(),
    enabled: Enabled.optional(),
  })
  .meta({ id: "WebhookRequest", description: "A webhook to be.", examples: [WEBHOOK_REQUEST_EXAMPLE] });

export const WebhookChange = z
  .object({
    url: Url.optional(),
    description: Description.optional(),
    events: Events.optional(),
    enabled: Enabled.optional(),
  })
  .meta({
    id: "WebhookChange",
    description: "What is not named stays. Switching a webhook on also forgets how long it failed.",
    examples: [WEBHOOK_CHANGE_EXAMPLE],
  });

export const RotateWebhookSecretRequest = z
  .object({
    overlap_seconds: z
      .int()
      .min(0)
      .max(OVERLAP_MAX_SECONDS)
      .default(OVERLAP_SECONDS)
      .describe("For so long messages are signed with the old secret as well."),
  })
  .meta({
    id: "RotateWebhookSecretRequest",
    description: "How the old secret gives way to a new one.",
    examples: [{ overlap_seconds: OVERLAP_SECONDS }],
  });

const members = {
  id: z.uuid().describe("The webhook."),
  url: z.string().describe("Where messages are posted to."),
  description: z.string().optional().describe("For people."),
  events: z.array(WebhookEventType).describe("What it is told of."),
  enabled: z.boolean().describe("Whether it is told of anything."),
  disabled_reason: z.string().optional().describe("Why the server switched it off."),
  failing_since: Timestamp.optional().describe("Since when every try has failed."),
  previous_secret_expires_at: Timestamp.optional().describe(
    "Until then messages are signed with the secret before the newest as well.",
  ),
  created_by: z.string().describe("A principal's uid."),
  created_at: Timestamp.describe("When it was made."),
  updated_at: Timestamp.describe("When it was changed last."),
};

export const Webhook = z
  .object(members)
  .meta({ id: "Webhook", description: "An address that is told of runs.", examples: [WEBHOOK_EXAMPLE] });
type Webhook = z.output<typeof Webhook>;

export const RevealedWebhook = z
  .object({
    ...members,
    secret: z.string().describe("What messages are signed with. Shown this once: keep it."),
  })
  .meta({
    id: "RevealedWebhook",
    description: "A webhook with its new secret.",
    examples: [REVEALED_WEBHOOK_EXAMPLE],
  });

export const ListWebhooksResponse = z
  .object({ webhooks: z.array(Webhook).describe("The oldest first.") })
  .meta({
    id: "ListWebhooksResponse",
    description: "All webhooks of the team.",
    examples: [{ webhooks: [WEBHOOK_EXAMPLE] }],
  });

/** An empty list asks for nothing in particular, like none. */
export function webhookChangesOf({ url, description, events, enabled }: z.output<typeof WebhookChange>) {
  const changes: Partial<WebhookInput> = {
    ...(url === undefined ? {} : { url }),
    ...(description === undefined ? {} : { description }),
    ...(events === undefined ? {} : { events: events.length === 0 ? RUN_EVENT_TYPES : events }),
    ...(enabled === undefined ? {} : { enabled }),
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
    ...(description === undefined ? {} : { description }),
    events: [...endpoint.events],
    enabled: endpoint.enabled,
    ...(disabledReason === undefined ? {} : { disabled_reason: disabledReason }),
    ...(failingSince === undefined ? {} : { failing_since: failingSince.toISOString() }),
    ...(previousEnd === undefined ? {} : { previous_secret_expires_at: previousEnd.toISOString() }),
    created_by: createdBy,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}
