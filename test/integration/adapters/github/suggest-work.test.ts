import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { GithubAdapter } from "../../../../src/adapters/github/index.ts";
import type { Notice, UnpushedWork } from "../../../../src/core/model/threads/notice.ts";
import type { Delivery, InboundMessage } from "../../../../src/core/ports/thread-adapter.ts";
import { type EmulatedGithub, startEmulatedGithub, type Written } from "../../../support/emulated-github.ts";
import { asRecord } from "../../../support/json.ts";
import { adapterOn, inboundMessageOf } from "./github-fixture.ts";

const REVIEWS = /\/pulls\/\d+\/reviews$/;
const PATCH = "diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";
const FAR = PATCH.replace("@@ -1,3 +1,3 @@", "@@ -90,3 +90,3 @@");

let github: EmulatedGithub;
let adapted: GithubAdapter;
let pull: Written;
let message: InboundMessage;
let head: string;
let deliveries = 0;

beforeAll(async () => {
  github = await startEmulatedGithub();
  adapted = adapterOn(github);
});
beforeEach(async () => {
  github.faults.clear();
  deliveries += 1;
  pull = await github.openPullRequest("wendy", { title: "P", body: "", branch: `feature-${deliveries}` });
  github.reviews.files.set(pull.number, [{ filename: "a.ts", patch: "@@ -1,3 +1,4 @@\n a\n b\n c\n+d" }]);
  head = String(asRecord(asRecord(pull.payload.pull_request).head).sha);
  message = await inboundMessageOf(adapted, await github.commentAs("wendy", pull.number, "@errand fix it"));
});
afterAll(() => github.stop());

function aDelivery(unpushed: Partial<UnpushedWork> = {}): Delivery {
  const { installation, key } = message;
  const notice: Notice = {
    kind: "message",
    purpose: "answer",
    text: "Done.",
    requester: { login: "wendy" },
    unpushed: { words: "It is not pushed, because it is of a fork.", patch: PATCH, base: head, ...unpushed },
  };
  const thread = { id: "thread-1", installation, key };
  return { id: `delivery-${deliveries}`, thread, notice, maybeShown: false };
}

function comments() {
  return github
    .comments(github.repo.fullName, pull.number)
    .filter(({ author }) => author === github.app.botLogin);
}

test("work that cannot be pushed is suggested on its lines, in one review that says why", async () => {
  await adapted.adapter.deliver(aDelivery());

  const [review, ...others] = await github.reviewsOf(pull.number);
  expect(others).toEqual([]);
  expect(review?.body).toMatch(/@wendy .*Done\..*is a suggestion on its lines.*because it is of a fork/s);
  expect(review?.body).not.toContain("```diff");
  expect(github.calls("POST", REVIEWS).at(-1)?.body).toMatchObject({
    ...{ event: "COMMENT", commit_id: head },
    comments: [{ path: "a.ts", line: 2, side: "RIGHT", body: "```suggestion\nB\n```" }],
  });
  expect(comments()).toMatchObject([{ kind: "review" }]);
});

test("a suggestion that deletes lines has no line", async () => {
  await adapted.adapter.deliver(
    aDelivery({ patch: PATCH.replace("+B\n", "").replace("+1,3 @@", "+1,2 @@") }),
  );

  expect(github.calls("POST", REVIEWS).at(-1)?.body).toMatchObject({
    comments: [{ path: "a.ts", line: 2, body: "```suggestion\n```" }],
  });
});

test.each([
  ["it changes lines outside of the diff", { patch: FAR }],
  ["the pull request has newer commits", { base: "f".repeat(40) }],
  ["it makes a file", { patch: PATCH.replace("--- a/a.ts", "new file mode 100644\n--- /dev/null") }],
  ["one of its characters is invisible", { patch: PATCH.replace("+B", "+B\u202e") }],
])("if %s, the work is a patch in a comment", async (_what, unpushed) => {
  await adapted.adapter.deliver(aDelivery(unpushed));

  expect(await github.reviewsOf(pull.number)).toEqual([]);
  expect(comments()).toMatchObject([{ kind: "issue", body: expect.stringContaining("It is not pushed") }]);
});

test("if GitHub refuses the suggestions, the work is a patch in a comment", async () => {
  github.faults.next({ method: "POST", path: REVIEWS, kind: "refused", status: 422, message: "No." });

  await adapted.adapter.deliver(aDelivery());

  expect(comments()).toMatchObject([{ kind: "issue", body: expect.stringContaining("```diff") }]);
});

test("suggestions whose answer was lost are not posted twice", async () => {
  const delivery = aDelivery();
  github.faults.next({ method: "POST", path: REVIEWS, kind: "drop-after-write" });
  await expect(adapted.adapter.deliver(delivery)).rejects.toMatchObject({ retryable: true });

  await adapted.adapter.deliver({ ...delivery, maybeShown: true });

  expect(await github.reviewsOf(pull.number)).toHaveLength(1);
});

test("work on an issue stays a patch", async () => {
  message = await inboundMessageOf(
    adapted,
    await github.openIssue("wendy", { title: "T", body: "@errand go" }),
  );
  const { number } = asRecord(message.provenance.object);

  await adapted.adapter.deliver(aDelivery());

  const shown = github.comments(github.repo.fullName, Number(number));
  expect(shown).toMatchObject([{ kind: "issue", body: expect.stringContaining("```diff") }]);
});
