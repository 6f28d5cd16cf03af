import type { SecretBox } from "../../basics/crypto.ts";
import { invalidMember } from "../../basics/errors.ts";
import { newId } from "../../basics/ids.ts";
import type { RunDefinition } from "../../model/runs/run.ts";
import { secretOwner, type WebhookEndpoint } from "../../model/webhooks/webhook.ts";
import type { WebhookClient } from "../../ports/webhook-client.ts";

export interface RunWebhookInput {
  readonly url: string;
  readonly secret: string;
}

/** Throws `invalid_request` for an address that webhooks may not use. */
export function requireRunWebhook({ url }: RunWebhookInput, client: Pick<WebhookClient, "problemOf">): void {
  const problem = client.problemOf(url);
  if (problem !== undefined) {
    throw invalidMember("webhook.url", problem);
  }
}

/** The endpoint of one run. It subscribes to no type of the team's runs. */
export function runWebhook(
  { secret, url }: RunWebhookInput,
  { createdAt, creatorId, id: runId, teamId }: RunDefinition,
  box: SecretBox,
): WebhookEndpoint {
  const id = newId(createdAt);
  return {
    id,
    teamId,
    runId,
    url,
    events: [],
    enabled: true,
    secrets: [{ sealed: box.seal(secret, secretOwner(id)) }],
    createdBy: creatorId,
    createdAt,
    updatedAt: createdAt,
  };
}
