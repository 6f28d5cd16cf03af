import { AppError } from "../../basics/errors.ts";
import type { TeamId } from "../../basics/ids.ts";
import type { WebhookEndpoint } from "../../model/webhooks/webhook.ts";
import type { Storage } from "../../ports/stores/storage.ts";

/** An endpoint of the team. Endpoints of other teams are not found. */
export async function getEndpoint(
  { webhooks }: Pick<Storage, "webhooks">,
  teamId: TeamId,
  id: string,
): Promise<WebhookEndpoint> {
  return (await webhooks.endpoints.find(teamId, id)) ?? missing("webhook");
}

/** Like `getEndpoint`, and locked until the transaction ends. */
export async function lockEndpoint(
  storage: Pick<Storage, "webhooks">,
  teamId: TeamId,
  id: string,
): Promise<WebhookEndpoint> {
  await getEndpoint(storage, teamId, id);
  return (await storage.webhooks.outbox.lock(id)) ?? missing("webhook");
}

export function missing(what: "webhook" | "delivery"): never {
  throw new AppError("resource_not_found", `There is no such ${what}.`);
}
