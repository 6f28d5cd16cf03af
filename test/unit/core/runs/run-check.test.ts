import { describe, expect, test } from "vitest";
import type { Run } from "../../../../src/core/model/runs/run.ts";
import type { RunState } from "../../../../src/core/model/runs/states.ts";
import type { AdapterTraits } from "../../../../src/core/ports/thread-adapter.ts";
import { checkOf } from "../../../../src/core/runs/run-check.ts";
import type { RunEdit } from "../../../../src/core/runs/run-edit.ts";
import { anApproval, aRun, aThread } from "../../../support/run-builders.ts";
import { anEdit } from "./edit.ts";

const TRAITS: AdapterTraits = {
  source: "API",
  trigger: () => "@errand",
  showsCheckIn: (key) => key.endsWith("pull"),
};
const PULL = "https://forge.example/pull/1";

function anEditWithPull(run: Partial<Run>): RunEdit {
  const threads = ["issue", "pull"].map((id) => {
    const thread = aThread({ id });
    return { ...thread, key: `${thread.key}/${id}` as typeof thread.key, runId: aRun().id };
  });
  const traits = new Map(threads.map(({ adapter }) => [adapter, TRAITS]));
  return anEdit(run, { threads }, traits);
}

function checksOf(edit: RunEdit): readonly (readonly [string, unknown])[] {
  return edit
    .done()
    .notices.flatMap(({ notice, threadId }) =>
      notice.kind === "check" ? [[threadId, notice.check.state] as const] : [],
    );
}

describe("the check of a run", () => {
  const WAYS: readonly (readonly [RunState, RunState, RunState | undefined])[] = [
    ["QUEUED", "PENDING", undefined],
    ["CLAIMED", "INPROGRESS", undefined],
    ["SUCCEEDED", "QUEUED", "INPROGRESS"],
    ["INPROGRESS", "BLOCKED", "BLOCKED"],
    ["INPROGRESS", "SUCCEEDED", "SUCCEEDED"],
    ["QUEUED", "CANCELLED", "CANCELLED"],
  ];

  test.each(WAYS)("a change from %s to %s shows %s, in pull requests only", (from, to, shown) => {
    const edit = anEditWithPull({ state: from });

    edit.moveTo(to);

    expect(checksOf(edit)).toEqual(shown === undefined ? [] : [["pull", shown]]);
  });

  test("a pull request that becomes a thread of the run gets the check at once", () => {
    const edit = anEditWithPull({ state: "INPROGRESS" });
    const thread = aThread({ id: "new" });

    edit.bind({ thread: { ...thread, key: `${thread.key}/pull` as typeof thread.key }, expected: undefined });

    expect(checksOf(edit)).toEqual([["new", "INPROGRESS"]]);
  });
});

describe("what a check says", () => {
  const failed = { name: "build", state: "failed" } as const;
  const status = { url: PULL, state: "open", checks: [failed] } as const;

  test.each([
    ["ended beside a failed check", { state: "SUCCEEDED" }, true],
    ["works on it", { state: "INPROGRESS" }, undefined],
    [
      "has a check that runs",
      { pullRequestStatus: { ...status, checks: [failed, { name: "x", state: "running" }] } },
      undefined,
    ],
    ["has no failed check", { pullRequestStatus: { ...status, checks: [] } }, undefined],
    ["was merged", { pullRequestStatus: { ...status, state: "merged" } }, undefined],
    ["has a newer pull request", { pullRequest: `${PULL}2` }, undefined],
  ] satisfies [string, Partial<Run>, boolean | undefined][])(
    "whether a run that %s offers to repair it",
    (_what, changes, offered) => {
      const run = aRun({ state: "SUCCEEDED", pullRequest: PULL, pullRequestStatus: status, ...changes });

      expect(checkOf(run, "http://here").canRepair).toBe(offered);
    },
  );

  test("a run that is not approved says so, and one that asks does not", () => {
    const question = { permissionId: "p", title: "May I?", options: [], askedAt: new Date() };

    expect(checkOf(aRun({ state: "BLOCKED", approval: anApproval() }), "").isUnapproved).toBe(true);
    expect(checkOf(aRun({ state: "BLOCKED", permission: question }), "").isUnapproved).toBeUndefined();
    const paused = checkOf(aRun({ state: "BLOCKED", pause: { by: aRun().creatorId } }), "");
    expect([paused.isUnapproved, paused.isPaused]).toEqual([undefined, true]);
  });

  test("work that is not handed over is named", () => {
    const outcome = { refused: [{ what: "push", by: "GitHub", message: "No." }] } as const;

    expect(checkOf(aRun({ state: "SUCCEEDED", outcome }), "").shortfall).toBe("Done, but not pushed");
  });
});

describe("a review", () => {
  const report = { summary: "Fine.", commit: "c", findings: [{ id: "a", path: "a", title: "A", body: "" }] };
  const traits = new Map([[aThread().adapter, { ...TRAITS, reviewIn: () => report }]]);
  const run = { state: "INPROGRESS", turn: 1, turnOpen: true, provenance: { review: true } } as const;
  const thread = { ...aThread({ id: "pull" }), runId: aRun().id };
  const pull = { ...thread, key: `${thread.key}/pull` as typeof thread.key };

  test("its answer and its check have the findings of the report", () => {
    const edit = anEdit(run, { threads: [pull] }, traits);

    edit.setAnswer("the answer with its block");
    edit.moveTo("SUCCEEDED");

    const { notices } = edit.done();
    expect(notices.map(({ notice }) => notice)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          kind: "message",
          text: "Fine.",
          review: { commit: "c", findings: report.findings, isAsked: false },
        }),
        expect.objectContaining({ kind: "check", check: expect.objectContaining({ findings: 1 }) }),
      ]),
    );
  });

  test("the answer of other work is not read as one", () => {
    const edit = anEdit({ ...run, provenance: {} }, { threads: [pull] }, traits);

    edit.setAnswer("an answer");
    edit.moveTo("SUCCEEDED");

    expect(JSON.stringify(edit.done().notices)).not.toMatch(/findings|Fine\./);
  });
});
