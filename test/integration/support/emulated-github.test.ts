import { App } from "@octokit/app";
import { Octokit } from "@octokit/core";
import { Webhooks } from "@octokit/webhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadPlugin } from "../../support/emulate-service.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../../support/emulated-github.ts";
import { asRecord } from "../../support/json.ts";
import { loopbackOnlyFetch } from "../../support/loopback-only.ts";
import { type RecordingEndpoint, startRecordingEndpoint } from "../../support/recording-endpoint.ts";

const COMMENTS = "/repos/{owner}/{repo}/issues/{issue_number}/comments";

let github: EmulatedGithub;
let endpoint: RecordingEndpoint;
let bot: Octokit;
let place: { owner: string; repo: string };

beforeAll(async () => {
  github = await startEmulatedGithub();
  endpoint = await startRecordingEndpoint();
  bot = await appOf(github.app.privateKey).getInstallationOctokit(github.app.installationId);
  place = { owner: github.repo.owner, repo: github.repo.name };
});

afterAll(async () => {
  await endpoint.stop();
  await github.stop();
});

function appOf(privateKey: string, baseUrl = github.apiUrl): App {
  const LoopbackOctokit = Octokit.defaults({ baseUrl, request: { fetch: loopbackOnlyFetch } });
  return new App({ appId: github.app.id, privateKey, Octokit: LoopbackOctokit });
}

function person(token: string): Octokit {
  return new Octokit({ auth: token, baseUrl: github.apiUrl, request: { fetch: loopbackOnlyFetch } });
}

function anIssue() {
  return github.openIssue("wendy", { title: "The build is red", body: "@errand fix it" });
}

test("emulate's bundle still exports the plugin that the double wraps", async () => {
  const plugin = await loadPlugin("githubPlugin");

  expect(plugin.register).toBeTypeOf("function");
});

describe("permissions", () => {
  test("the App acts as its bot, whose numeric id can be looked up", async () => {
    const { number } = await anIssue();

    const { data } = await bot.request(`POST ${COMMENTS}`, {
      ...place,
      issue_number: number,
      body: "Working",
    });
    const user = await bot.request("GET /users/{username}", { username: github.app.botLogin });

    expect(data.user).toMatchObject({ login: "errand[bot]", id: github.app.botUserId, type: "Bot" });
    expect(user.data).toMatchObject({ id: github.app.botUserId, type: "Bot" });
    expect(data.id).toBeGreaterThan(2 ** 31);
  });

  test("an unknown token and a wrong key are refused", async () => {
    const otherKey = (await startedElsewhere()).privateKey;

    await expect(person("ghp_stolen").request("GET /repos/{owner}/{repo}", place)).rejects.toMatchObject({
      status: 401,
    });
    await expect(appOf(otherKey).octokit.request("GET /app")).rejects.toMatchObject({ status: 401 });
  });

  test.each([
    ["olivia", "admin", true],
    ["wendy", "write", true],
    ["rob", "read", false],
    ["sam", "read", false],
  ])("%s has %s on a public repository", async (username, permission, push) => {
    const { data } = await bot.request("GET /repos/{owner}/{repo}/collaborators/{username}/permission", {
      ...place,
      username,
    });

    expect(data).toMatchObject({
      permission,
      role_name: permission,
      user: { login: username, permissions: { push } },
    });
  });

  test("a revoked permission is gone at once", async () => {
    const route = "GET /repos/{owner}/{repo}/collaborators/{username}/permission";
    github.setPermission("wendy", "none");

    const { data } = await bot.request(route, { ...place, username: "wendy" });

    github.setPermission("wendy", "write");
    expect(data).toMatchObject({ permission: "none", user: { permissions: { push: false, pull: false } } });
    await expect(bot.request(route, { ...place, username: "nobody" })).rejects.toMatchObject({ status: 404 });
  });

  test("a stranger has nothing on a private repository", async () => {
    const other = await startEmulatedGithub({ private: true });
    const stranger = new Octokit({ auth: other.stranger.token, baseUrl: other.apiUrl });

    const reading = stranger.request("GET /repos/{owner}/{repo}/issues", place);

    await expect(reading).rejects.toMatchObject({ status: 403 });
    await other.stop();
  });
});

describe("comments and reactions", () => {
  test("a status comment is edited in place and counted", async () => {
    const { number } = await anIssue();
    const { data } = await bot.request(`POST ${COMMENTS}`, {
      ...place,
      issue_number: number,
      body: "Working",
    });

    const route = "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}";
    await bot.request(route, { ...place, comment_id: data.id, body: "Still working" });
    await bot.request(route, { ...place, comment_id: data.id, body: "Done" });

    expect(github.comments(github.repo.fullName, number)).toEqual([
      { id: data.id, kind: "issue", author: "errand[bot]", body: "Done", reactions: [], edits: 2 },
    ]);
  });

  test("reactions are created once, listed, counted and deleted", async () => {
    const { number } = await anIssue();
    const { id } = await github.commentAs("rob", number, "@errand go");
    const route = "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions" as const;
    const target = { ...place, comment_id: id };

    const first = await bot.request(`POST ${route}`, { ...target, content: "eyes" });
    const second = await bot.request(`POST ${route}`, { ...target, content: "eyes" });
    await bot.request(`POST ${route}`, { ...target, content: "rocket" });

    expect([first.status, second.status, second.data.id]).toEqual([201, 200, first.data.id]);
    expect(first.data).toMatchObject({ content: "eyes", user: { id: github.app.botUserId } });
    const comment = await bot.request("GET /repos/{owner}/{repo}/issues/comments/{comment_id}", target);
    expect(comment.data.reactions).toMatchObject({ eyes: 1, rocket: 1, total_count: 2 });

    await bot.request(`DELETE ${route}/{reaction_id}`, { ...target, reaction_id: first.data.id });

    const { data } = await bot.request(`GET ${route}`, target);
    expect(data).toMatchObject([{ content: "rocket" }]);
    const rocket = { content: "rocket", user: "errand[bot]" };
    expect(github.comments(github.repo.fullName, number)).toMatchObject([{ reactions: [rocket] }]);
  });

  test("an issue can be reacted to, with known reactions and where it exists", async () => {
    const { number } = await anIssue();
    const route = "POST /repos/{owner}/{repo}/issues/{issue_number}/reactions";

    await bot.request(route, { ...place, issue_number: number, content: "eyes" });

    expect(github.issueReactions(github.repo.fullName, number)).toEqual([
      { content: "eyes", user: "errand[bot]" },
    ]);
    const path = `POST /repos/acme/widgets/issues/${number}/reactions`;
    await expect(bot.request(path, { content: "tada" })).rejects.toMatchObject({ status: 422 });
    const nowhere = bot.request(route, { ...place, issue_number: 999, content: "eyes" });
    await expect(nowhere).rejects.toMatchObject({ status: 404 });
  });

  test("a reply to a review comment is in the same review thread", async () => {
    const pull = await github.openPullRequest("wendy", { title: "Fix", body: "", branch: "fix-1" });
    const remark = await github.reviewCommentAs("rob", pull.number, "@errand why?");
    const target = { ...place, pull_number: pull.number, comment_id: remark.id };

    const reply = await bot.request(
      "POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies",
      {
        ...target,
        body: "Because.",
      },
    );
    await bot.request("POST /repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions", {
      ...target,
      content: "eyes",
    });

    expect(reply.data).toMatchObject({ in_reply_to_id: remark.id, path: "README.md", line: 1 });
    expect(github.comments(github.repo.fullName, pull.number)).toMatchObject([
      { kind: "review", author: "rob", reactions: [{ content: "eyes" }] },
      { kind: "review", author: "errand[bot]", body: "Because." },
    ]);
  });

  test("a pull request is also an issue, with a pull_request member", async () => {
    const { number } = await github.openPullRequest("wendy", { title: "Fix", body: "", branch: "fix-3" });
    const issue = { ...place, issue_number: number };

    await bot.request("POST /repos/{owner}/{repo}/issues/{issue_number}/reactions", {
      ...issue,
      content: "eyes",
    });
    const { data } = await bot.request("GET /repos/{owner}/{repo}/issues/{issue_number}", issue);

    expect(data).toMatchObject({ title: "Fix", reactions: { eyes: 1 }, pull_request: { merged_at: null } });
  });

  test("a body over 65,536 characters is refused", async () => {
    const { number } = await anIssue();
    const comment = { ...place, issue_number: number };

    await bot.request(`POST ${COMMENTS}`, { ...comment, body: "x".repeat(65_536) });
    const tooLong = bot.request(`POST ${COMMENTS}`, { ...comment, body: "x".repeat(65_537) });

    await expect(tooLong).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining("too long"),
    });
  });
});

describe("faults and the journal", () => {
  test("limits and a bad gateway strike the next call each", async () => {
    const { number } = await anIssue();
    const method = "POST";
    const path = /\/comments$/;
    github.faults.next({ method, path, kind: "secondary-limit", retryAfterSeconds: 60 });
    github.faults.next({ method, path, kind: "429", retryAfterSeconds: 5 });
    github.faults.next({ method, path, kind: "502" });

    const post = () => bot.request(`POST ${COMMENTS}`, { ...place, issue_number: number, body: "faulty" });

    await expect(post()).rejects.toMatchObject({
      status: 403,
      response: { headers: { "retry-after": "60" } },
    });
    await expect(post()).rejects.toMatchObject({ status: 429 });
    await expect(post()).rejects.toMatchObject({ status: 502 });
    await expect(post()).resolves.toMatchObject({ status: 201 });
    expect(github.comments(github.repo.fullName, number)).toHaveLength(1);
    const calls = github.calls(method, path).slice(-4);
    expect(calls.map((call) => call.outcome)).toEqual(["secondary-limit", "429", "502", "201"]);
    expect(calls.at(-1)).toMatchObject({ actor: "errand[bot]", body: { body: "faulty" } });
  });

  test("the 81st write of the App in a minute is refused, and users write on", async () => {
    const own = await startEmulatedGithub();
    try {
      const app = appOf(own.app.privateKey, own.apiUrl);
      const ownBot = await app.getInstallationOctokit(own.app.installationId);
      const { number } = await own.openIssue("wendy", { title: "Busy", body: "" });
      const issue = { ...place, issue_number: number };
      for (let count = 0; count < 80; count += 1) {
        await ownBot.request(`POST ${COMMENTS}`, { ...issue, body: `${count}` });
      }

      const refused = ownBot.request(`POST ${COMMENTS}`, { ...issue, body: "one too many" });

      await expect(refused).rejects.toMatchObject({
        status: 403,
        message: expect.stringContaining("secondary rate limit"),
        response: { headers: { "retry-after": expect.stringMatching(/^\d+$/) } },
      });
      await ownBot.request(`GET ${COMMENTS}`, issue);
      await own.commentAs("wendy", number, "I am no App.");
    } finally {
      await own.stop();
    }
  });

  test("a dropped answer leaves the comment behind", async () => {
    const { number } = await anIssue();
    github.faults.next({ method: "POST", path: /\/comments$/, kind: "drop-after-write" });

    const posting = bot.request(`POST ${COMMENTS}`, { ...place, issue_number: number, body: "lost answer" });

    await expect(posting).rejects.toThrow();
    expect(github.comments(github.repo.fullName, number)).toMatchObject([{ body: "lost answer" }]);
  });
});

describe("webhooks from GitHub", () => {
  function received() {
    const request = endpoint.requests.at(-1);
    if (!request) {
      throw new Error("Nothing was received");
    }
    return request;
  }

  test("a comment arrives signed, with the emulated objects in a recorded payload", async () => {
    const issue = await anIssue();
    const { event, payload, id } = await github.commentAs("rob", issue.number, "@errand go");

    await github.sendWebhook(endpoint.url, { event, payload });

    const { headers, body } = received();
    const webhooks = new Webhooks({ secret: github.app.webhookSecret });
    const signature = headers.get("x-hub-signature-256") ?? "";
    expect(await webhooks.verify(body, signature)).toBe(true);
    expect(headers.get("user-agent")).toMatch(/^GitHub-Hookshot\//);
    expect(headers.get("x-github-event")).toBe("issue_comment");
    expect(headers.get("x-github-delivery")).toMatch(/^[\da-f-]{36}$/);
    expect(JSON.parse(body)).toMatchObject({
      action: "created",
      comment: { id, body: "@errand go", user: { login: "rob", id: github.reader.id } },
      issue: { number: issue.number, title: "The build is red" },
      repository: { full_name: "acme/widgets", id: github.repo.id, owner: { login: "acme" } },
      installation: { id: github.app.installationId },
      sender: { login: "rob", type: "User" },
    });
    expect(body).not.toContain("Codertocat/Hello-World");
  });

  test("a wrong secret, a custom signature and a repeated delivery id can be sent", async () => {
    const { event, payload } = await anIssue();

    await github.sendWebhook(endpoint.url, { event, payload, secret: "wrong", deliveryId: "one" });
    const wrong = received();
    await github.sendWebhook(endpoint.url, { event, payload, signature: null });

    const webhooks = new Webhooks({ secret: github.app.webhookSecret });
    const signature = wrong.headers.get("x-hub-signature-256") ?? "";
    expect(await webhooks.verify(wrong.body, signature)).toBe(false);
    expect(wrong.headers.get("x-github-delivery")).toBe("one");
    expect(received().headers.get("x-hub-signature-256")).toBeNull();
  });

  test("an opened issue, an edit, a comment on a pull request, of a bot and of a review have their payloads", async () => {
    const issue = await anIssue();
    const comment = await github.commentAs("wendy", issue.number, "before");
    const edited = await github.editAs("wendy", comment, "after");
    const pull = await github.openPullRequest("wendy", { title: "Fix", body: "", branch: "fix-2" });
    const onPull = await github.commentAs("wendy", pull.number, "@errand go");
    const ofBot = await github.commentAs(github.otherBot.login, issue.number, "@errand loop");
    const review = await github.reviewCommentAs("rob", pull.number, "@errand why?");

    expect(issue.payload).toMatchObject({ action: "opened", issue: { body: "@errand fix it" } });
    expect(asRecord(issue.payload.issue).pull_request).toBeUndefined();
    expect(edited.payload).toMatchObject({
      action: "edited",
      changes: { body: { from: "before" } },
      comment: { id: comment.id, body: "after" },
      sender: { login: "wendy" },
    });
    expect(onPull.payload).toMatchObject({
      issue: { pull_request: { html_url: `${github.apiUrl}/acme/widgets/pull/${pull.number}` } },
    });
    expect(ofBot.payload).toMatchObject({ sender: { type: "Bot", id: github.otherBot.id } });
    expect(review).toMatchObject({
      event: "pull_request_review_comment",
      payload: { action: "created", comment: { path: "README.md" }, pull_request: { number: pull.number } },
    });
  });
});

async function startedElsewhere(): Promise<{ privateKey: string }> {
  const other = await startEmulatedGithub();
  await other.stop();
  return other.app;
}
