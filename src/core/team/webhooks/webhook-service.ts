import type { Clock } from "../../basics/clock.ts";
import type { SecretBox } from "../../basics/crypto.ts";
import { defined } from "../../basics/defined.ts";
import { AppError, invalidMember } from "../../basics/errors.ts";
import { newId, type PrincipalId, type TeamId } from "../../basics/ids.ts";
import {
  newWebhookSecret,
  secretOwner,
  type WebhookEndpoint,
  type WebhookEventType,
} from "../../model/webhooks/webhook.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import type { WebhookClient } from "../../ports/webhook-client.ts";
import { lockEndpoint } from "./find-endpoint.ts";

export interface WebhookServiceDeps {
  /** Inside a transaction, because the endpoint is locked until its end. */
  readonly storage: Pick<Storage, "teams" | "webhooks" | "now">;
  readonly client: Pick<WebhookClient, "problemOf">;
  readonly box: SecretBox;
  readonly clock: Clock;
}

export interface WebhookInput {
  readonly url: string;
  readonly description?: string;
  readonly events: readonly WebhookEventType[];
  readonly enabled: boolean;
}

/** An endpoint with its secret, which is returned only this once. */
export interface RevealedWebhook {
  readonly endpoint: WebhookEndpoint;
  readonly secret: string;
}

/** Each message is stored and sent once for each endpoint, so the number of endpoints is limited. */
const ENDPOINTS_MAX = 50;

/** Manages the webhook endpoints of a team. */
export class WebhookService {
  readonly #deps: WebhookServiceDeps;

  constructor(deps: WebhookServiceDeps) {
    this.#deps = deps;
  }

  async create(
    owner: { readonly id: PrincipalId; readonly teamId: TeamId },
    input: WebhookInput,
  ): Promise<RevealedWebhook> {
    const { storage } = this.#deps;
    const { teams, webhooks } = storage;
    this.#requireUrl(input.url);
    // Counted under a lock, because concurrent requests could otherwise exceed the limit.
    await teams.lock(owner.teamId);
    if ((await webhooks.endpoints.list(owner.teamId)).length >= ENDPOINTS_MAX) {
      throw tooMany();
    }
    // By the database's clock, which also dates events: an endpoint receives events from now on.
    const now = await storage.now();
    const id = newId(now);
    const { sealed, secret } = this.#newSecret(id);
    const times = { createdAt: now, updatedAt: now };
    const endpoint = {
      ...input,
      ...times,
      id,
      teamId: owner.teamId,
      createdBy: owner.id,
      secrets: [{ sealed }],
    };
    await webhooks.endpoints.add(endpoint);
    return { endpoint, secret };
  }

  /** Enabling an endpoint or changing its address also resets its failures. */
  async change(teamId: TeamId, id: string, changes: Partial<WebhookInput>): Promise<WebhookEndpoint> {
    const { clock, storage } = this.#deps;
    if (changes.url !== undefined) {
      this.#requireUrl(changes.url);
    }
    const { disabledReason, failingSince, ...kept } = await lockEndpoint(storage, teamId, id);
    const isNewChance = changes.enabled !== undefined || changes.url !== undefined;
    const health = defined({
      disabledReason: disabledReason ? disabledReason : undefined,
      failingSince,
    });
    const changed = {
      ...kept,
      ...(isNewChance ? {} : health),
      ...changes,
      updatedAt: clock.now(),
    };
    await storage.webhooks.endpoints.replace(changed);
    if (changes.enabled === false) {
      await storage.webhooks.outbox.giveUp(id, "The endpoint was switched off.");
    }
    return changed;
  }

  async remove(teamId: TeamId, id: string): Promise<void> {
    const { storage } = this.#deps;
    await lockEndpoint(storage, teamId, id);
    await storage.webhooks.history.detach(id);
  }

  /** The previous secret remains valid beside the new one for the overlap. An older secret expires now. */
  async rotateSecret(teamId: TeamId, id: string, overlapSeconds: number): Promise<RevealedWebhook> {
    const { clock, storage } = this.#deps;
    const held = await lockEndpoint(storage, teamId, id);
    const now = clock.now();
    const { sealed, secret } = this.#newSecret(id);
    const expiresAt = new Date(now.getTime() + overlapSeconds * 1_000);
    const kept = held.secrets.slice(0, overlapSeconds === 0 ? 0 : 1);
    const previous = kept.map((newest) => ({ sealed: newest.sealed, expiresAt }));
    const endpoint = { ...held, secrets: [{ sealed }, ...previous], updatedAt: now };
    await storage.webhooks.endpoints.replace(endpoint);
    return { endpoint, secret };
  }

  #requireUrl(url: string): void {
    const message = this.#deps.client.problemOf(url);
    if (message !== undefined) {
      throw invalidMember("url", message);
    }
  }

  #newSecret(endpointId: string): { secret: string; sealed: string } {
    const secret = newWebhookSecret();
    return { secret, sealed: this.#deps.box.seal(secret, secretOwner(endpointId)) };
  }
}

function tooMany(): AppError {
  return new AppError("invalid_request", `A team can have at most ${ENDPOINTS_MAX} webhooks.`, {
    remedy: "Delete one that is not needed any more.",
  });
}
