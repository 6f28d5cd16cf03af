import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Authorization, InboundMessage } from "../../../../src/core/threads/thread-adapter.ts";
import { SlackHarness } from "./slack-harness.ts";

let harness: SlackHarness;

beforeEach(async () => {
  harness = await SlackHarness.open();
});

afterEach(async () => {
  await harness.close();
});

describe("authorize", () => {
  function authorizeAs(profile: object): Promise<Authorization> {
    harness.fetch = async () =>
      Response.json({ ok: true, user: { id: "U1", team_id: harness.slack.teamId, ...profile } });
    const author = { subject: `slack:${harness.slack.teamId}:U1` };
    return harness.adapter.authorize({ author, installation: harness.slack.teamId } as InboundMessage);
  }

  test("a member may, asked of Slack each time", async () => {
    const message = await harness.mentioned();

    const first = await harness.adapter.authorize(message);
    await harness.adapter.authorize(message);

    expect(first).toMatchObject({ allowed: true, permission: "member", author: { displayName: "alice" } });
    expect(first).toMatchObject({ provenance: { actor: { id: harness.slack.alice.id, login: "alice" } } });
    expect(harness.slack.calls("users.info")).toHaveLength(2);
  });

  test.each([
    ["deactivated", { deleted: true }],
    ["a bot", { is_bot: true }],
    ["a guest", { is_restricted: true }],
    ["a guest of one channel", { is_ultra_restricted: true }],
    ["a stranger", { is_stranger: true }],
    ["of another workspace", { team_id: "T9" }],
    ["of no known workspace", { team_id: undefined }],
  ])("a user who is %s may not start a run and is told why", async (_name, profile) => {
    expect(await authorizeAs(profile)).toEqual({ allowed: false, reason: expect.stringMatching(/\.$/) });
  });

  test("a member of the organization who is in this workspace may", async () => {
    const profile = { team_id: "T9", enterprise_user: { teams: [harness.slack.teamId] }, is_admin: true };

    expect(await authorizeAs(profile)).toMatchObject({ allowed: true, permission: "admin" });
  });

  test("whoever Slack does not know may not", async () => {
    const message = await harness.mentioned();
    const stranger = { ...message, author: { subject: `slack:${harness.slack.teamId}:U0NOBODY` } };

    expect(await harness.adapter.authorize(stranger)).toMatchObject({ allowed: false });
  });

  test("without an answer nobody is let in, and it is tried again", async () => {
    const message = await harness.mentioned();
    harness.slack.faults.next({ method: "users.info", kind: "500" });

    expect(await harness.failureOf(harness.adapter.authorize(message))).toMatchObject({ retryable: true });
  });
});
