import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Authorization, InboundMessage } from "../../../../src/core/ports/thread-adapter.ts";
import { SlackDesk } from "./slack-desk.ts";

let desk: SlackDesk;

beforeEach(async () => {
  desk = await SlackDesk.open();
});

afterEach(async () => {
  await desk.close();
});

describe("authorize", () => {
  function authorizeAs(profile: object): Promise<Authorization> {
    desk.fetch = async () =>
      Response.json({ ok: true, user: { id: "U1", team_id: desk.slack.teamId, ...profile } });
    const author = { subject: `slack:${desk.slack.teamId}:U1` };
    return desk.adapter.authorize({ author, installation: desk.slack.teamId } as InboundMessage);
  }

  test("a member may, asked of Slack each time", async () => {
    const message = await desk.mentioned();

    const first = await desk.adapter.authorize(message);
    await desk.adapter.authorize(message);

    expect(first).toMatchObject({ allowed: true, permission: "member", author: { displayName: "alice" } });
    expect(first).toMatchObject({ provenance: { actor: { id: desk.slack.alice.id, login: "alice" } } });
    expect(desk.slack.calls("users.info")).toHaveLength(2);
  });

  test.each([
    ["deactivated", { deleted: true }],
    ["a bot", { is_bot: true }],
    ["a guest", { is_restricted: true }],
    ["a guest of one channel", { is_ultra_restricted: true }],
    ["a stranger", { is_stranger: true }],
    ["of another workspace", { team_id: "T9" }],
    ["of no known workspace", { team_id: undefined }],
  ])("who is %s may not, and is told why (45)", async (_name, profile) => {
    expect(await authorizeAs(profile)).toEqual({ allowed: false, reason: expect.stringMatching(/\.$/) });
  });

  test("a member of the organization who is in this workspace may", async () => {
    const profile = { team_id: "T9", enterprise_user: { teams: [desk.slack.teamId] }, is_admin: true };

    expect(await authorizeAs(profile)).toMatchObject({ allowed: true, permission: "admin" });
  });

  test("whoever Slack does not know may not", async () => {
    const message = await desk.mentioned();
    const stranger = { ...message, author: { subject: `slack:${desk.slack.teamId}:U0NOBODY` } };

    expect(await desk.adapter.authorize(stranger)).toMatchObject({ allowed: false });
  });

  test("without an answer nobody is let in, and it is tried again", async () => {
    const message = await desk.mentioned();
    desk.slack.faults.next({ method: "users.info", kind: "500" });

    expect(await desk.failureOf(desk.adapter.authorize(message))).toMatchObject({ retryable: true });
  });
});
