import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { messageOf, runId, SlackFixture } from "./slack-fixture.ts";

let fixture: SlackFixture;

beforeEach(async () => {
  fixture = await SlackFixture.open();
});

afterEach(async () => {
  await fixture.close();
});

async function command(text: string, user = fixture.slack.alice): Promise<unknown> {
  const response = await fixture.slack.sendSlashCommand(fixture.url, {
    command: "/errand",
    text,
    user,
    channel: "work",
  });
  expect(response.status).toBe(200);
  return response.json();
}

describe("slash commands", () => {
  test.each([
    ["link", "link", ""],
    ["runs", "runs", ""],
    ["Doctor", "doctor", ""],
    ["settings", "settings", ""],
    ['settings channel env="My Env" pr=off', "settings", 'channel env="My Env" pr=off'],
    ["settings env=“My Env”", "settings", "env=“My Env”"],
    ["settings clear", "settings", "clear"],
    ["status", "status", ""],
  ] as const)("%j is answered at once to its author alone", async (typed, name, text) => {
    expect(await command(typed)).toEqual({ response_type: "ephemeral", text: `Your ${name}.` });

    const { alice, channel, teamId } = fixture.slack;
    expect(fixture.inbox).toEqual([]);
    expect(fixture.commands).toEqual([
      expect.objectContaining({
        name,
        text,
        installation: teamId,
        place: channel.id,
        requestId: expect.stringMatching(/./),
        authorization: expect.objectContaining({
          allowed: true,
          roles: ["member"],
          author: expect.objectContaining({ subject: `slack:${teamId}:${alice.id}` }),
        }),
      }),
    ]);
  });

  test("a task that cannot be answered for want of a scope says so at once, and is not stored", async () => {
    fixture.slack.faults.next({ method: "conversations.open", kind: "ok-false", error: "missing_scope" });

    expect(await command("fix the build")).toEqual({
      response_type: "ephemeral",
      text: expect.stringMatching(/lacks the scope `im:write`.*mention me in a channel/),
    });
    expect(fixture.inbox).toEqual([]);
  });

  test.each(["internal_error", "ratelimited"])(
    "a task is stored although Slack answers %s",
    async (error) => {
      fixture.slack.faults.next({ method: "conversations.open", kind: "ok-false", error });

      expect(await command("fix the build")).toMatchObject({ text: expect.stringMatching(/I will do it/) });
      expect(fixture.inbox).toHaveLength(1);
    },
  );

  test("a title in the answer is neither a link with other words nor a mention", async () => {
    fixture.answer =
      '• "<https://evil.example|Sign in> <!channel>" is working. https://errand.example/sessions/1';

    expect(await command("runs")).toEqual({
      response_type: "ephemeral",
      text: '• "&lt;https://evil.example|Sign in&gt; &lt;\u200B!channel&gt;" is working. https://errand.example/sessions/1',
    });
  });

  test.each(["settings page is broken", "runs fail on main", "link the docs", "doctor the data"])(
    "%j is a task",
    async (text) => {
      expect(await command(text)).toMatchObject({ text: expect.stringMatching(/direct conversation/) });

      expect(fixture.commands).toEqual([]);
      expect(messageOf(await fixture.translateLast()).text).toBe(`new ${text}`);
    },
  );

  test.each(["a=a".repeat(1_000), 'a="x" '.repeat(1_000)])(
    "a command that looks like settings up to its end is a task, and takes no time to read",
    async (pairs) => {
      await command(`settings ${pairs} b`);

      expect(fixture.commands).toEqual([]);
      expect(messageOf(await fixture.translateLast()).text).toMatch(/^new settings a=/);
    },
  );

  test.each(["stop", "retry", "new fix it", "mute"])(
    "%j is for the run of the direct conversation",
    async (text) => {
      await command(text);

      expect(messageOf(await fixture.translateLast())).toMatchObject({ addressed: "direct", text });
    },
  );

  test("the help names the bot as it is called, also if this process has not asked Slack before", async () => {
    const original = fixture.fetch;
    fixture.fetch = async (input, init) =>
      String(input).endsWith("auth.test")
        ? Response.json({ ok: true, team_id: fixture.slack.teamId, user_id: "U0", user: "helper" })
        : original(input, init);

    expect(await command("help")).toMatchObject({ text: expect.stringContaining("`@helper <task>`") });
  });

  test("a command says so when Slack does not answer", async () => {
    fixture.slack.faults.next({ method: "users.info", kind: "500" });

    expect(await command("link")).toEqual({
      response_type: "ephemeral",
      text: expect.stringMatching(/Try it again/),
    });

    expect(fixture.commands).toEqual([]);
  });

  test.each(["link", "fix it"])(
    "in a workspace without an installation, %j says whom to ask",
    async (text) => {
      expect(await command(text, fixture.slack.carol)).toEqual({
        response_type: "ephemeral",
        text: expect.stringMatching(/not connected with this workspace yet. Ask an administrator of Errand/),
      });

      expect([fixture.commands, fixture.inbox]).toEqual([[], []]);
    },
  );

  test("in a workspace without an installation, a button says whom to ask, and is stored", async () => {
    const { alice, carol, channel, otherWorkspace } = fixture.slack;
    for (const [user, { id }] of [
      [carol, otherWorkspace.channel("work")],
      [alice, channel],
    ] as const) {
      const { ts } = await fixture.slack.postAs(user, { channel: id, text: "a card" });
      const message = { channel: id, ts };
      await fixture.slack.sendButton(fixture.url, { actionId: "cancel", value: "x", message, user });
    }

    expect(fixture.slack.responses().map(({ body }) => body)).toEqual([
      {
        response_type: "ephemeral",
        replace_original: false,
        text: expect.stringMatching(/not connected with this workspace yet/),
      },
    ]);
    expect(fixture.inbox).toHaveLength(2);
  });

  test("while Slack does not say whose token it is, a task is stored", async () => {
    fixture.slack.faults.next({ method: "auth.test", kind: "500" });

    expect(await command("fix it")).toMatchObject({ text: expect.stringMatching(/direct conversation/) });

    expect(fixture.inbox).toHaveLength(1);
  });

  test("a task starts a run in the direct conversation of the author and the bot", async () => {
    const { alice, teamId } = fixture.slack;
    expect(await command("repo=acme/web fix it")).toEqual({
      response_type: "ephemeral",
      text: expect.stringMatching(/direct conversation/),
    });

    const message = messageOf(await fixture.translateLast());
    const again = messageOf(await fixture.translateLast());

    const direct = await fixture.slack.openDirectMessage(alice);
    expect(message).toMatchObject({
      key: `${teamId}/${direct.id}/`,
      place: fixture.slack.channel.id,
      addressed: "direct",
      author: { subject: `slack:${teamId}:${alice.id}` },
      text: "new repo=acme/web fix it",
      messageRef: "",
      provenance: { actor: { id: alice.id }, action: "commanded" },
    });
    expect(again).toEqual(message);
  });
});

describe("the menu of environments", () => {
  const search = (actionId: string, words: string) => {
    const message = { channel: fixture.slack.channel.id, ts: "1.0" };
    const { alice } = fixture.slack;
    return fixture.slack.sendMenuSearch(fixture.url, { actionId, words, message, user: alice });
  };

  test("its options are answered at once, at most 100, and a menu of another app has none", async () => {
    fixture.choices = Array.from({ length: 101 }, (_, index) => ({
      id: `env${index}`,
      name: "x".repeat(200),
    }));

    const answer = (await (await search(`errand_choose:menu:${runId}`, " back ")).json()) as {
      readonly options: readonly { readonly text: { readonly text: string }; readonly value: string }[];
    };

    expect(answer.options).toHaveLength(100);
    expect(answer.options.every(({ text, value }) => text.text.length <= 75 && value.length <= 75)).toBe(
      true,
    );
    expect(answer.options[7]?.value).toBe(`${runId}|env7`);
    const { alice, teamId } = fixture.slack;
    const subject = `slack:${teamId}:${alice.id}`;
    const by = { adapter: "slack", installation: teamId, subject, requestId: runId, query: "back" };
    expect(fixture.searches).toEqual([by]);
    expect(await (await search("other_menu", "back")).json()).toEqual({ options: [] });
    expect(fixture.inbox).toEqual([]);
  });

  test("the question with many environments keeps the limits of Slack", async () => {
    const message = await fixture.mentioned();
    const options = Array.from({ length: 300 }, (_, index) => ({ id: `env${index}`, name: `Env ${index}` }));

    await fixture.deliver(message, { kind: "choice", requestId: runId, text: "Where?", options });

    const [question] = fixture.repliesTo(message);
    expect(question?.blocks.at(-1)).toMatchObject({
      elements: [{ type: "external_select" }, { type: "button" }],
    });
  });
});
