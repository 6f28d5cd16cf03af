import { createRequire } from "node:module";
import type { InboxEvent } from "../../../../src/core/ports/thread-adapter.ts";
import { recordedPayload } from "../../../support/github/github-payloads.ts";
import { asRecord, isRecord, type JsonRecord } from "../../../support/json.ts";

export const ADDRESSEE = { name: "errand", login: "errand[bot]", label: "errand", appId: 424_242 };
export const WRITER = { id: 3_000_000_001, login: "wendy", type: "User" };
export const OUTSIDER = { id: 3_000_000_002, login: "sam", type: "User" };
export const INSTALLATION = 61_000_001;

/** A recorded payload with `overrides` merged into it, member by member. */
export function payload(event: string, action: string, overrides: JsonRecord = {}): JsonRecord {
  const around = { installation: { id: INSTALLATION, node_id: "I_1" }, sender: WRITER };
  return laidOver(laidOver(recordedPayload(event, action), around), overrides);
}

/** A comment of the writer on an issue. */
export function commentPayload(body: string, overrides: JsonRecord = {}): JsonRecord {
  return laidOver(payload("issue_comment", "created", { comment: { body, user: WRITER } }), overrides);
}

export function editPayload(before: string, after: string, overrides: JsonRecord = {}): JsonRecord {
  const edit = { comment: { body: after, user: WRITER }, changes: { body: { from: before } } };
  return laidOver(payload("issue_comment", "edited", edit), overrides);
}

export function anEvent(name: string, body: JsonRecord | string, deliveryId = "delivery-1"): InboxEvent {
  return {
    id: "inbox-1",
    adapter: "github",
    orderingKey: "github:1/issues/1",
    deliveryId,
    name,
    body: typeof body === "string" ? body : JSON.stringify(body),
    receivedAt: new Date(0),
  };
}

/** All payloads of @octokit/webhooks-examples with the event's name. */
export function everyRecordedPayload(): { readonly name: string; readonly payload: JsonRecord }[] {
  const examples: unknown = createRequire(import.meta.url)("@octokit/webhooks-examples");
  if (!Array.isArray(examples)) {
    throw new Error("@octokit/webhooks-examples is no longer a list");
  }
  return examples.map(asRecord).flatMap(({ name, examples: recorded }) => {
    if (!Array.isArray(recorded)) {
      throw new Error(`No payloads of ${name}`);
    }
    return recorded.map((one) => ({ name: String(name), payload: asRecord(one) }));
  });
}

function laidOver(value: JsonRecord, overrides: JsonRecord): JsonRecord {
  const entries = Object.entries(overrides).map(([name, member]) => {
    const original = value[name];
    return [name, isRecord(original) && isRecord(member) ? laidOver(original, member) : member];
  });
  return { ...value, ...Object.fromEntries(entries) };
}
