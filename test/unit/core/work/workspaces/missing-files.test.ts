import { beforeEach, expect, test } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import type { ToolCallUpdate } from "../../../../../src/core/model/runs/agent-update.ts";
import type { Run } from "../../../../../src/core/model/runs/run.ts";
import { LEFT_OUT_REASONS, type LeftOutWork } from "../../../../../src/core/ports/change-tracker.ts";
import { WrittenFiles } from "../../../../../src/core/work/changes/change-collector.ts";
import { isElsewhere } from "../../../../../src/core/work/changes/undelivered-work.ts";
import { CoreHarness, LIMITS } from "../../../../support/core-harness.ts";
import { END_TURN } from "../../../../support/scripted-agents.ts";
import { waitFor } from "../../../../support/wait-for.ts";

const REPOSITORY = { owner: "acme", name: "widgets" };
const HOME = { provenance: { repository: { id: 7, full_name: "acme/widgets" } } } as const;
const BRANCH: LeftOutWork = { repository: REPOSITORY, reason: "branch", path: "side" };

let harness: CoreHarness;
beforeEach(async () => {
  harness = new CoreHarness();
  await harness.start(harness.worker({ settings: { ...LIMITS, pullRequests: "draft" } }));
});

function changed(): void {
  harness.changes.sinceSnapshot.set("acme/widgets", "diff");
  harness.changes.sinceClone.set("acme/widgets", "diff");
}

async function perform(): Promise<Run> {
  const { id } = await harness.create(HOME);
  return ended(id);
}

async function ended(id: RunId): Promise<Run> {
  const look = async () => {
    const run = await harness.run(id);
    return run.lease === undefined && run.state !== "QUEUED" && run;
  };
  return waitFor(look, { what: "the run to be free", everyMs: 2 });
}

test.each(LEFT_OUT_REASONS.map((reason): LeftOutWork => ({ repository: REPOSITORY, reason, path: "x" })))(
  "work that is left out as $reason is missing in the outcome, although there is a pull request",
  async (work) => {
    changed();
    harness.changes.leftOut.push(work);

    const run = await perform();

    const isInOutcome = !isElsewhere(work);
    expect(run).toMatchObject({ state: "SUCCEEDED", pullRequest: expect.any(String) });
    expect(run.warnings).toEqual([expect.stringContaining("`x`")]);
    expect(run.outcome?.refused).toEqual(
      isInOutcome
        ? [
            {
              what: "file",
              by: "Errand",
              message: expect.stringContaining("`x`"),
              remedy: expect.stringMatching(/ask/i),
            },
          ]
        : undefined,
    );
    expect(run.statusMessage?.message).toMatch(
      isInOutcome ? /^Done, but files are missing\.\nErrand: .*`x`/ : /^Its pull request: /,
    );
  },
);

test("work on another branch is missing in the outcome if a pull request was to be made and there is none", async () => {
  harness.changes.leftOut.push(BRANCH, {
    ...BRANCH,
    repository: { owner: "acme", name: "tools" },
    path: "t",
  });

  const run = await perform();

  expect(run.outcome?.refused).toEqual([
    {
      what: "pull_request",
      by: "Errand",
      message: expect.stringMatching(/other branches.*: `side`\.$/),
      remedy: expect.stringContaining("merge"),
    },
  ]);
  expect(run.statusMessage?.message).toMatch(/^Done, but without a pull request\./);
});

test("a later turn that hands the files over clears them, and does not publish again what it did not change", async () => {
  changed();
  harness.changes.leftOut.push({ repository: REPOSITORY, reason: "large", path: "model.bin" });
  const { id } = await perform();
  harness.changes.leftOut.splice(0);
  harness.changes.sinceSnapshot.clear();

  await harness.followUp(id, "more");
  const run = await ended(id);

  expect(run.outcome).toEqual({ changes: { files: 1, additions: 1, deletions: 0 } });
  expect(harness.changes.pushes).toHaveLength(1);
});

test("a refused push comes before missing files", async () => {
  changed();
  harness.changes.leftOut.push({ repository: REPOSITORY, reason: "large", path: "model.bin" });
  harness.changes.pushFaults.push(new AppError("operation_not_supported", "Not pushed."));

  const run = await perform();

  expect(run.outcome?.refused?.map(({ what }) => what)).toEqual(["push", "file"]);
  expect(run.statusMessage?.message).toMatch(/^Done, but not pushed\.\nErrand: Not pushed\.\nErrand: Larger/);
});

test.each([
  ["pull_request", "it is in the pull request."],
  ["patch", "it is among the changes of the run."],
])("work that was brought in from a branch is said below the answer: %s", async (what, words) => {
  harness.changes.elsewhere.push([BRANCH]);
  if (what === "pull_request") {
    changed();
  }

  const run = await perform();

  expect(run.warnings).toEqual([`The agent's work was on the branch \`side\`; ${words}`]);
  expect(run.outcome?.refused).toBeUndefined();
});

test("the files that tools wrote are compared with what git ignores", async () => {
  harness.agents.scripts.push(async ({ observer }) => {
    observer.update({
      kind: "agent.tool_call",
      toolCallId: "1",
      toolKind: "edit",
      locations: [{ path: "/w/.env" }],
    });
    return END_TURN;
  });

  await perform();

  expect(harness.changes.written).toEqual(["/w/.env"]);
});

test("a written file is named by the location or the diff of a call that edits, in any of its updates", () => {
  const written = new WrittenFiles();
  const update = (id: string, more: object): ToolCallUpdate => ({
    kind: "agent.tool_call",
    toolCallId: id,
    ...more,
  });

  written.onToolCall(update("1", { toolKind: "edit" }));
  written.onToolCall(update("1", { locations: [{ path: "/late" }] }));
  written.onToolCall(update("2", { toolKind: "read", locations: [{ path: "/read" }] }));
  written.onToolCall(update("3", { content: [{ type: "diff", path: "/diff", oldText: null, newText: "" }] }));
  written.onToolCall(update("1", { locations: [{ path: "/two\nlines" }] }));
  for (let number = 0; number < 300; number += 1) {
    written.onToolCall(update("1", { locations: [{ path: `/n${number}` }] }));
  }

  expect(written.paths.slice(0, 3)).toEqual(["/late", "/diff", "/n0"]);
  expect(written.paths).toHaveLength(200);
});
