import { createParser } from "eventsource-parser";
import { afterAll, beforeAll, describe as describeTests, expect, test, vi } from "vitest";
import type { LoggedEvent, RunItem } from "../support/api-client.ts";
import { asRecord } from "../support/json.ts";
import { waitFor } from "../support/wait-for.ts";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS, WAIT_LIMIT_MS } from "./service-fixture.ts";
import { type MentionEvent, SlackThread } from "./slack-thread.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

/** The tests run concurrently, because each has its own threads and spends most of its time waiting. */
const describe = describeTests.concurrent;

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.open();
});

afterAll(async () => {
  try {
    await fixture.checkInvariants();
  } finally {
    await fixture.close();
  }
});

const STATES = ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS", "SUCCEEDED"];
/** The states that a thread shows. A newer card may replace one that was not posted yet. */
const SLACK_WORDS = ["Queued", "Preparing the workspace", "Starting the agent", "Working", "Succeeded"];
const GITHUB_WORDS = ["Queued", "Preparing the workspace", "Starting the agent", "Working", "Done"];

describe("a run over REST (step 1)", () => {
  test("a run over REST passes through its states, and the stream shows them live", async () => {
    const runId = await fixture.api.createRun("write notes.txt hello; sleep 1");
    const states: string[] = [];
    const seenWhileLive: string[] = [];

    await readStream(runId, async (event) => {
      states.push(...stateTold(event));
      if (event.to === "INPROGRESS") {
        seenWhileLive.push((await fixture.api.getRun(runId)).state);
      }
    });

    expect(states).toEqual(STATES);
    expect(seenWhileLive).toEqual(["INPROGRESS"]);
    expect((await fixture.api.events(runId)).flatMap(stateTold)).toEqual(STATES);
    expect(await fixture.api.getRun(runId)).toMatchObject({
      source: "API",
      creator: { type: expect.any(String) },
    });
  });

  test("a run over REST works in its own workspace", async () => {
    const [one, two] = await Promise.all([
      fixture.api.createRun("write mine.txt one"),
      fixture.api.createRun("shell sleep 0.2; ls"),
    ]);
    await fixture.api.waitForState(one, "SUCCEEDED", WAIT_LIMIT_MS);
    await fixture.api.waitForState(two, "SUCCEEDED", WAIT_LIMIT_MS);

    await fixture.api.followUp(one, "read mine.txt");
    await fixture.api.followUp(two, "read mine.txt");
    await fixture.api.waitForState(one, "SUCCEEDED", WAIT_LIMIT_MS);
    await fixture.api.waitForState(two, "SUCCEEDED", WAIT_LIMIT_MS);

    expect(await answerOf(one)).toContain("mine.txt has 4 characters: one");
    expect(await answerOf(two)).toContain("mine.txt does not exist");
  });

  test("the session link of a run opens its page for a signed-in user", async () => {
    const run = await fixture.api.getRun(await fixture.api.createRun("say hello"));
    const link = String(run.session_link);

    const stranger = await fetch(link, { redirect: "manual" });
    const page = await fetch(link, { headers: { cookie: await signIn() } });

    expect(stranger.status).toBe(303);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain(run.run_id);
  });
});

/** For a mention, one turn and one pull request: without two reactions, the token and the permission. */
const MAX_CALLS = 6;

describe("a comment on GitHub (step 2)", () => {
  test("a comment on GitHub becomes a run with one status comment, and the answer is a comment that mentions the author", async () => {
    const issue = await GithubIssue.open(fixture);

    const comment = await issue.comment("@errand write notes.txt hello; sleep 1; say It is done.");
    const card = await issue.untilCard("Done");

    expect(await issue.untilAnswers(1)).toEqual([
      expect.stringMatching(/\n@wendy \*\*The agent's answer:\*\*\n[\s\S]*It is done\./),
    ]);
    expect(issue.comments).toHaveLength(2);
    expectSteps(issue.history, GITHUB_WORDS);
    expect(card.edits).toBe(issue.history.length - 1);
    expect(await issue.untilReactions(comment, 2)).toEqual([
      { content: "eyes", user: "errand[bot]" },
      { content: "rocket", user: "errand[bot]" },
    ]);
    const run = await fixture.api.getRun(issue.runId);
    expect(run).toMatchObject({
      title: "The parser is slow",
      prompt: "write notes.txt hello; sleep 1; say It is done.",
      source: "GITHUB_WEBHOOK",
      creator: { type: "user", display_name: "wendy" },
      trigger_url: expect.stringContaining(`/issues/${issue.number}`),
    });
    const { app, repo, writer } = fixture.github;
    expect(run.provenance).toEqual({
      integration: "github",
      installation: app.installationId,
      repository: { id: repo.id, full_name: repo.fullName },
      actor: { id: writer.id, login: "wendy" },
      linked_account: asRecord(run.creator).uid,
      message_ref: expect.any(String),
      permission: "write",
      message_ids: [comment.id],
      content_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      object: {
        kind: "issue_comment",
        id: comment.id,
        action: "created",
        in: "issue",
        number: issue.number,
      },
      config_layers: { harness: "default" },
    });
  });

  test("a comment on GitHub leads to a pull request, in which follow-ups are accepted", async () => {
    const issue = await GithubIssue.open(fixture);
    await issue.comment("@errand write notes.txt hello");
    const card = await issue.untilCard("Done", /Its pull request:/);
    const branch = `errand/${issue.runId.slice(-12)}-the-parser-is-slow`;

    const run = await fixture.api.getRun(issue.runId);
    const [url = "", number] = /http\S+\/pull\/(\d+)/.exec(card.body) ?? [];
    expect(run.artifacts).toContainEqual(
      expect.objectContaining({
        artifact_type: "PULL_REQUEST",
        data: expect.objectContaining({ url, branch }),
      }),
    );
    const openings = () =>
      fixture.github
        .calls("POST", /\/pulls$/)
        .filter(({ body }) => JSON.stringify(body).includes(`"head":"${branch}"`));
    expect(openings()).toMatchObject([
      {
        actor: fixture.github.app.botLogin,
        body: {
          title: "The parser is slow",
          base: "main",
          draft: true,
          body: expect.stringContaining(`\n\nFixes #${issue.number}\n\nMade by a run of Errand: `),
        },
      },
    ]);
    expect(await fixture.gitHost.repositories.read(fixture.github.repo.fullName, branch, "notes.txt")).toBe(
      "hello\n",
    );

    const { id, login } = fixture.github.writer;
    expect(await fixture.gitHost.repositories.message(fixture.github.repo.fullName, branch)).toContain(
      `\n\nCo-authored-by: ${login} <${id}+${login}@users.noreply.127.0.0.1>\n`,
    );

    const pull = new GithubIssue(fixture, Number(number));
    await issue.untilAnswers(1);
    expect(pull.comments).toEqual([]);
    const reviewers = fixture.github.calls("POST", new RegExp(`/pulls/${number}/requested_reviewers$`));
    expect(reviewers).toMatchObject([{ body: { reviewers: [login] } }]);
    const calls = [...issue.calls, ...pull.calls, ...openings(), ...reviewers];
    const between = issue.history.length - 2;
    expect(calls.length - between).toBeLessThanOrEqual(MAX_CALLS);
    expect(fixture.github.calls("GET", /^\/repositories\//)).toEqual([]);
    await pull.comment("@errand read notes.txt");
    await pull.untilCard("Done", /turn 2/);
    expect((await pull.untilAnswers(1)).at(-1)).toContain("hello");
    expect(pull.runId).toBe(issue.runId);
    expect(openings().filter(({ outcome }) => outcome === "201")).toHaveLength(1);
  });

  test("the comments of a review of the run's pull request are one turn with one answer, and each thread has its link", async () => {
    const issue = await GithubIssue.open(fixture);
    await issue.comment("@errand write notes.txt hello");
    const card = await issue.untilCard("Done", /Its pull request:/);
    const pull = new GithubIssue(fixture, Number(/\/pull\/(\d+)/.exec(card.body)?.[1]));

    const words = ["one", "two", "three", "four", "five"].map((each) => `@errand say ${each}`);
    const comments = await pull.reviewComments(words);
    const [answer] = await pull.untilAnswers(1);
    for (const comment of comments) {
      await pull.untilReaction(comment, "rocket");
    }

    expect(answer).toMatch(/^@wendy /m);
    expect(pull.reviewAnswers).toEqual([]);
    const links = await waitFor(() => (pull.replies.length >= 5 ? pull.replies : undefined), {
      what: "a reply in each thread",
      timeoutMs: WAIT_LIMIT_MS,
    });
    expect(links.join("\n").match(/^\[Answered here\]\(http\S+\)$/gm)).toHaveLength(5);
    expect(links.join("\n")).not.toContain("@wendy");
    const turns = (await fixture.api.events(issue.runId)).filter(({ kind }) => kind === "turn.ended");
    expect(turns).toHaveLength(2);
    expect(pull.runId).toBe(issue.runId);
    expect([pull.answers.length, issue.answers.length]).toEqual([1, 1]);
    expect(await fixture.runsFrom(issue)).toEqual([issue.runId]);
  });

  test("a second mention on GitHub is a follow-up, and its answer leaves the first answer as it is", async () => {
    const issue = await GithubIssue.open(fixture);
    await issue.comment("@errand write notes.txt first words");
    await issue.untilCard("Done");

    await issue.comment("Just between us: this one is not for the bot.");
    const second = await issue.comment("@errand read notes.txt", fixture.github.owner.login);
    await issue.untilCard("Done", /turn 2/);
    const answers = await issue.untilAnswers(2);

    expect(answers.at(-1)).toContain("first words");
    expect(answers.at(0)).not.toContain("first words");
    expect([issue.cards.length, issue.comments.length]).toEqual([1, 3]);
    // The reaction of the end takes the place of the first one if that still waits for the pace of GitHub.
    await issue.untilReaction(second, "rocket");
    expect(await fixture.runsFrom(issue)).toEqual([issue.runId]);
  });

  test("a comment by a user with read access only waits for the approval of a user who can", async () => {
    const issue = await GithubIssue.open(fixture);

    await issue.comment("@errand say hello", fixture.github.reader.login);
    await issue.untilCard("Waiting for approval", /^- \[ \] Approve /m);

    expect(issue.answers).toEqual([]);
    expect(await fixture.api.getRun(issue.runId)).toMatchObject({ state: "BLOCKED" });
  });
});

describe("a mention in Slack (step 3)", () => {
  const deliveries: readonly { readonly order: string; readonly events: readonly MentionEvent[] }[] = [
    { order: "the mention event alone", events: ["appMention"] },
    { order: "the mention event first", events: ["appMention", "message"] },
    { order: "the mention event second", events: ["message", "appMention"] },
  ];

  test.each(deliveries)(
    "a mention in Slack delivered with $order becomes one run, one card and one answer",
    async ({ events }) => {
      const thread = await SlackThread.open(
        fixture,
        // A card is edited once in 3 s.
        "write notes.txt hello; sleep 7; say It is done.",
        events,
      );

      await thread.untilCard("Succeeded");
      const answers = await thread.untilAnswers(1);

      expect(answers).toEqual([expect.stringMatching(/awake again\.\n\nIt is done\.$/)]);
      expect(thread.messages).toHaveLength(2);
      expect(thread.cards[0]?.edited).toBe(true);
      expectSteps(thread.history, SLACK_WORDS);
      expect(thread.history).toContain("Working");
      await waitFor(() => reactionsTo(thread)[0] === "white_check_mark", { what: "the reaction of the end" });
      expect(reactionsTo(thread)).toEqual(["white_check_mark"]);
      expect(await fixture.runsFrom(thread)).toEqual([thread.runId]);
      expect(await fixture.followUpsOf(thread.runId)).toEqual([]);
      const run = await fixture.api.getRun(thread.runId);
      expect(run).toMatchObject({
        prompt: "write notes.txt hello; sleep 7; say It is done.",
        source: "SLACK",
        creator: { type: "user", display_name: "alice" },
        trigger_url: expect.stringContaining(`/archives/${thread.root.channel.id}/p`),
      });
      const { channel, ts } = thread.root;
      expect(run.provenance).toEqual({
        integration: "slack",
        installation: fixture.slack.teamId,
        channel: channel.id,
        actor: { id: fixture.slack.alice.id, login: "alice" },
        linked_account: asRecord(run.creator).uid,
        message_ref: expect.any(String),
        permission: "member",
        message_ids: [`${channel.id}/${ts}`],
        content_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        action: "posted",
        version: ts,
        event_id: expect.stringMatching(/^Ev/),
        config_layers: { harness: "default" },
        has_environments: false,
      });
    },
  );

  test("a button beside changes without a pull request makes one, and the thread says where it is", async () => {
    const { fullName } = fixture.github.repo;
    const thread = await SlackThread.open(fixture, `repo=${fullName} pr=off write button.txt hello`);
    await thread.untilAnswers(1);
    expect((await fixture.api.getRun(thread.runId)).artifacts).not.toContainEqual(
      expect.objectContaining({ artifact_type: "PULL_REQUEST" }),
    );

    await thread.press("Create pull request");
    const [, answer] = await thread.untilAnswers(2);

    const [opened] = fixture.github.pullRequests().slice(-1);
    expect(answer).toMatch(/^The pull request: http\S+\/pull\/\d+$/);
    const branch = opened?.branch ?? "";
    expect(await fixture.gitHost.repositories.read(fullName, branch, "button.txt")).toBe("hello\n");
    expect(JSON.stringify(thread.messages.at(-1)?.blocks)).toContain("1 file +1 −0");
    const events = await fixture.api.events(thread.runId);
    expect(events.filter(({ kind }) => kind === "agent.message")).toHaveLength(
      events.filter(({ kind, turn }) => kind === "agent.message" && turn === 1).length,
    );
  });

  test("a reply in Slack without a mention is a follow-up and is answered", async () => {
    const thread = await SlackThread.open(fixture, "write notes.txt first words");
    await thread.untilAnswers(1);

    await thread.reply("read notes.txt");
    const answers = await thread.untilAnswers(2);
    await thread.untilCard("Succeeded");

    expect(answers[1]).toContain("first words");
    expect(thread.cards).toHaveLength(1);
    expect(thread.messages).toHaveLength(3);
    expect(await fixture.runsFrom(thread)).toEqual([thread.runId]);
  });

  test("a mention by a user whom the workspace does not know is refused and creates no run", async () => {
    const thread = await SlackThread.post(fixture, "say hello");

    await thread.deliver({ ...thread.mention.appMention, user: "U0STRANGER" });
    // Slack cannot show a message only to a person whom it does not know, so all see it.
    await thread.untilReply(/This workspace does not know you/);

    expect(thread.cards).toEqual([]);
    expect(await fixture.runsFrom(thread)).toEqual([]);
  });
});

describe("stopping a run (step 4)", () => {
  test("a cancel over REST is announced in the thread", async () => {
    const thread = await SlackThread.open(fixture, "sleep 60");
    await thread.untilCard("Working");

    const answer = await fixture.api.cancel(thread.runId);

    expect(answer).toMatchObject({ status: 200, body: thread.runId });
    await thread.untilCard("Cancelled");
    expect(await untilFree(thread.runId)).toMatchObject({ state: "CANCELLED" });
  });

  test("a cancel by the button in Slack names its user", async () => {
    const thread = await SlackThread.open(fixture, "sleep 60");
    await thread.untilCard("Working");

    await thread.press("Stop");
    await thread.untilCard("Cancelled");

    expect((await untilFree(thread.runId)).status_message?.message).toBe("Cancelled by alice.");
    expect(thread.cards).toHaveLength(1);
  });

  test("a comment on GitHub that says stop cancels the run", async () => {
    const issue = await GithubIssue.open(fixture);
    await issue.comment("@errand sleep 600");
    await issue.untilCard("Working");

    await issue.comment("@errand stop");
    const card = await issue.untilCard("Cancelled");

    expect(card.body).toContain("Cancelled by wendy.");
    expect(await issue.untilAnswers(1)).toEqual([expect.stringContaining("Cancelled by wendy.")]);
    expect(issue.comments).toHaveLength(2);
    expect(await untilFree(issue.runId)).toMatchObject({ state: "CANCELLED" });
  });
});

/**
 * The states must appear in this order and end with the last one. At least two must appear, because otherwise nothing
 * was edited.
 */
function expectSteps(history: readonly string[], words: readonly string[]): void {
  const steps = history.map((word) => words.indexOf(word));
  expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b));
  expect(steps).not.toContain(-1);
  expect(history.at(-1)).toBe(words.at(-1));
}

function stateTold(event: LoggedEvent): string[] {
  if (event.kind === "run.created") {
    return [String(event.state)];
  }
  return event.kind === "run.state" ? [String(event.to)] : [];
}

async function readStream(runId: string, hear: (event: LoggedEvent) => Promise<void>): Promise<void> {
  const updates: LoggedEvent[] = [];
  const parser = createParser({ onEvent: ({ data }) => updates.push(JSON.parse(data) as LoggedEvent) });
  const headers = { authorization: `Bearer ${fixture.service.apiKey}`, accept: "text/event-stream" };
  const answer = await fetch(`${fixture.service.url}/api/v1/agent/runs/${runId}/events`, { headers });
  const decoder = new TextDecoder();
  for await (const bytes of answer.body ?? []) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    for (const event of updates.splice(0)) {
      await hear(event);
    }
  }
}

async function signIn(): Promise<string> {
  const { url, apiKey: key } = fixture.service;
  const answer = await fetch(`${url}/signin`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ key }),
  });
  return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
}

async function answerOf(runId: string): Promise<string> {
  const ends = (await fixture.api.events(runId)).filter(({ kind }) => kind === "turn.ended");
  return String(ends.at(-1)?.answer);
}

function untilFree(runId: string): Promise<RunItem> {
  const isFree = async () => {
    const run = await fixture.api.getRun(runId);
    return run.is_sandbox_running ? undefined : run;
  };
  return waitFor(isFree, { what: "its processes to be gone", timeoutMs: WAIT_LIMIT_MS });
}

function reactionsTo(thread: SlackThread): readonly string[] {
  const { channel, ts } = thread.root;
  const [root] = fixture.slack.threadMessages(channel.id, ts);
  return root?.reactions.map(({ name }) => name) ?? [];
}
