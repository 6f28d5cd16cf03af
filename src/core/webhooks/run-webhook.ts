import { invalidMember } from "../errors.ts";
import { newId } from "../ids.ts";
import type { RunDefinition } from "../runs/run.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import type { WebhookClient } from "./webhook-client.ts";
import { secretOwner, type WebhookEndpoint } from "./webhook-endpoint.ts";

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

/**
 * The endpoint of one run. It subscribes to no type of the team's runs, so that a former version of the fan-out, which
 * knows only teams, sends it nothing.
 */
export function runWebhook(
  { secret, url }: RunWebhookInput,
  { createdAt, creatorId, id: runId, teamId }: RunDefinition,
  box: SecretBox,
): WebhookEndpoint {
  const id = newId(createdAt);
  return {
    ...{ id, teamId, runId, url, events: [], enabled: true },
    secrets: [{ sealed: box.seal(secret, secretOwner(id)) }],
    createdBy: creatorId,
    createdAt,
    updatedAt: createdAt,
  };
}
