import { createHmac, randomUUID } from "node:crypto";
import { GITHUB_APP } from "./github-fixture.ts";

export interface GithubDelivery {
  readonly event: string;
  readonly payload: object;
  readonly deliveryId?: string;
  readonly secret?: string;
  /** Sent as it is instead of the correct one; null sends none. */
  readonly signature?: string | null;
}

export function sendGithubWebhook(url: string, secret: string, delivery: GithubDelivery): Promise<Response> {
  const body = JSON.stringify(delivery.payload);
  const signature =
    delivery.signature === undefined ? sign("sha256", delivery.secret ?? secret, body) : delivery.signature;
  const headers = new Headers({
    accept: "*/*",
    "content-type": "application/json",
    "user-agent": "GitHub-Hookshot/044aadd",
    "x-github-delivery": delivery.deliveryId ?? randomUUID(),
    "x-github-event": delivery.event,
    "x-github-hook-id": "500000001",
    "x-github-hook-installation-target-id": String(GITHUB_APP.id),
    "x-github-hook-installation-target-type": "integration",
  });
  if (signature !== null) {
    headers.set("x-hub-signature", sign("sha1", delivery.secret ?? secret, body));
    headers.set("x-hub-signature-256", signature);
  }
  return fetch(url, { method: "POST", headers, body });
}

function sign(algorithm: "sha1" | "sha256", secret: string, body: string): string {
  return `${algorithm}=${createHmac(algorithm, secret).update(body).digest("hex")}`;
}
