import { beforeEach, expect, test } from "vitest";
import { isPatchOnly } from "../../../../../src/core/model/runs/home-repository.ts";
import type { Run } from "../../../../../src/core/model/runs/run.ts";
import { shortPatch } from "../../../../../src/core/work/changes/undelivered-work.ts";
import { END_TURN } from "../../../../support/scripted-agents.ts";
import { waitFor } from "../../../../support/wait-for.ts";
import { InboxHarness, KEY } from "../../threads/inbox/inbox-harness.ts";

const WORDS =
  "The work is a patch and is not pushed: on a branch, workflows could run the code of the fork rob/widgets with the " +
  "secrets of acme/widgets.\nRead the patch and apply it. Or, if the code of the fork can be trusted, a person with " +
  "write permission gets a branch: mention the bot with `new pr=draft` and the task.";
const PROVENANCE = {
  repository: { id: 7, full_name: "acme/widgets" },
  object: { in: "pull_request", number: 9 },
  head: { commit: "a".repeat(40), base: "main", fork: "rob/widgets", requested_by_writer: true },
};

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  await harness.start();
});

/** A message in the pull request of a fork. The turn that it leads to changes `turn`. */
async function ask(text: string, turn: string, words = "Done."): Promise<Run> {
  const { sinceClone, sinceSnapshot } = harness.changes;
  sinceSnapshot.clear();
  if (turn !== "") {
    sinceSnapshot.set("acme/widgets", turn);
    sinceClone.set("acme/widgets", `${sinceClone.get("acme/widgets") ?? ""}${turn}`);
  }
  harness.agents.scripts.push(async ({ say }) => {
    say(words);
    return END_TURN;
  });
  await harness.receive({ text, provenance: PROVENANCE });
  return ended();
}

function ended(): Promise<Run> {
  const look = async () => {
    const run = await harness.currentRun();
    return run.lease === undefined && run.state === "SUCCEEDED" && run;
  };
  return waitFor(look, { what: "the run to be free", everyMs: 2 });
}

function answers() {
  const notices = harness.adapter.thread(KEY).map(({ notice }) => notice);
  return notices.flatMap((notice) =>
    notice.kind === "message" && notice.purpose === "answer" ? [notice] : [],
  );
}

test("the answer has the work of all turns as a patch, if its turn changed something", async () => {
  const first = await ask("Fix it", "one\n");
  await ask("Why?", "");
  await ask("And the lexer", "two\n", "");

  expect(answers().map(({ text, unpushed }) => [text, unpushed])).toEqual([
    ["Done.", { words: WORDS, patch: "one\n", base: "ba5e" }],
    ["Done.", undefined],
    ["", { words: WORDS, patch: "one\ntwo\n", base: "ba5e" }],
  ]);
  expect(harness.cardsShown().at(-1)).toMatchObject({
    message: WORDS,
    workspace: { reason: "at aaaaaaa of the fork rob/widgets, so the work comes back as a patch" },
  });
  const { changes, pullRequests, storage } = harness;
  expect([changes.pushes, pullRequests.drafts]).toEqual([[], []]);
  expect(await storage.files.changesOf(first.id)).toMatchObject([{ name: "widgets", turn: 3 }]);
});

test("a request for a pull request decides for its run and a retry, not for a run that continues it", async () => {
  await ask("Fix it", "one\n");
  const decided = await ask("new pr=ready Fix it", "one\n");

  expect(harness.pullRequests.drafts).toMatchObject([{ base: "main", isDraft: false }]);
  expect(answers().at(-1)).not.toHaveProperty("unpushed");
  await harness.receive({ text: "retry", provenance: PROVENANCE });
  const again = await ended();
  expect(again.id).not.toBe(decided.id);
  expect(harness.pullRequests.drafts).toHaveLength(2);
  const continuing = await harness.create({ continues: decided });
  expect([decided, again, continuing].map(isPatchOnly)).toEqual([false, false, true]);
});

test("the private turn of a run shows no patch", async () => {
  const { id } = await ask("Fix it", "one\n");
  await harness.followUp(id, "Quietly", "queue", true);
  await ended();

  expect(answers()).toHaveLength(1);
});

const PATCH = new TextEncoder().encode("+é\n");

test.each([
  ["a short text", [{ patch: PATCH, isCut: false }], "+é\n"],
  ["no change", [], undefined],
  ["changes in two repositories", [PATCH, PATCH].map((patch) => ({ patch, isCut: false })), undefined],
  ["an incomplete patch", [{ patch: PATCH, isCut: true }], undefined],
  ["a long patch", [{ patch: new Uint8Array(20_001).fill(32), isCut: false }], undefined],
  ["text in another encoding", [{ patch: Uint8Array.of(0xe9), isCut: false }], undefined],
  ["a patch with a secret", [{ patch: new TextEncoder().encode("+s3cret"), isCut: false }], undefined],
])("of %s, a message shows the whole patch or none", (_what, diffs, shown) => {
  expect(shortPatch(diffs, (text) => text.replaceAll("s3cret", "[redacted]"))).toBe(shown);
});
