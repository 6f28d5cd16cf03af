import { beforeEach, describe, expect, test, vi } from "vitest";
import { isKindNamed } from "../../../../../src/core/model/policies/evaluate-policies.ts";
import type { InboundMessage } from "../../../../../src/core/ports/thread-adapter.ts";
import { aPolicy } from "../../../../support/rule-builders.ts";
import { untilCancelled } from "../../../../support/scripted-agents.ts";
import { ADDRESS, InboxHarness } from "./inbox-harness.ts";

const REVIEW = { text: "review", asksForReview: true } as const;
const WORK = { text: "fix it", asksForReview: false } as const;
const OPENED = { ...REVIEW, requestKind: "pull_request_opened", place: "acme/web" } as const;

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  await harness.start();
});

function said(message: Partial<InboundMessage>): Partial<InboundMessage> {
  return { ...message, dedupeKey: crypto.randomUUID(), messageRef: crypto.randomUUID() };
}

describe("a review and other work in one pull request", () => {
  test("each is a run of its own, and what follows belongs to the last one", async () => {
    expect(await harness.receive(said(REVIEW))).toBe("run_created");
    const review = await harness.currentRun();
    expect(await harness.receive(said({ ...REVIEW, text: "review again" }))).toBe("follow_up");

    expect(await harness.receive(said(WORK))).toBe("run_created");
    const work = await harness.currentRun();
    expect(await harness.receive(said({ ...WORK, text: "more" }))).toBe("follow_up");
    expect(await harness.receive(said(REVIEW))).toBe("run_created");

    expect(work.id).not.toBe(review.id);
    expect([review, work, await harness.currentRun()].map(({ provenance }) => provenance.review)).toEqual([
      true,
      undefined,
      true,
    ]);
  });

  test("while one works, the other is not begun, and its author learns it", async () => {
    harness.agents.scripts.push(untilCancelled);
    await harness.receive(said(REVIEW));

    expect(await harness.receive(said(WORK))).toBe("replied");

    expect(harness.repliesShown()).toEqual([expect.stringContaining("a review changes nothing")]);
  });

  test("where messages are not told apart, all belong to the run", async () => {
    await harness.receive(said({ text: "review" }));

    expect(await harness.receive(said({ text: "fix it" }))).toBe("follow_up");
  });
});

describe("an opened pull request", () => {
  const policy = (match: object, effect: "allow" | "deny" = "allow") =>
    harness.storage.policies.add(
      aPolicy({ effect, match: { requestKinds: ["pull_request_opened"], ...match } }),
    );

  test("without a policy that names it, nobody asks about its author", async () => {
    const authorize = vi.spyOn(harness.adapter, "authorize");

    expect(await harness.receive(said(OPENED))).toBe("ignored");

    expect(authorize).not.toHaveBeenCalled();
    expect(harness.kindsShown()).toEqual([]);
  });

  test("a policy that allows it in the place begins a review", async () => {
    await policy({ places: ["acme/*"] });

    expect(await harness.receive(said(OPENED))).toBe("run_created");
    expect((await harness.currentRun()).provenance.review).toBe(true);
  });

  test.each([
    ["names another place", { places: ["other/*"] }, "allow"],
    ["denies it", {}, "deny"],
    ["names another kind", { requestKinds: ["mention"] }, "allow"],
    ["names no kind", { requestKinds: undefined }, "allow"],
  ] as const)("a policy that %s begins none", (_what, match, effect) => {
    const rule = aPolicy({ effect, match: { requestKinds: ["pull_request_opened"], ...match } });

    expect(isKindNamed([rule], { requestKind: "pull_request_opened", place: "acme/web" })).toBe(false);
  });
});

test("each push is reviewed, however often", async () => {
  await harness.receive(said(REVIEW));
  const { id } = await harness.currentRun();

  for (const commit of ["c1", "c2", "c3", "c4"]) {
    const message = { ...ADDRESS, ...said(REVIEW), dedupeKey: commit, messageRef: "" };
    const author = { subject: "memory:Ada" };
    harness.adapter.inspection = () => ({
      ...{ ...message, addressed: "mention", author, provenance: {}, requestKind: "new_commits" },
      text: `Review ${commit}.`,
    });
    expect(await harness.receive({}, { report: { ...ADDRESS, findings: {} } })).toBe("follow_up");
  }

  expect((await harness.storage.followUps.list(id, 0, 10)).map(({ isReport }) => isReport)).toEqual([
    true,
    true,
    true,
    true,
  ]);
});
