import { createHmac } from "node:crypto";
import type { JsonRecord } from "../json.ts";

export interface SlackDelivery {
  /** In seconds. A receiver that verifies signatures refuses a timestamp older than five minutes. */
  readonly timestamp?: number | undefined;
  readonly signingSecret: string;
  readonly retryNum?: number | undefined;
  readonly retryReason?: string | undefined;
}

export function sendSlackJson(url: string, payload: JsonRecord, delivery: SlackDelivery): Promise<Response> {
  return send(url, JSON.stringify(payload), "application/json", delivery);
}

export function sendSlackForm(
  url: string,
  fields: Readonly<Record<string, string>>,
  delivery: SlackDelivery,
): Promise<Response> {
  return send(url, new URLSearchParams(fields).toString(), "application/x-www-form-urlencoded", delivery);
}

/** The scheme of https://docs.slack.dev/authentication/verifying-requests-from-slack */
function slackSignature(signingSecret: string, timestamp: number, body: string): string {
  return `v0=${createHmac("sha256", signingSecret).update(`v0:${timestamp}:${body}`).digest("hex")}`;
}

function send(url: string, body: string, contentType: string, delivery: SlackDelivery): Promise<Response> {
  const timestamp = delivery.timestamp ?? Math.floor(Date.now() / 1_000);
  const headers = new Headers({
    accept: "*/*",
    "content-type": contentType,
    "user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
    "x-slack-request-timestamp": String(timestamp),
    "x-slack-signature": slackSignature(delivery.signingSecret, timestamp, body),
  });
  if (delivery.retryNum !== undefined) {
    headers.set("x-slack-retry-num", String(delivery.retryNum));
    headers.set("x-slack-retry-reason", delivery.retryReason ?? "http_timeout");
  }
  return fetch(url, { method: "POST", headers, body });
}
