import type { PrincipalId } from "../ids.ts";
import type { TeamRecord } from "../records/record-store.ts";
import type { WebhookEventType } from "./event-types.ts";

/** An address of a team that is told of its runs. */
export interface WebhookEndpoint extends TeamRecord {
  readonly url: string;
  readonly description?: string;
  /** What it is told of. */
  readonly events: readonly WebhookEventType[];
  /** What happens while it is switched off, it is never told. */
  readonly enabled: boolean;
  /** Why it was switched off, when that was not its team's doing. */
  readonly disabledReason?: string;
  /** The newest first, and at most two. */
  readonly secrets: readonly WebhookSecret[];
  readonly createdBy: PrincipalId;
  /** Since when every try has failed. */
  readonly failingSince?: Date;
}

export interface WebhookSecret {
  /** Opened by the secret box for `secretOwner` alone. */
  readonly sealed: string;
  /** Until then the secret before the newest is signed with as well. */
  readonly expiresAt?: Date;
}

/** Whose the sealed secrets are: one moved to another endpoint's row does not open. */
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

/** In the form of the Standard Webhooks specification. */
export function newWebhookSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}
