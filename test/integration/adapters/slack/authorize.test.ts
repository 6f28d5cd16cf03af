import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Authorization, InboundMessage } from "../../../../src/core/ports/thread-adapter.ts";
import { SlackFixture } from "./slack-fixture.ts";

let fixture: SlackFixture;

beforeEach(async () => {
  fixture = await SlackFixture.open();
});

afterEach(async () => {
  await fixture.close();
});

describe("authorize", () => {
  async function authorizeAs(profile: object): Promise<Authorization> {
    await fixture.mentioned();
    fixture.fetch = async () =>
      Response.json({ ok: true, user: { id: "U1", team_id: fixture.slack.teamId, ...profile } });
    const author = { subject: `slack:${fixture.slack.teamId}:U1` };
    return fixture.adapter.authorize({ author, installation: fixture.slack.teamId } as InboundMessage);
  }

  test("a member is authorized, and Slack is asked each time", async () => {
    const message = await fixture.mentioned();

    const first = await fixture.adapter.authorize(message);
    await fixture.adapter.authorize(message);

    expect(first).toMatchObject({
      permission: "member",
      roles: ["member"],
      author: { displayName: "alice" },
    });
    expect(first).not.toHaveProperty("refusal");
    expect(first).toMatchObject({ provenance: { actor: { id: fixture.slack.alice.id, login: "alice" } } });
    expect(fixture.slack.calls("users.info")).toHaveLength(2);
  });

  test("a person of an organization has one account besides those in its workspaces", async () => {
    const { teamId } = fixture.slack;
    const whole = { id: "W1", enterprise_id: "E1", teams: [teamId, "T9"] };

    expect(await authorizeAs({ enterprise_user: whole })).toMatchObject({
      author: { subject: `slack:${teamId}:U1`, aliases: ["slack:E1:W1", "slack:T9:U1"] },
    });
    expect(await authorizeAs({ enterprise_user: { enterprise_id: "E1" } })).toMatchObject({
      author: { aliases: ["slack:E1:U1"] },
    });
    for (const enterprise_user of [undefined, {}, { id: "W1", teams: ["T9"] }]) {
      expect((await authorizeAs({ enterprise_user })) as object).not.toHaveProperty("author.aliases");
    }
  });

  test.each([
    ["a bot", "bot", { is_bot: true, is_restricted: true }],
    ["a workflow", "bot", { is_workflow_bot: true }],
    ["a guest", "guest", { is_restricted: true }],
    ["a guest of one channel", "guest", { is_ultra_restricted: true, is_admin: true }],
    ["a stranger", "external", { is_stranger: true, is_restricted: true }],
    ["of another workspace", "external", { team_id: "T9", is_owner: true }],
    ["of no known workspace", "external", { team_id: undefined }],
  ])("a user who is %s has the role %s and gets a refusal by default", async (_name, role, profile) => {
    expect(await authorizeAs(profile)).toMatchObject({
      allowed: true,
      permission: role,
      roles: [role],
      refusal: expect.stringMatching(/\.$/),
    });
  });

  test("a deactivated user is refused whatever the policies say", async () => {
    expect(await authorizeAs({ deleted: true })).toEqual({
      allowed: false,
      reason: "Your account is deactivated.",
    });
  });

  test("an app is a bot without asking Slack about the user whose token it has", async () => {
    const author = { subject: `slack:${fixture.slack.teamId}:B9`, isBot: true } as const;

    const answer = await fixture.adapter.authorize({ ...(await fixture.mentioned()), author });

    expect(answer).toMatchObject({ allowed: true, roles: ["bot"], author });
    expect(fixture.slack.calls("users.info")).toEqual([]);
  });

  test("a member of the organization who is in this workspace is authorized", async () => {
    const profile = { team_id: "T9", enterprise_user: { teams: [fixture.slack.teamId] }, is_admin: true };

    expect(await authorizeAs(profile)).toMatchObject({ allowed: true, permission: "admin" });
  });

  test("a user whom Slack does not know is refused", async () => {
    const message = await fixture.mentioned();
    const stranger = { ...message, author: { subject: `slack:${fixture.slack.teamId}:U0NOBODY` } };

    expect(await fixture.adapter.authorize(stranger)).toMatchObject({ allowed: false });
  });

  test("without an answer from Slack the author is not authorized, and the failure is retryable", async () => {
    const message = await fixture.mentioned();
    fixture.slack.faults.next({ method: "users.info", kind: "500" });

    expect(await fixture.failureOf(fixture.adapter.authorize(message))).toMatchObject({ retryable: true });
  });
});
