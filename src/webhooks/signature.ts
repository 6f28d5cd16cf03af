import { Webhook } from "standardwebhooks";
import type { SignedMessage } from "../core/webhooks/webhook-client.ts";

/** The headers of the Standard Webhooks specification. The time is that of the try, not of the event. */
export function signatureHeaders({ id, body, secrets }: SignedMessage, now: Date): Record<string, string> {
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(" "),
  };
}
