import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { GithubAdapter } from "../../../../src/adapters/github/index.ts";
import { fingerprintOf } from "../../../../src/adapters/github/review/finding-threads.ts";
import type { ReviewFinding } from "../../../../src/core/model/runs/review.ts";
import type { Notice, ShownReview } from "../../../../src/core/model/threads/notice.ts";
import type { Delivery, InboundMessage } from "../../../../src/core/ports/thread-adapter.ts";
import { type EmulatedGithub, startEmulatedGithub, type Written } from "../../../support/emulated-github.ts";
import { asRecord, type JsonRecord } from "../../../support/json.ts";
import { loopbackOnlyFetch } from "../../../support/loopback-only.ts";
import { adapterOn, fetchWith, inboundMessageOf } from "./github-fixture.ts";

const REVIEWS = /\/pulls\/\d+\/reviews$/;
const NEXT = "c".repeat(40);
const PATCH =
  "@@ -8,3 +8,5 @@ function a\n line 8\n+line 9\n+line 10\n line 11\n line 12\n@@ -40 +42 @@\n-old\n+new";
const CACHE: ReviewFinding = {
  ...{ id: "cache", path: "src/a.ts", line: 10, startLine: 9, title: "The cache grows" },
  ...{ body: "For ever, @olivia. <img src=x>", suggestion: "const max = 1;" },
};
const FAR: ReviewFinding = {
  id: "far",
  path: "src/a.ts",
  line: 30,
  title: "Not in the diff",
  body: "Before it.",
};
const WHOLE: ReviewFinding = { id: "whole", path: "docs/b.md", title: "No such file", body: "Add it." };

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
  github.reviewThreads.mayResolve = true;
  github.reviews.keepsRefused = false;
  pull = await github.openPullRequest("wendy", { title: "P", body: "", branch: `feature-${deliveries}` });
  github.reviews.files.set(pull.number, [
    { filename: "src/a.ts", patch: PATCH },
    { filename: "logo.png" },
    ...Array.from({ length: 120 }, (_, index) => ({
      filename: `gen/${index}.ts`,
      patch: "@@ -0,0 +1 @@\n+x",
    })),
  ]);
  head = String(asRecord(asRecord(pull.payload.pull_request).head).sha);
  message = await inboundMessageOf(adapted, await github.commentAs("wendy", pull.number, "@errand review"));
});

afterAll(() => github.stop());

function aDelivery(review: Partial<ShownReview>, overrides: Partial<Delivery> = {}): Delivery {
  deliveries += 1;
  const { installation, key } = message;
  const notice: Notice = {
    kind: "message",
    purpose: "answer",
    text: "Two things.",
    requester: { login: "wendy" },
    sessionLink: "https://errand.example/sessions/1",
    review: { isAsked: true, findings: [], ...review },
  };
  const thread = { id: "thread-1", installation, key };
  return { id: `delivery-${deliveries}`, thread, notice, maybeShown: false, ...overrides };
}

/** The reviews that Errand has sent to the pull request. */
function sent(): readonly JsonRecord[] {
  const own = new RegExp(`/pulls/${pull.number}/reviews$`);
  return github
    .calls("POST", own)
    .filter(({ outcome }) => outcome === "200" || outcome === "201" || outcome === "drop-after-write")
    .map(({ body }) => asRecord(body));
}

function threads() {
  return github.reviewThreads.threads(pull.number);
}

describe("a review", () => {
  test("it has its findings on their lines, with suggestions, and the others in its text", async () => {
    await adapted.adapter.deliver(aDelivery({ commit: head, findings: [CACHE, FAR, WHOLE] }));

    const [review, ...others] = sent();
    expect(others).toEqual([]);
    expect(review).toMatchObject({
      ...{ event: "COMMENT", commit_id: head },
      comments: [{ path: "src/a.ts", line: 10, side: "RIGHT", start_line: 9, start_side: "RIGHT" }],
    });
    const [comment] = (review?.comments ?? []) as readonly JsonRecord[];
    expect(comment?.body).toMatch(
      /^<!-- errand:finding=[\da-f]{16} id=cache -->\n\*\*The cache grows\*\*\n\n.*\n\n```suggestion\nconst max = 1;\n```$/s,
    );
    expect(comment?.body).not.toMatch(/@olivia|<img/);
    expect(review?.body).toMatch(/@wendy \*\*The agent's answer:\*\*.*Two things\./s);
    expect(review?.body).toMatch(
      /do not fit a line of the diff.*`src\/a.ts:30` Not in the diff.*`docs\/b.md` No such file/s,
    );
    expect(review?.body).not.toContain("The cache grows");
  });

  test.each([
    ["the first and the last line of a part of the diff", { startLine: 8, line: 12 }, true],
    ["a line that did not change, within a part", { line: 11 }, true],
    ["the only line of a part", { line: 42 }, true],
    ["a line of a file beyond the first hundred", { path: "gen/119.ts", line: 1 }, true],
    ["lines of two parts", { startLine: 12, line: 42 }, false],
    ["a line before a part", { line: 7 }, false],
    ["a line after a part", { line: 13 }, false],
    ["a file without a patch", { path: "logo.png", line: 1 }, false],
    ["a file that did not change", { path: "src/z.ts", line: 1 }, false],
    ["no line", { line: undefined }, false],
  ])("a finding at %s is shown there or in the text", async (_where, place, isInline) => {
    const { line, ...rest } = { ...FAR, ...place };
    const finding = { ...rest, ...(line === undefined ? {} : { line }) };

    await adapted.adapter.deliver(aDelivery({ commit: head, findings: [finding] }));

    const [review] = sent();
    expect(review?.comments).toHaveLength(isInline ? 1 : 0);
    expect(String(review?.body).includes(FAR.title)).toBe(!isInline);
  });

  test("a review of a commit that is not the newest any more has its findings in its text", async () => {
    github.moveHead(pull.number, NEXT);

    await adapted.adapter.deliver(aDelivery({ commit: head, findings: [CACHE] }));

    expect(sent()).toMatchObject([{ commit_id: head, comments: [] }]);
    expect(sent()[0]?.body).toContain("The cache grows");
  });

  test.each([false, true])(
    "if GitHub refuses the comments, their words stand in the text of one review (kept: %s)",
    async (keepsRefused) => {
      github.reviews.keepsRefused = keepsRefused;
      github.reviews.files.set(pull.number, [{ filename: "src/a.ts", patch: PATCH }]);
      const { adapter } = adapterOn(github, {
        // GitHub's own diff differs from its list of files.
        fetch: async (input, init) => {
          const answer = await loopbackOnlyFetch(input, init);
          const { pathname } = new URL(String(input));
          if (pathname.endsWith("/files")) {
            github.reviews.files.set(pull.number, []);
          }
          return answer;
        },
      });

      await adapter.deliver(aDelivery({ commit: head, findings: [CACHE] }));

      const reviews = await github.reviewsOf(pull.number);
      expect(reviews).toHaveLength(1);
      expect(reviews[0]?.body).toContain("The cache grows");
      expect(threads()).toEqual([]);
    },
  );

  test("a review whose answer was lost is not posted twice", async () => {
    const delivery = aDelivery({ commit: head, findings: [CACHE] });
    github.faults.next({ method: "POST", path: REVIEWS, kind: "drop-after-write" });
    await expect(adapted.adapter.deliver(delivery)).rejects.toMatchObject({ retryable: true });

    await adapted.adapter.deliver({ ...delivery, maybeShown: true });

    expect(await github.reviewsOf(pull.number)).toHaveLength(1);
    expect(threads()).toHaveLength(1);
  });

  test("a second answer about one commit is a comment, with what is new in it", async () => {
    await adapted.adapter.deliver(aDelivery({ commit: head, findings: [CACHE] }));
    await adapted.adapter.deliver(aDelivery({ commit: head, findings: [CACHE, { ...FAR, line: 11 }] }));

    expect(sent()).toHaveLength(1);
    const comments = github
      .comments(github.repo.fullName, pull.number)
      .filter(({ kind }) => kind === "issue");
    expect(comments.at(-1)?.body).toContain("Not in the diff");
    expect(comments.at(-1)?.body).not.toContain("The cache grows");
  });

  test("a user's review or comment with our marker counts for nothing", async () => {
    const marker = `<!-- errand:finding=${fingerprintOf(CACHE)} id=cache -->`;
    await github.reviewCommentAs("sam", pull.number, marker);
    await github.reviewAs("wendy", pull.number, { body: `<!-- errand:review=${head} -->`, event: "COMMENT" });

    await adapted.adapter.deliver(aDelivery({ commit: head, findings: [CACHE] }));

    expect(sent()).toMatchObject([{ comments: [{ path: "src/a.ts" }] }]);
  });
});

describe("a review of new commits", () => {
  beforeEach(async () => {
    await adapted.adapter.deliver(aDelivery({ commit: head, findings: [CACHE, { ...FAR, line: 11 }] }));
    github.moveHead(pull.number, NEXT);
  });

  test("what was found before is not repeated, and threads of what is gone are resolved", async () => {
    const other = { id: "new", path: "src/a.ts", line: 42, title: "A new one", body: "" };

    await adapted.adapter.deliver(aDelivery({ commit: NEXT, findings: [{ ...CACHE, line: 12 }, other] }));

    expect(sent().map(({ comments }) => (comments as JsonRecord[]).map(({ line }) => line))).toEqual([
      [10, 11],
      [42],
    ]);
    expect(threads().map(({ isResolved }) => isResolved)).toEqual([false, true, false]);
    expect(threads()[1]?.comment.body).toContain("Repaired in ccccccc.");
  });

  test("a review that nobody asked for and that says nothing new is not posted", async () => {
    await adapted.adapter.deliver(aDelivery({ commit: NEXT, findings: [CACHE], isAsked: false }));

    expect(sent()).toHaveLength(1);
    expect(threads().map(({ isResolved }) => isResolved)).toEqual([false, true]);
  });

  test("a finding whose thread a person has resolved is not repeated, and the agent is told so", async () => {
    const [cache] = threads();
    github.reviewThreads.resolve(cache?.id ?? "");

    const { context = "" } = (await adapted.adapter.gather?.(message, { isFollowUp: true })) ?? {};
    await adapted.adapter.deliver(aDelivery({ commit: NEXT, findings: [CACHE, FAR] }));

    expect(context).toMatch(/still there again.*- far: src\/a\.ts: Not in the diff.*closed.*- cache: /s);
    expect(sent().at(-1)).toMatchObject({ comments: [] });
    expect(sent().at(-1)?.body).not.toContain("The cache grows");
  });

  test("a finding that comes back after its repair is shown again", async () => {
    await adapted.adapter.deliver(aDelivery({ commit: NEXT, findings: [], isAsked: false }));
    github.moveHead(pull.number, head.replace(/./g, "d"));

    await adapted.adapter.deliver(aDelivery({ findings: [CACHE], isAsked: false }));

    expect(threads().map(({ isResolved }) => isResolved)).toEqual([true, true, false]);
  });

  test("where the App may not resolve threads, their comments say that it is repaired", async () => {
    github.reviewThreads.mayResolve = false;

    await adapted.adapter.deliver(aDelivery({ commit: NEXT, findings: [CACHE] }));

    expect(threads().map(({ isResolved }) => isResolved)).toEqual([false, false]);
    expect(threads()[1]?.comment.body).toMatch(
      /^<!-- errand:finding=\S+ id=far fixed -->\n✅ Repaired in ccccccc\./,
    );
  });

  test("when the budget of GraphQL is spent, the review waits for a minute instead of being repeated at once", async () => {
    const errors = [{ type: "RATE_LIMITED", message: "API rate limit exceeded" }];
    const fetch = fetchWith(({ url }) =>
      url.endsWith("/graphql") ? Response.json({ data: null, errors }) : undefined,
    );

    const delivered = adapterOn(github, { fetch }).adapter.deliver(
      aDelivery({ commit: NEXT, findings: [CACHE] }),
    );

    await expect(delivered).rejects.toMatchObject({
      code: "resource_unavailable",
      options: { retryAfterMs: 60_000 },
    });
  });

  test("a report about an older commit resolves nothing", async () => {
    await adapted.adapter.deliver(aDelivery({ commit: head, findings: [] }));

    expect(threads().map(({ isResolved }) => isResolved)).toEqual([false, false]);
  });

  test("without earlier findings the agent is told of none", async () => {
    const opened = await github.openPullRequest("wendy", { title: "Q", body: "", branch: `q-${deliveries}` });
    const asked = await inboundMessageOf(
      adapted,
      await github.commentAs("wendy", opened.number, "@errand review"),
    );

    const { context = "" } = (await adapted.adapter.gather?.(asked, { isFollowUp: true })) ?? {};

    expect(context).not.toMatch(/earlier reviews/);
  });
});
