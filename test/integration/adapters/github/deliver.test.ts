import { inspect } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { GithubAdapter } from "../../../../src/adapters/github/index.ts";
import type { RunId, ThreadKey } from "../../../../src/core/basics/ids.ts";
import type { Notice, RunCard } from "../../../../src/core/model/threads/notice.ts";
import type { Delivery, InboundMessage } from "../../../../src/core/ports/thread-adapter.ts";
import { type EmulatedGithub, startEmulatedGithub, type Written } from "../../../support/emulated-github.ts";
import { jsonAnswer, startFrontServer } from "../../../support/front-server.ts";
import { loopbackOnlyFetch } from "../../../support/loopback-only.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { timeoutsBy } from "../../../support/manual-timeouts.ts";
import { waitFor } from "../../../support/wait-for.ts";
import { adapterOn, fetchWith, inboundMessageOf, refusing, storedEvent } from "./github-fixture.ts";

const COMMENTS = /\/issues\/\d+\/comments$/;
const COMMENT = /\/issues\/comments\/\d+$/;
const REPLY = { kind: "message", purpose: "reply", text: "It is working." } as const;

let github: EmulatedGithub;
let adapted: GithubAdapter;
let issue: Written;
let message: InboundMessage;
let deliveries = 0;

beforeAll(async () => {
  github = await startEmulatedGithub();
  adapted = adapterOn(github);
});

beforeEach(async () => {
  github.faults.clear();
  issue = await github.openIssue("olivia", { title: "Broken", body: "It is." });
  message = await inboundMessageOf(adapted, await github.commentAs("wendy", issue.number, "@errand fix it"));
});

afterAll(() => github.stop());

function aDelivery(notice: Notice, overrides: Partial<Delivery> = {}): Delivery {
  deliveries += 1;
  const { installation, key } = message;
  const thread = { id: "thread-1", installation, key };
  return { id: `delivery-${deliveries}`, thread, notice, maybeShown: false, ...overrides };
}

function aCard(overrides: Partial<RunCard> = {}): Notice {
  const runId = "01900000-0000-7000-8000-000000000001" as RunId;
  const sessionLink = "https://errand.example/sessions/1";
  const card = { runId, title: "Fix it", state: "QUEUED", turn: 1, sessionLink } as const;
  return { kind: "card", card: { ...card, ...overrides } };
}

function ours(number = issue.number) {
  return github.comments(github.repo.fullName, number).filter(({ author }) => author === github.app.botLogin);
}

describe("a reaction that shows that the message was seen", () => {
  const seen = () => aDelivery({ kind: "seen", messageRef: message.messageRef });

  test("the seen reaction is on the comment once, however often it is delivered", async () => {
    await adapted.adapter.deliver(seen());
    await adapted.adapter.deliver(seen());

    const comment = github
      .comments(github.repo.fullName, issue.number)
      .find(({ author }) => author === "wendy");
    expect(comment?.reactions).toEqual([{ content: "eyes", user: github.app.botLogin }]);
  });

  test.each([
    ["done", "rocket"],
    ["failed", "-1"],
    ["stopped", "confused"],
    ["thanked", "heart"],
  ] as const)("the end %s of a turn is a reaction as well", async (how, content) => {
    const end = how === "thanked" ? { end: "done" as const, isThanks: true } : { end: how };
    await adapted.adapter.deliver(aDelivery({ kind: "ended", messageRef: message.messageRef, ...end }));

    const [comment] = github.comments(github.repo.fullName, issue.number);
    expect(comment?.reactions).toEqual([{ content, user: github.app.botLogin }]);
  });

  test("the seen reaction to an issue is on the issue", async () => {
    message = await inboundMessageOf(
      adapted,
      await github.openIssue("wendy", { title: "T", body: "@errand go" }),
    );

    await adapted.adapter.deliver(seen());

    const number = (message.provenance.object as { number: number }).number;
    expect(github.issueReactions(github.repo.fullName, number)).toEqual([
      { content: "eyes", user: github.app.botLogin },
    ]);
  });

  test("the seen reaction to a deleted comment is given up", async () => {
    const attempt = adapted.adapter.deliver(aDelivery({ kind: "seen", messageRef: "issue_comment/1" }));

    await expect(attempt).rejects.toMatchObject({ code: "resource_not_found", retryable: false });
  });
});

describe("the card of a run", () => {
  test("the card of a run is one comment that is edited up to the end", async () => {
    let shownAt = await adapted.adapter.deliver(aDelivery(aCard()));
    for (const state of ["PENDING", "INPROGRESS", "BLOCKED", "INPROGRESS"] as const) {
      shownAt = await adapted.adapter.deliver(aDelivery(aCard({ state }), { shownAt }));
    }
    await adapted.adapter.deliver(aDelivery(aCard({ state: "SUCCEEDED" }), { shownAt }));

    expect(ours()).toHaveLength(1);
    expect(ours()[0]).toMatchObject({ edits: 5, body: expect.stringContaining("**Done**") });
  });

  test("a deleted card is posted again", async () => {
    const lost = JSON.stringify({ kind: "issue_comment", id: 1 });

    const receipt = await adapted.adapter.deliver(aDelivery(aCard({ state: "FAILED" }), { shownAt: lost }));

    expect(ours()).toHaveLength(1);
    const { id, kind, url } = JSON.parse(receipt);
    expect([kind, id]).toEqual(["issue_comment", ours()[0]?.id]);
    expect(await adapted.adapter.permalinkOf?.(aDelivery(aCard()).thread, receipt)).toBe(url);
    expect(url).toContain(String(id));
  });

  test("a card whose first post got no answer is not posted twice", async () => {
    github.faults.next({ method: "POST", path: COMMENTS, kind: "drop-after-write" });
    const delivery = aDelivery(aCard());
    await expect(adapted.adapter.deliver(delivery)).rejects.toMatchObject({ retryable: true });

    const receipt = await adapted.adapter.deliver({ ...delivery, maybeShown: true });

    expect(ours()).toHaveLength(1);
    expect(JSON.parse(receipt).id).toBe(ours()[0]?.id);
  });

  test("a card that was posted again without an answer is found", async () => {
    github.faults.next({ method: "POST", path: COMMENTS, kind: "drop-after-write" });
    const delivery = aDelivery(aCard(), { shownAt: JSON.stringify({ kind: "issue_comment", id: 1 }) });
    await expect(adapted.adapter.deliver(delivery)).rejects.toMatchObject({ retryable: true });

    await adapted.adapter.deliver({ ...delivery, maybeShown: true });

    expect(ours()).toHaveLength(1);
  });

  test("the card is found before a hundred other comments, without reading all pages of a longer conversation", async () => {
    for (let count = 0; count < 230; count += 1) {
      await github.commentAs("wendy", issue.number, `${count}`);
    }
    github.faults.next({ method: "POST", path: COMMENTS, kind: "drop-after-write" });
    const delivery = aDelivery(aCard());
    await expect(adapted.adapter.deliver(delivery)).rejects.toMatchObject({ retryable: true });
    const before = github.calls("GET", COMMENTS).length;

    await adapted.adapter.deliver({ ...delivery, maybeShown: true });

    expect(ours()).toHaveLength(1);
    expect(github.calls("GET", COMMENTS).length - before).toBe(2);
  });

  test("a user's comment that copies the marker is not taken for the card", async () => {
    await adapted.adapter.deliver(aDelivery(aCard()));
    const copied = ours()[0]?.body ?? "";
    const other = await github.openIssue("olivia", { title: "Other", body: "" });
    message = await inboundMessageOf(adapted, await github.commentAs("wendy", other.number, "@errand go"));
    await github.commentAs("sam", other.number, copied);

    await adapted.adapter.deliver(aDelivery(aCard(), { maybeShown: true }));

    expect(ours(other.number)).toHaveLength(1);
    const copy = github.comments(github.repo.fullName, other.number).find(({ author }) => author === "sam");
    expect(copy).toMatchObject({ body: copied, edits: 0 });
  });
});

describe("an answer", () => {
  test("each answer is a comment of its own, which mentions only the person who asked", async () => {
    const text = "@olivia ![x](http://evil.example/secret) <img src=x> ".repeat(20_000);
    const answer = { kind: "message", purpose: "answer", requester: { login: "wendy" } } as const;

    await adapted.adapter.deliver(aDelivery({ ...answer, text }));
    await adapted.adapter.deliver(aDelivery({ ...answer, text: "Second." }));

    expect(ours()).toHaveLength(2);
    expect(ours()[0]?.body).toContain("\n@wendy **The agent's answer:**\n");
    expect(ours()[0]?.body).not.toMatch(/@olivia|!\[|<img/);
    expect(ours()[0]?.body.length).toBeLessThanOrEqual(65_000);
  });
});

describe("a reply", () => {
  test("a reply is a separate comment", async () => {
    await adapted.adapter.deliver(aDelivery(aCard()));
    await adapted.adapter.deliver(aDelivery(REPLY));

    expect(ours()).toHaveLength(2);
    expect(ours()[1]?.body).toContain("It is working.");
  });

  test("a reply whose post got no answer is not posted twice", async () => {
    github.faults.next({ method: "POST", path: COMMENTS, kind: "drop-after-write" });
    const delivery = aDelivery(REPLY);
    await expect(adapted.adapter.deliver(delivery)).rejects.toMatchObject({ retryable: true });

    await adapted.adapter.deliver({ ...delivery, maybeShown: true });
    await adapted.adapter.deliver(aDelivery(REPLY, { maybeShown: true }));

    expect(ours()).toHaveLength(2);
  });
});

test("the answer to a review comment is a reply in its review thread, and the card is in the conversation", async () => {
  const pull = await github.openPullRequest("wendy", { title: "P", body: "", branch: "feature" });
  const top = await github.reviewCommentAs("wendy", pull.number, "@errand rename this");
  message = await inboundMessageOf(adapted, top);
  github.faults.next({ method: "POST", path: /\/replies$/, kind: "drop-after-write" });
  const { messageRef } = message;
  const answer = { kind: "message", purpose: "answer", text: "Renamed.", inReplyTo: messageRef } as const;
  const delivery = aDelivery(answer);

  await adapted.adapter.deliver(aDelivery({ kind: "seen", messageRef }));
  await adapted.adapter.deliver(aDelivery(aCard({ state: "SUCCEEDED" })));
  await expect(adapted.adapter.deliver(delivery)).rejects.toMatchObject({ retryable: true });
  await adapted.adapter.deliver({ ...delivery, maybeShown: true });

  expect(ours(pull.number)).toMatchObject([
    { kind: "issue", body: expect.stringContaining("**Done**") },
    { kind: "review", body: expect.stringContaining("Renamed.") },
  ]);
  const comment = github.comments(github.repo.fullName, pull.number).find(({ author }) => author === "wendy");
  expect(comment?.reactions).toEqual([{ content: "eyes", user: github.app.botLogin }]);
});

describe("a refused delivery", () => {
  test.each([
    [{ kind: "429", retryAfterSeconds: 30 } as const, 30_000],
    [{ kind: "secondary-limit", retryAfterSeconds: 12 } as const, 12_000],
  ])(
    "a delivery refused with %j is repeated after the time that the refusal names",
    async (fault, retryAfterMs) => {
      github.faults.next({ method: "POST", path: COMMENTS, ...fault });

      const attempt = adapterOn(github).adapter.deliver(aDelivery(aCard()));

      await expect(attempt).rejects.toMatchObject({ retryable: true, options: { retryAfterMs } });
      expect(ours()).toEqual([]);
    },
  );

  test("an error from GitHub during an edit is not treated as a deleted comment", async () => {
    const shownAt = await adapted.adapter.deliver(aDelivery(aCard()));
    github.faults.next({ method: "PATCH", path: COMMENT, kind: "502" });

    const attempt = adapted.adapter.deliver(aDelivery(aCard({ state: "FAILED" }), { shownAt }));

    await expect(attempt).rejects.toMatchObject({ code: "resource_unavailable", retryable: true });
    expect(ours()).toHaveLength(1);
  });

  test.each([
    [COMMENTS, 403, "Repository was archived so is read-only."],
    [COMMENTS, 403, "Unable to create comment because issue is locked."],
    [COMMENTS, 410, "This issue was deleted"],
    [COMMENTS, 404, "Not Found"],
    [/\/access_tokens$/, 403, "This installation has been suspended"],
    [/\/access_tokens$/, 404, "Integration not found"],
    [COMMENTS, 422, "Validation Failed"],
  ])("a delivery to %s that gets %i %s is given up", async (path, status, text) => {
    const { adapter } = adapterOn(github, { fetch: refusing(path, status, text) });

    await expect(adapter.deliver(aDelivery(aCard()))).rejects.toMatchObject({ retryable: false });
  });

  test.each([
    ["locked", 403, "Unable to create comment because issue is locked."],
    ["archived", 403, "Repository was archived so is read-only."],
    ["blocked", 403, "User is blocked"],
    ["deleted", 410, "This issue was deleted"],
    ["gone", 404, "Not Found"],
  ])(
    "in a conversation that is %s, cards and reactions are not tried again until a person writes there",
    async (_what, status, text) => {
      const clock = new ManualClock();
      const { adapter } = adapterOn(github, {
        fetch: refusing(COMMENTS, status, text),
        now: () => clock.now().getTime(),
      });
      const card = aDelivery(aCard());
      const seen = aDelivery({ kind: "seen", messageRef: message.messageRef });
      const answer = aDelivery(REPLY);
      const elsewhere = { ...card, thread: { ...card.thread, key: `${card.thread.key}1` as ThreadKey } };
      const left = () => [card, seen, answer, elsewhere].map((each) => adapter.refuses?.(each));
      const refusedAgain = () => expect(adapter.deliver(answer)).rejects.toMatchObject({ retryable: false });

      expect(left()).toEqual([false, false, false, false]);
      await refusedAgain();
      expect(left()).toEqual([true, true, false, false]);

      await adapter.translate(
        storedEvent(await github.commentAs("wendy", issue.number, "@errand once more")),
      );
      expect(left()).toEqual([false, false, false, false]);

      await refusedAgain();
      await clock.advance(10 * 60_000);
      expect(left()).toEqual([false, false, false, false]);
    },
  );

  test("a deleted comment or review thread says nothing about its conversation", async () => {
    const { adapter } = adapterOn(github, {
      fetch: fetchWith(({ method, url }) =>
        method !== "GET" && !COMMENTS.test(url)
          ? Response.json({ message: "Not Found" }, { status: 404 })
          : undefined,
      ),
    });
    const seen = aDelivery({ kind: "seen", messageRef: message.messageRef });
    const reply = aDelivery({ ...REPLY, inReplyTo: "review_comment/5/in/4" });

    await expect(adapter.deliver(seen)).rejects.toMatchObject({ code: "resource_not_found" });
    await expect(adapter.deliver(reply)).rejects.toMatchObject({ code: "resource_not_found" });

    expect(adapter.refuses?.(aDelivery(aCard()))).toBe(false);
  });

  test("an issue that was transferred is given up, not answered elsewhere", async () => {
    const elsewhere = await startFrontServer(async ({ path }) => {
      if (path === "/moved") {
        return jsonAnswer(200, { id: 1 });
      }
      return { status: 301, headers: { location: "/moved" }, body: "" };
    });
    const fetch: typeof globalThis.fetch = (input, init) =>
      loopbackOnlyFetch(COMMENTS.test(String(input)) ? elsewhere.url : input, init);

    const attempt = adapterOn(github, { fetch }).adapter.deliver(aDelivery(aCard()));

    await expect(attempt).rejects.toMatchObject({ code: "resource_not_found", retryable: false });
    await elsewhere.stop();
  });

  test("a connection that goes silent is given up after ten seconds and tried again", async () => {
    const clock = new ManualClock();
    timeoutsBy(clock);
    const silent: typeof fetch = (_input, init) =>
      new Promise((_resolve, reject) =>
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)),
      );

    let failure: unknown;

    const attempt = adapterOn(github, { fetch: silent })
      .adapter.deliver(aDelivery(aCard()))
      .catch((error: unknown) => {
        failure = error;
      });
    await waitFor(() => clock.pending > 0, { what: "the limit" });
    await clock.advance(9_999);
    expect(failure).toBeUndefined();
    await clock.advance(1);
    await attempt;

    expect(failure).toMatchObject({ code: "resource_unavailable", retryable: true });
  });

  test("neither the key nor a token is in the error", async () => {
    const tokens = new Set<string>();
    const fetch = fetchWith(({ url, headers }) => {
      tokens.add(headers.get("authorization")?.split(" ")[1] ?? "");
      return COMMENTS.test(url) ? Response.json({ message: "no" }, { status: 422 }) : undefined;
    });

    const error: unknown = await adapterOn(github, { fetch })
      .adapter.deliver(aDelivery(aCard()))
      .catch((thrown: unknown) => thrown);

    const shown = inspect(error, { depth: 20, showHidden: true });
    expect(tokens.size).toBeGreaterThan(1);
    for (const token of tokens) {
      expect(shown).not.toContain(token);
    }
    expect(shown).not.toContain(github.app.privateKey.slice(40, 80));
  });
});

test("a repository that was renamed is found by its id", async () => {
  const own = await startEmulatedGithub();
  try {
    const { number } = await own.openIssue("olivia", { title: "Broken", body: "" });
    const there = adapterOn(own);
    message = await inboundMessageOf(there, await own.commentAs("wendy", number, "@errand go"));
    await rename(own, "gadgets");

    await there.adapter.deliver(aDelivery(aCard()));
    const authorization = await there.adapter.authorize(message);

    expect(own.comments("acme/gadgets", number).map(({ author }) => author)).toContain(own.app.botLogin);
    expect(authorization).toMatchObject({ allowed: true });
  } finally {
    await own.stop();
  }
});

test("the name of a repository is known from its events, and asked for again when it leads nowhere", async () => {
  const own = await startEmulatedGithub();
  try {
    const named = adapterOn(own);
    const issue = await own.openIssue("wendy", { title: "T", body: "" });
    const event = {
      ...storedEvent(await own.commentAs("wendy", issue.number, "@errand go")),
      receivedAt: new Date(),
    };
    const asked = () => own.calls("GET", /^\/repositories\//).length;
    const translation = await named.adapter.translate(event);
    if (translation.kind !== "message") {
      throw new Error("It is no message.");
    }
    message = translation.message;

    await named.adapter.authorize(message);
    await named.adapter.deliver(aDelivery(aCard()));
    expect(asked()).toBe(0);
    await rename(own, "gadgets");
    await named.adapter.deliver(aDelivery(REPLY));

    expect(asked()).toBe(1);
    expect(own.calls("POST", /gadgets\/issues\/\d+\/comments$/)).toHaveLength(1);
  } finally {
    await own.stop();
  }
});

test("a name that was said more than ten minutes ago is asked for again", async () => {
  const own = await startEmulatedGithub();
  try {
    const named = adapterOn(own);
    const issue = await own.openIssue("wendy", { title: "T", body: "" });
    const written = await own.commentAs("wendy", issue.number, "@errand go");
    const event = { ...storedEvent(written), receivedAt: new Date(Date.now() - 11 * 60_000) };
    const translation = await named.adapter.translate(event);
    message = translation.kind === "message" ? translation.message : message;

    await named.adapter.authorize(message);

    expect(own.calls("GET", /^\/repositories\//)).toHaveLength(1);
  } finally {
    await own.stop();
  }
});

async function rename({ apiUrl, repo, owner }: EmulatedGithub, name: string): Promise<void> {
  const headers = { authorization: `token ${owner.token}`, "content-type": "application/json" };
  const body = JSON.stringify({ name });
  const response = await fetch(`${apiUrl}/repos/${repo.fullName}`, { method: "PATCH", headers, body });
  expect(response.status).toBe(200);
}
