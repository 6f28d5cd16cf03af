import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { GithubAdapter } from "../../../../src/adapters/github/index.ts";
import type { AnswerPart, Notice } from "../../../../src/core/model/threads/notice.ts";
import type { Delivery, InboundMessage } from "../../../../src/core/ports/thread-adapter.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../../../support/emulated-github.ts";
import { adapterOn, inboundMessageOf } from "./github-fixture.ts";

const REPLIES = /\/comments\/\d+\/replies$/;

let github: EmulatedGithub;
let adapted: GithubAdapter;
let number: number;
let messages: readonly InboundMessage[];
let deliveries = 0;

beforeAll(async () => {
  github = await startEmulatedGithub();
  adapted = adapterOn(github);
});
beforeEach(async () => {
  github.faults.clear();
  github.reviewThreads.mayResolve = true;
  deliveries += 1;
  const branch = `feature-${deliveries}`;
  ({ number } = await github.openPullRequest("wendy", { title: "P", body: "", branch }));
  const texts = ["@errand rename it", "@errand why?", "@errand add a test"];
  messages = await Promise.all(
    texts.map(async (text, line) =>
      inboundMessageOf(adapted, await github.reviewCommentAs("wendy", number, text, { line: line + 1 })),
    ),
  );
});
afterAll(() => github.stop());

function aDelivery(said: readonly Omit<AnswerPart, "inReplyTo">[]): Delivery {
  const [message] = messages;
  const parts = messages.map(({ messageRef }, index) => ({ ...said[index], inReplyTo: messageRef }));
  const requester = { login: "wendy" };
  const notice: Notice = { kind: "message", purpose: "answer", text: "Three things.", requester, parts };
  const { installation = "", key } = message ?? {};
  const thread = { id: "thread-1", installation, key: key as Delivery["thread"]["key"] };
  return { id: `delivery-${deliveries}`, thread, notice, maybeShown: false };
}

const SAID = [
  { text: "Renamed it. @wendy ![x](https://a.example)", doneIn: ["README.md"] },
  { text: "Because." },
  { doneIn: ["src/a.ts"] },
];

function shown() {
  const own = github
    .comments(github.repo.fullName, number)
    .filter(({ author }) => author === github.app.botLogin);
  return {
    answers: own.filter(({ kind }) => kind === "issue"),
    replies: own.filter(({ kind }) => kind === "review").map(({ body }) => body),
  };
}

const resolved = () => github.reviewThreads.threads(number).map(({ isResolved }) => isResolved);

test("an answer to several threads says in each what was done, mentions once, and resolves what it changed", async () => {
  await adapted.adapter.deliver(aDelivery(SAID));

  const { answers, replies } = shown();
  expect(answers).toMatchObject([{ body: expect.stringContaining("@wendy **The agent's answer:**") }]);
  expect(replies).toHaveLength(3);
  expect(replies[0]).toMatch(/^<!-- errand:delivery=\S+ -->\n> Renamed it\./);
  expect(replies.join("\n")).not.toMatch(/(^|\s)@wendy|!\[/);
  const address = new RegExp(`\\[(?:The whole answer|Answered here)\\]\\(http\\S+${answers[0]?.id}\\)$`);
  for (const reply of replies) {
    expect(reply).toMatch(address);
  }
  // The last one says that it is done, and another file was changed.
  expect(resolved()).toEqual([true, false, false]);
});

test("a repeated delivery posts and resolves only what is missing", async () => {
  const delivery = aDelivery(SAID);
  github.faults.next({ method: "POST", path: REPLIES, kind: "drop-after-write" });
  await expect(adapted.adapter.deliver(delivery)).rejects.toMatchObject({ retryable: true });

  await adapted.adapter.deliver({ ...delivery, maybeShown: true });
  await adapted.adapter.deliver({ ...delivery, maybeShown: true });

  const { answers, replies } = shown();
  expect([answers.length, replies.length]).toEqual([1, 3]);
  expect(resolved()).toEqual([true, false, false]);
});

test.each([
  [
    "a thread that takes no reply",
    () => {
      github.faults.next({ method: "POST", path: REPLIES, kind: "refused", status: 422, message: "No." });
    },
    2,
    true,
  ],
  [
    "a thread that the App may not resolve",
    () => {
      github.reviewThreads.mayResolve = false;
    },
    3,
    false,
  ],
  [
    "threads that GitHub does not list",
    () => {
      github.faults.next({
        method: "POST",
        path: /^\/graphql$/,
        kind: "refused",
        status: 403,
        message: "No.",
      });
    },
    3,
    false,
  ],
])("%s does not end the answer", async (_what, refuse, count, isResolved) => {
  refuse();

  await adapted.adapter.deliver(aDelivery(SAID));

  const { answers, replies } = shown();
  expect([answers.length, replies.length, resolved()[0]]).toEqual([1, count, isResolved]);
});

test("a thread that a person has resolved stays so, and gets its reply", async () => {
  const [first] = github.reviewThreads.threads(number);
  github.reviewThreads.resolve(first?.id ?? "");
  const before = github.calls("POST", /^\/graphql$/).length;

  await adapted.adapter.deliver(aDelivery(SAID));

  expect(shown().replies).toHaveLength(3);
  expect(github.calls("POST", /^\/graphql$/).length - before).toBe(1);
});

test("without a request that was carried out, the threads are not listed", async () => {
  const before = github.calls("POST", /^\/graphql$/).length;

  await adapted.adapter.deliver(aDelivery([]));

  expect(shown().replies).toHaveLength(3);
  expect(github.calls("POST", /^\/graphql$/)).toHaveLength(before);
});

test("each reply counts as one of the comments that GitHub limits", () => {
  const { notice, thread } = aDelivery(SAID);
  expect(adapted.adapter.traits.writesOf?.(notice, thread.installation)).toBe(4);
});
