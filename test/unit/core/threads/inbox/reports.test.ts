import { randomUUID } from "node:crypto";
import { beforeEach, expect, test, vi } from "vitest";
import type { RequestKind } from "../../../../../src/core/model/policies/policy.ts";
import type { InboundMessage } from "../../../../../src/core/ports/thread-adapter.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { aPolicy } from "../../../../support/rule-builders.ts";
import { aChange, anInboxEvent } from "../../../../support/run-builders.ts";
import { untilCancelled } from "../../../../support/scripted-agents.ts";
import { ADDRESS, InboxHarness, KEY } from "./inbox-harness.ts";

const ACTOR = { id: 7, login: "ada" };

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  await harness.start();
});

/** The message of a report about a commit. */
function reported(commit: string, requestKind: RequestKind = "failing_checks"): InboundMessage {
  return {
    ...ADDRESS,
    dedupeKey: commit,
    addressed: "mention",
    requestKind,
    author: { subject: "memory:Ada" },
    text: `The checks of ${commit} fail.`,
    messageRef: "",
    provenance: {},
  };
}

/** Receives a report that is found to be this. */
async function report(found: InboundMessage | string): Promise<string> {
  harness.adapter.inspection = () => found;
  return harness.receive({}, { report: { ...ADDRESS, findings: {} } });
}

function outcomesShown() {
  const notices = harness.adapter.thread(KEY).map(({ notice }) => notice);
  return notices.filter((notice) => notice.kind === "message" && notice.purpose === "outcome");
}

test("a report about the work of a run is a follow-up in the name of the person who requested it", async () => {
  await harness.receive({});

  expect(await report(reported("c1"))).toBe("follow_up");

  expect(harness.agents.prompts[1]).toContain("The checks of c1 fail.");
  const run = await harness.currentRun();
  const [followUp] = await harness.storage.followUps.list(run.id, 0, 10);
  expect(followUp).toMatchObject({ isReport: true, authorId: run.requesterId ?? run.creatorId });
  expect(followUp).not.toHaveProperty("messageRef");
});

test("several reports about one commit are one follow-up", async () => {
  await harness.receive({});

  expect(await report(reported("c1"))).toBe("follow_up");
  expect(await report(reported("c1"))).toBe("duplicate");
});

test("several open reports with one content are inspected once, and each later one costs no look at its author", async () => {
  await harness.receive({});
  const inspect = vi.spyOn(harness.adapter, "inspect");
  const authorize = vi.spyOn(harness.adapter, "authorize");
  harness.adapter.inspection = () => reported("c1");

  const { adapter, name } = anInboxEvent({});
  const body = JSON.stringify({ report: { ...ADDRESS, findings: {} } });
  const event = { ...{ adapter, name, body }, orderingKey: "reports", collectMs: 3_000 };
  const suites = Array.from({ length: 30 }, (_, number) => ({ ...event, deliveryId: `suite/${number}` }));
  await harness.receive({}, { several: suites });
  expect(inspect).not.toHaveBeenCalled();
  await harness.clock.advance(3_000);
  await quiet();

  expect(inspect).toHaveBeenCalledTimes(1);
  expect(await report(reported("c1"))).toBe("duplicate");

  expect(authorize).toHaveBeenCalledTimes(1);
  expect(harness.dispositions().filter((one) => one === "follow_up")).toHaveLength(1);
});

test.each([
  ["nothing is known", undefined, false],
  ["all checks passed", ["passed", "skipped"], false],
  ["a check runs", ["passed", "running"], true],
  ["a check failed", ["failed"], true],
] as const)(
  "a report that a check passed is inspected only if it is expected: %s",
  async (_, states, isRead) => {
    await harness.receive({});
    const { id } = await harness.currentRun();
    const url = "https://forge.example/acme/web/pull/9";
    const checks = states?.map((state) => ({ name: "unit", state }));
    const known = checks && { pullRequestStatus: { url, state: "open", checks } as const };
    await harness.storage.runs.change(id, ({ run }) => aChange({ ...run, pullRequest: url, ...known }));
    const inspect = vi.spyOn(harness.adapter, "inspect");
    const passed = (passedIn: string) =>
      harness.receive({}, { report: { ...ADDRESS, findings: { passedIn }, passedIn } });

    expect(await passed(url)).toBe("ignored");
    expect(inspect).toHaveBeenCalledTimes(isRead ? 1 : 0);
    await passed("https://forge.example/acme/other/pull/1");
    expect(inspect, "nothing is known of another pull request of the run").toHaveBeenCalledTimes(
      isRead ? 2 : 1,
    );
  },
);

test("after two attempts the run asks the person who requested it once, until that person answers", async () => {
  await harness.receive({ provenance: { integration: "memory", actor: ACTOR } });
  const dispositions = [];
  for (const commit of ["c1", "c2", "c3", "c4"]) {
    dispositions.push(await report(reported(commit)));
  }

  expect(dispositions).toEqual(["follow_up", "follow_up", "replied", "replied"]);
  expect(outcomesShown()).toEqual([
    expect.objectContaining({
      text: "I tried 2 times by myself, and it is not done. The checks of c3 fail.\n\nWhat shall I do?",
      requester: ACTOR,
    }),
  ]);

  await harness.receive({ text: "try another way" });
  expect(await report(reported("c5"))).toBe("follow_up");
});

test("a report without a run, or with nothing to do, is ignored with its reason", async () => {
  expect(await report(reported("c1"))).toBe("ignored");
  await harness.receive({});
  expect(await report("No check fails.")).toBe("ignored");

  expect(harness.agents.prompts).toHaveLength(1);
});

test("a report brings the status of the pull request to the card, also when there is nothing to do", async () => {
  await harness.receive({});
  const { id } = await harness.currentRun();
  const url = "https://forge.example/acme/web/pull/9";
  await harness.storage.runs.change(id, ({ run }) => aChange({ ...run, pullRequest: url }));
  harness.adapter.inspected = { url, state: "merged", checks: [] };

  expect(await report("No check fails.")).toBe("ignored");

  expect(await harness.currentRun()).toMatchObject({ pullRequestStatus: { state: "merged" } });
  await quiet();
  expect(harness.cardsShown().at(-1)).toMatchObject({ pullRequestStatus: { state: "merged" } });
});

test("a report does not start a run again that a person stopped", async () => {
  harness.agents.scripts.push(untilCancelled);
  await harness.receive({});
  await harness.receive({ text: "stop" });

  expect(await report(reported("c1"))).toBe("ignored");

  expect((await harness.currentRun()).state).toBe("CANCELLED");
});

test("a report whose requester may do nothing any more is refused without a comment", async () => {
  await harness.receive({});
  harness.adapter.refused.set("memory:Ada", "You have no access.");

  expect(await report(reported("c1"))).toBe("refused");

  expect(harness.repliesShown()).toEqual([]);
  expect(harness.agents.prompts).toHaveLength(1);
});

test("a policy switches reports off in one repository, also the question after two attempts", async () => {
  await harness.receive({});
  await report(reported("c1"));
  await report(reported("c2"));
  const match = { requestKinds: ["failing_checks"], places: ["acme/web"] } as const;
  await harness.storage.policies.add(aPolicy({ effect: "deny", match }));

  expect(await report({ ...reported("c3"), place: "acme/web" })).toBe("refused");
  expect(await report({ ...reported("c4", "merge_conflict"), place: "acme/web" })).toBe("replied");

  expect(harness.repliesShown()).toEqual([]);
  expect(outcomesShown()).toHaveLength(1);
});

test("a report does not answer a question of the agent", async () => {
  const run = await harness.aBlockedRun();

  expect(await report({ ...reported("c1"), text: "yes" })).toBe("follow_up");

  expect(await harness.run(run.id)).toMatchObject({ state: "BLOCKED", permission: { permissionId: "p" } });
  expect(harness.repliesShown()).toEqual([]);
});

test("an event about several threads becomes an event of each, also when it is processed twice", async () => {
  await harness.receive({});
  harness.adapter.inspection = () => reported(randomUUID());
  const { adapter, name, orderingKey } = anInboxEvent({});
  const event = (deliveryId: string) => ({
    ...{ adapter, name, orderingKey, deliveryId },
    body: JSON.stringify({ report: { ...ADDRESS, findings: {} } }),
  });
  const several = { several: [event("d/1"), event("d/2")] };

  await harness.receive({}, several);
  await harness.receive({}, several);
  await quiet();

  expect(harness.dispositions().toSorted()).toEqual([
    "follow_up",
    "follow_up",
    "ignored",
    "ignored",
    "run_created",
  ]);
});

test("a report about a run that is deleted while its author is checked starts no other run", async () => {
  await harness.receive({});
  const { id } = await harness.currentRun();
  const authorize = harness.adapter.authorize.bind(harness.adapter);
  harness.adapter.authorize = async (message) => {
    await harness.storage.runs.remove(id, () => undefined);
    return authorize(message);
  };

  expect(await report(reported("c1"))).toBe("ignored");
});

test.each([
  ["merged", true],
  ["closed", true],
  ["open", false],
] as const)("the branch of a pull request that is %s is given up: %s", async (state, isGivenUp) => {
  await harness.receive({});
  const { id } = await harness.currentRun();
  const [url, other] = [9, 8].map((number) => `https://forge.example/acme/web/pull/${number}`);
  const pushed = {
    owner: "acme",
    turn: 1,
    base: "b",
    files: [],
    isTruncated: false,
    blobId: "x",
    sizeBytes: 1,
  };
  const changes = [
    { ...pushed, name: "web", branch: "errand/1", head: "abc", pullRequest: url ?? "" },
    { ...pushed, name: "api", branch: "errand/2", head: "def", pullRequest: other ?? "" },
  ];
  await harness.storage.runs.change(id, ({ run }) =>
    aChange({ ...run, pullRequest: url ?? "" }, { changes }),
  );
  harness.adapter.inspected = { url: url ?? "", state, checks: [] };

  await report("No check fails.");

  expect(harness.adapter.removed).toEqual(isGivenUp ? [`${id} errand/1 abc`] : []);
});

test("the answer to another person names that person, and the answer to a report names the requester of the run", async () => {
  const [ada, bo] = [{ login: "ada" }, { login: "bo" }];
  await harness.receive({ provenance: { integration: "memory", actor: ada } });
  await harness.receive({
    author: { subject: "memory:Bo" },
    text: "And the lexer",
    provenance: { actor: bo },
  });
  await report(reported("c1"));

  const answers = harness.adapter
    .thread(KEY)
    .flatMap(({ notice }) => (notice.kind === "message" && notice.purpose === "answer" ? [notice] : []));
  expect(answers.map(({ requester }) => requester)).toMatchObject([ada, bo, ada]);
});
