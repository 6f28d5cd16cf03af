import type { PrincipalId, RunId } from "../../basics/ids.ts";
import type { TeamRecord } from "../people/team-record.ts";
import type { WebhookEventType } from "./event-types.ts";

/** An address that receives the events of a team's runs, or of one run. */
export interface WebhookEndpoint extends TeamRecord {
  /** The only run whose events it receives. The list of the team's endpoints does not contain it. */
  readonly runId?: RunId;
  readonly url: string;
  readonly description?: string;
  /** The event types that it receives. Empty for the endpoint of one run, which receives all that begin with `run.`. */
  readonly events: readonly WebhookEventType[];
  /** Events during the time in which it is disabled are never sent. */
  readonly enabled: boolean;
  /** Why Errand disabled it; absent when the team did. */
  readonly disabledReason?: string;
  /** At most two, newest first. */
  readonly secrets: readonly WebhookSecret[];
  readonly createdBy: PrincipalId;
  /** Since when every try has failed. */
  readonly failingSince?: Date;
}

export interface WebhookSecret {
  /** Only `secretOwner` can open it in the secret box. */
  readonly sealed: string;
  /** Until then messages are also signed with the previous secret. */
  readonly expiresAt?: Date;
}

/** What the sealed secrets are bound to. In the row of another endpoint they cannot be opened. */
export function secretOwner(endpointId: string): string {
  return `webhook:${endpointId}`;
}

export function validSecrets(
  { secrets }: Pick<WebhookEndpoint, "secrets">,
  now: Date,
): readonly WebhookSecret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now);
}

const SECRET_BYTES = 32;

/** In the format of the Standard Webhooks specification. */
export function newWebhookSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}
