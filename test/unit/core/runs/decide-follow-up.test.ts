import { describe, expect, test } from "vitest";
import type { LeaseToken, PrincipalId } from "../../../../src/core/ids.ts";
import { decideFollowUp, optionMeant } from "../../../../src/core/runs/decide-follow-up.ts";
import type { PendingPermission, Run } from "../../../../src/core/runs/run.ts";
import { anEdit } from "./edit.ts";

const authorId = "019cb000-0000-7000-8000-000000000001" as PrincipalId;
const LEASE = { token: "t" as LeaseToken, worker: "w" };
const OPTIONS: PendingPermission["options"] = [
  { optionId: "always", name: "Always allow", kind: "allow_always" },
  { optionId: "once", name: "Allow", kind: "allow_once" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
];
const PERMISSION: PendingPermission = { permissionId: "p", title: "Delete it?", options: OPTIONS };
const BLOCKED = { state: "BLOCKED", permission: PERMISSION } as const;

describe("a follow-up", () => {
  test.each(["QUEUED", "PENDING", "CLAIMED", "INPROGRESS"] as const)(
    "a follow-up waits while the run is %s",
    (state) => {
      const edit = anEdit({ state });

      const id = decideFollowUp(edit, { message: "And this", authorId });

      const change = edit.done();
      expect(change.followUps).toMatchObject([{ id, message: "And this", delivery: "queue", authorId }]);
      expect(change.events.map(({ body }) => body.kind)).toEqual(["followup.received"]);
      expect(change.progress.state).toBe(state);
      expect(change.jobs).toEqual([]);
    },
  );

  test.each(["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"] as const)(
    "a follow-up resumes a run that is %s",
    (state) => {
      const edit = anEdit({ state, statusMessage: { message: "old" }, endedAt: new Date() });

      const id = decideFollowUp(edit, { message: "And this", mode: "plan", delivery: "interrupt", authorId });

      const change = edit.done();
      expect(change.followUps).toMatchObject([{ id, mode: "plan", delivery: "interrupt" }]);
      expect(change.progress).toMatchObject({
        state: "QUEUED",
        statusMessage: undefined,
        endedAt: undefined,
      });
      expect(change.jobs).toEqual([{ kind: "run", key: edit.run.id }]);
    },
  );

  test("a follow-up that agrees to a question lets the live agent continue and is consumed", () => {
    const change = follow({ ...BLOCKED, lease: LEASE }, "ok!");

    expect(change).toMatchObject({ followUps: [], jobs: [], lease: undefined });
    expect(change.progress).toMatchObject({ state: "INPROGRESS", permission: { answer: "once" } });
    expect(change.events.map(({ body }) => body.kind)).toEqual(["permission.answered", "run.state"]);
  });

  test("a follow-up that neither agrees nor refuses counts as a refusal and waits for the next turn", () => {
    const change = follow({ ...BLOCKED, lease: LEASE }, "why do you ask?");

    expect(change.followUps).toMatchObject([{ message: "why do you ask?" }]);
    expect(change.progress).toMatchObject({ state: "INPROGRESS", permission: { answer: "no" } });
  });

  test("a follow-up that answers a question of a stopped agent queues the run with the answer", () => {
    const change = follow(BLOCKED, "yes");

    expect(change.followUps).toMatchObject([{ message: "You asked: Delete it?. The answer: Allow." }]);
    expect(change.progress).toMatchObject({ state: "QUEUED", permission: undefined });
    expect(change.jobs).toHaveLength(1);
  });

  test.each([
    ["no", []],
    ["why?", [{ message: "why?" }]],
  ])(
    "the answer %j grants nothing if the agent offers no refusal, and the run continues",
    (words, followUps) => {
      const permission = { ...PERMISSION, options: OPTIONS.slice(0, 2) };

      const change = follow({ state: "BLOCKED", permission, lease: LEASE }, words);

      expect(change.progress).toMatchObject({ state: "INPROGRESS", permission: { answer: null } });
      expect(change.followUps).toMatchObject(followUps);
    },
  );

  test("a follow-up waits when the run is blocked without a question", () => {
    const change = follow({ state: "BLOCKED" }, "yes");

    expect(change.progress.state).toBe("BLOCKED");
    expect(change.followUps).toMatchObject([{ message: "yes" }]);
  });
});

describe("an answer in words", () => {
  test.each(["yes", " Yes! ", "y", "OK.", "go ahead", "lgtm", "approve", "approved"])(
    "the answer %j allows once",
    (words) => {
      expect(optionMeant(PERMISSION, words)?.optionId).toBe("once");
    },
  );

  test.each(["no", "N", "Nope.", "don't", "do not", "rejected", "deny"])("the answer %j rejects", (words) => {
    expect(optionMeant(PERMISSION, words)?.optionId).toBe("no");
  });

  test.each(["always allow", "ALWAYS ALLOW ", "always"])("the answer %j names an option", (words) => {
    expect(optionMeant(PERMISSION, words)?.optionId).toBe("always");
  });

  test.each(["", "yes but not the tests", "not ok", "yesterday", "no problem, go", "y n", "okay?"])(
    "the text %j is no answer",
    (words) => {
      expect(optionMeant(PERMISSION, words)).toBeUndefined();
    },
  );

  test("an answer names an option by its id in any case, or in the case of the agent", () => {
    const options = [
      { optionId: "go-on", name: "1", kind: "reject_once" },
      { optionId: "Go-On", name: "2", kind: "allow_once" },
      { optionId: "Stop", name: "3", kind: "reject_once" },
    ] as const;
    const meant = (words: string) => optionMeant({ ...PERMISSION, options }, words)?.name;

    expect([meant("Go-On"), meant(" go-on "), meant("GO-ON"), meant("Stop"), meant("stop")]).toEqual([
      "2",
      "1",
      "1",
      "3",
      "3",
    ]);
  });

  test("an answer allows permanently if the agent offers nothing less", () => {
    const permission = { ...PERMISSION, options: OPTIONS.slice(0, 1) };

    expect(optionMeant(permission, "yes")?.optionId).toBe("always");
  });

  test("an answer with many spaces is parsed quickly", () => {
    const started = performance.now();

    for (const word of ["y", "n"]) {
      expect(optionMeant(PERMISSION, `${word}${" ".repeat(100_000)}x`)).toBeUndefined();
    }

    expect(performance.now() - started).toBeLessThan(500);
  });
});

function follow(run: Partial<Run>, message: string) {
  const edit = anEdit(run);
  decideFollowUp(edit, { message, authorId });
  return edit.done();
}
