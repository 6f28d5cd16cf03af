import { beforeEach, expect, test } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import { CoreHarness, LEASE_MS } from "../../../../support/core-harness.ts";
import { ManualClock, quiet } from "../../../../support/manual-clock.ts";
import { InboxHarness } from "../../threads/inbox/inbox-harness.ts";

const TOO_LARGE = new AppError("operation_not_supported", "Too large.", { remedy: "Remove build results." });
const STAYS = "They stay on their worker. If the run continues on another one, they will be missing.";
const NOT_STORED = "The files of turn 1 could not be stored: Too large. Remove build results.";
const LEFT_OUT = "Some files could not be stored with the workspace: workspace/locked (it cannot be read)";

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  await harness.start();
});

/** Continues the run, on the worker with its files or on another one. */
async function goOn(isOwnCopy: boolean): Promise<void> {
  harness.workspaces.isOwnCopy = isOwnCopy;
  await harness.receive({ text: "Go on" });
}

test("files that cannot be stored are named in the thread, and what is missing before the agent starts elsewhere", async () => {
  harness.workspaces.faults.push(TOO_LARGE);
  harness.workspaces.workFaults.push(TOO_LARGE);
  await harness.receive({ text: "Fix it" });
  expect(harness.repliesShown()).toEqual([`${NOT_STORED}\n${STAYS}`]);

  await goOn(false);

  const missing = `${NOT_STORED}\nThe run continues with the files as they were before the first turn.`;
  const { id, warnings } = await harness.currentRun();
  expect(harness.repliesShown()).toEqual([`${NOT_STORED}\n${STAYS}`, missing]);
  expect(warnings).toContain(missing);
  const kinds = (await harness.events(id)).filter(
    ({ body }) => body.kind === "agent.started" || (body.kind === "workspace.ready" && "missing" in body),
  );
  expect(kinds.map(({ body }) => body)).toMatchObject([
    { kind: "agent.started" },
    { kind: "workspace.ready", missing },
    { kind: "agent.started" },
  ]);
  expect(harness.agents.prompts.at(-1)).toBe(`(Files of your earlier work are missing. ${missing})\n\nGo on`);
});

test("nothing is missing where the files still are, and after they were stored", async () => {
  harness.workspaces.faults.push(TOO_LARGE);
  harness.workspaces.workFaults.push(TOO_LARGE);
  await harness.receive({ text: "Fix it" });

  await goOn(true);
  await goOn(false);

  expect(harness.repliesShown()).toHaveLength(1);
  expect((await harness.currentRun()).checkpointGaps).toBeUndefined();
  expect(harness.agents.prompts).toEqual(["Fix it", "Go on", "Go on"]);
});

test("a file that no checkpoint contains is named once, and again when it is missing", async () => {
  harness.workspaces.unstorable.push({ path: "workspace/locked", reason: "it cannot be read" });
  await harness.receive({ text: "Fix it" });
  await goOn(true);
  expect(harness.repliesShown()).toEqual([`${LEFT_OUT}\n${STAYS}`]);

  harness.workspaces.unstorable.pop();
  await goOn(false);

  expect(harness.repliesShown().at(-1)).toMatch(
    /^Some files could not be stored with the workspace: workspace\/locked \(it cannot be read\)\nThe run continues with the files as they were stored at \S+ \S+ UTC\.$/,
  );
});

test("of many files that no checkpoint contains, the first are named and the others counted", async () => {
  for (let number = 1; number <= 22; number += 1) {
    harness.workspaces.unstorable.push({ path: `workspace/${number}`, reason: "it is a device" });
  }

  await harness.receive({ text: "Fix it" });

  expect(harness.repliesShown()[0]).toContain("workspace/20 (it is a device), 2 more\n");
});

test("if only the work can be stored, another worker continues with it, and the thread says what stays behind", async () => {
  harness.workspaces.faults.push(TOO_LARGE);
  await harness.receive({ text: "Fix it" });

  const lost =
    "After turn 1, files that git ignores and the home directory could not be stored: Too large. Remove build results.";
  expect(harness.repliesShown()).toEqual([`${lost}\n${STAYS}`]);
  expect(await harness.currentRun()).toMatchObject({ checkpoint: "work-1", workCheckpoint: "work-1" });
  await goOn(false);
  expect(harness.workspaces.preparations.at(-1)?.stored).toEqual({ checkpoint: "work-1", work: "work-1" });
  expect(harness.repliesShown().at(-1)).toContain(lost);
});

test("a run of which only the work is left says what is missing before the agent starts, with a new session", async () => {
  await harness.receive({ text: "Fix it" });
  harness.workspaces.gone = { restored: "work", paths: ["tools/.env", "tools/dist/"] };

  await goOn(false);

  const missing =
    "Only the work is still stored: commits, changes, and new files that git does not ignore. The repositories were cloned again and the setup was repeated. Missing are ignored files (tools/.env, tools/dist/), the home directory, and the session of the agent, which starts a new one.";
  const { id, warnings } = await harness.currentRun();
  expect(harness.repliesShown()).toEqual([missing]);
  expect(warnings).toContain(missing);
  const ready = (await harness.events(id)).filter(({ body }) => body.kind === "workspace.ready");
  expect(ready.map(({ body }) => body)).toMatchObject([{}, { missing }]);
  expect(harness.agents.starts.at(-1)?.previousSession).toBeUndefined();
  expect(harness.agents.prompts.at(-1)).toContain(missing);
  expect(harness.agents.prompts.at(-1)).toContain("Fix it");
});

test("a run whose changes within the turn are gone says so", async () => {
  await harness.receive({ text: "Fix it" });
  harness.workspaces.gone = { restored: "checkpoint", paths: [] };

  await goOn(false);

  expect(harness.repliesShown()).toEqual([
    "What changed within the last turn is no longer stored. The run continues with the files from before.",
  ]);
});

test.each([true, false])(
  "the run of a lost worker says that files are missing, unless they still are there (%s)",
  async (isOwnCopy) => {
    const alone = new CoreHarness();
    const { id } = await alone.create();
    alone.agents.scripts.push(() => new Promise(() => undefined));
    const clock = new ManualClock(alone.clock.now());
    const { pubsub } = new CoreHarness();
    void alone.worker({ clock, pubsub }).work(id, new AbortController().signal);
    await quiet();
    await alone.clock.advance(2 * LEASE_MS);
    alone.workspaces.isOwnCopy = isOwnCopy;

    await alone.start();
    await alone.lostRuns().recover(id);
    await quiet();

    const { state, warnings = [] } = await alone.run(id);
    const lost = "The worker was lost during turn 1. What it changed in it was not stored.";
    expect([state, warnings.some((text) => text.startsWith(lost))]).toEqual(["SUCCEEDED", !isOwnCopy]);
    expect(alone.agents.prompts.at(-1)?.includes(lost)).toBe(!isOwnCopy);
  },
);
