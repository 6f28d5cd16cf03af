import { describe, expect, test } from "vitest";
import { type LeaseToken, newId, type PrincipalId, type RunId } from "../../../../src/core/basics/ids.ts";
import type { PendingPermission, Run } from "../../../../src/core/model/runs/run.ts";
import type { AdapterTraits } from "../../../../src/core/ports/thread-adapter.ts";
import { answerIn, decideFollowUp } from "../../../../src/core/runs/decide-follow-up.ts";
import type { RunEdit } from "../../../../src/core/runs/run-edit.ts";
import { processorTime } from "../../../support/processor-time.ts";
import { APPROVAL_TOOLS, aThread } from "../../../support/run-builders.ts";
import { anEdit } from "./edit.ts";

const authorId = "019cb000-0000-7000-8000-000000000001" as PrincipalId;
const LEASE = { token: "t" as LeaseToken, worker: "w" };
const OPTIONS: PendingPermission["options"] = [
  { optionId: "always", name: "Always allow", kind: "allow_always" },
  { optionId: "once", name: "Allow", kind: "allow_once" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
];
const PERMISSION: PendingPermission = {
  permissionId: "p",
  title: "Delete it?",
  options: OPTIONS,
  askedAt: new Date("2026-03-01T12:00:00.000Z"),
};
const BLOCKED = { state: "BLOCKED", permission: PERMISSION } as const;

describe("a follow-up", () => {
  test.each(["QUEUED", "PENDING", "CLAIMED", "INPROGRESS"] as const)(
    "a follow-up waits while the run is %s",
    (state) => {
      const edit = anEdit({ state });

      const { followUpId: id } = decideFollowUp(edit, { message: "And this", authorId }, APPROVAL_TOOLS);

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

      const input = { message: "And this", mode: "plan", delivery: "interrupt", authorId } as const;
      const { followUpId: id } = decideFollowUp(edit, input, APPROVAL_TOOLS);

      const change = edit.done();
      expect(change.followUps).toMatchObject([{ id, mode: "plan", delivery: "interrupt" }]);
      expect(change.progress).toMatchObject({
        state: "QUEUED",
        statusMessage: undefined,
        endedAt: undefined,
      });
      expect(change.isClaimable).toBe(true);
    },
  );

  test("a follow-up that agrees to a question lets the live agent continue and is consumed", () => {
    const change = follow({ ...BLOCKED, lease: LEASE }, "ok!");

    expect(change).toMatchObject({ followUps: [], jobs: [], lease: undefined });
    expect(change.progress).toMatchObject({ state: "INPROGRESS", permission: { answer: "once" } });
    expect(change.events.map(({ body }) => body.kind)).toEqual(["permission.answered", "run.state"]);
  });

  test.each([
    [
      "an answer",
      (edit: RunEdit) => void decideFollowUp(edit, { message: "ok", authorId }, APPROVAL_TOOLS),
      "Answered: Allow.",
    ],
    ["the end of the run", (edit: RunEdit) => edit.moveTo("CANCELLED", {}), "It is no longer open."],
  ])("after %s, a question has no buttons where it had some", (_what, decide, end) => {
    const runId = newId<RunId>(new Date());
    const traits = { source: "SLACK", trigger: () => "@e" } as const;
    const asking = new Map<string, AdapterTraits>([
      ["chat", { ...traits, asksForEnvironment: true as const }],
      ["forge", traits],
    ]);
    const threads = ["chat", "forge"].map((adapter) => ({ ...aThread({ id: adapter, adapter }), runId }));
    const edit = anEdit({ ...BLOCKED, lease: LEASE }, { threads }, asking);

    decide(edit);

    const closed = edit.done().notices.filter(({ notice }) => "asks" in notice);
    expect(closed).toMatchObject([
      { threadId: "chat", notice: { asks: { permissionId: "p", options: [] }, text: `Delete it?\n${end}` } },
    ]);
  });

  test("a text that is no answer is held, and the question stays open", () => {
    const edit = anEdit({ ...BLOCKED, lease: LEASE });

    const effect = decideFollowUp(edit, { message: "why do you ask?", authorId }, APPROVAL_TOOLS);

    const change = edit.done();
    expect(effect).toMatchObject({ followUpId: expect.any(String), questionOpen: true });
    expect(change.followUps).toMatchObject([{ message: "why do you ask?" }]);
    expect(change.progress).toMatchObject({ state: "BLOCKED", permission: PERMISSION });
    expect(change.progress.permission).not.toHaveProperty("answer");
  });

  test("a follow-up that answers a question of a stopped agent queues the run with the answer", () => {
    const change = follow(BLOCKED, "yes");

    expect(change.followUps).toMatchObject([{ message: "You asked: Delete it?. The answer: Allow." }]);
    expect(change.progress).toMatchObject({ state: "QUEUED", permission: undefined });
    expect(change.isClaimable).toBe(true);
  });

  test("a refusal grants nothing if the agent offers no refusal, and the run continues", () => {
    const permission = { ...PERMISSION, options: OPTIONS.slice(0, 2) };

    const change = follow({ state: "BLOCKED", permission, lease: LEASE }, "no");

    expect(change.progress).toMatchObject({ state: "INPROGRESS", permission: { answer: null } });
    expect(change.followUps).toEqual([]);
  });

  test("a follow-up waits when the run is blocked without a question", () => {
    const change = follow({ state: "BLOCKED" }, "yes");

    expect(change.progress.state).toBe("BLOCKED");
    expect(change.followUps).toMatchObject([{ message: "yes" }]);
  });
});

describe("an answer in words", () => {
  const agreements = [
    "yes",
    " Yes! ",
    "y",
    "OK.",
    "okay?",
    "sure",
    "allow",
    "approve",
    "approved",
    "go ahead",
  ];
  test.each([
    ...agreements,
    "yes please",
    "ok, do it",
    "Go ahead, thanks",
    "*yes* now",
    "ok lgtm",
    "allow it",
  ])("the text %j allows once", (words) => {
    expect(answerIn(PERMISSION, words)?.option?.optionId).toBe("once");
  });

  const refusals = ["no", "Nope.", "deny", "reject", "don't", "Don\u2019t!"];
  test.each([...refusals, "no thanks", "no, please do not"])("the text %j rejects once", (words) => {
    expect(answerIn(PERMISSION, words)?.option?.optionId).toBe("no");
  });

  test.each(["always allow", "ALWAYS ALLOW ", "always", "Always allow."])(
    "the text %j names an option",
    (words) => {
      expect(answerIn(PERMISSION, words)?.option?.optionId).toBe("always");
    },
  );

  const others = [
    "",
    "!",
    "yes but not the tests",
    "not ok",
    "yesterday",
    "no problem, go",
    "yes no",
    "go",
    "yep",
  ];
  test.each([...others, "please", "n", "ok \u274c", "ahead go", "don t", "it", "now, thanks"])(
    "the text %j is no answer",
    (words) => {
      expect(answerIn(PERMISSION, words)).toBeUndefined();
    },
  );

  /** As people type them. */
  const variantsOf = (words: string) => [
    words,
    words.toUpperCase(),
    `${words[0]?.toUpperCase()}${words.slice(1)}`,
    `${words}!`,
    `  ${words} . `,
    `${words}, please`,
    `> Delete it?\n\n${words}`,
  ];
  const tones = ["", "\u{1F3FB}", "\u{1F3FC}", "\u{1F3FD}", "\u{1F3FE}", "\u{1F3FF}", "\uFE0F"];
  const inChat = ["", ...[2, 3, 4, 5, 6].map((tone) => `:skin-tone-${tone}:`)];
  const signs = (sign: string, name: string, plain: string) => [
    ...tones.map((tone) => `${sign}${tone}`),
    ...inChat.map((tone) => `${name}${tone}`),
    ...[plain, ` ${plain}\n`],
  ];

  test.each([
    ...["lgtm", "do it", "go ahead", "yes"].flatMap(variantsOf),
    ...signs("\u{1F44D}", ":+1:", "+1"),
    ...["\u2705", ":white_check_mark:", "lgtm, do it now, thanks", "Yes, LGTM"],
  ])("the variant %j allows once", (words) => {
    expect(answerIn(PERMISSION, words)?.option?.optionId).toBe("once");
  });

  test.each([
    ...["do not", "don't", "don\u2019t", "no"].flatMap(variantsOf),
    ...signs("\u{1F44E}", ":-1:", "-1"),
  ])("the variant %j rejects once", (words) => {
    expect(answerIn(PERMISSION, words)?.option?.optionId).toBe("no");
  });

  test.each([
    "do not delete the tests, but go on",
    "don't delete the tests, but go on",
    "do it, but leave the tests",
    "lgtm except for the tests",
    "do not do it",
    "don't do it yet, allow it later",
    "I do not",
    "donot",
    "does it",
    "\u{1F44D} but not the tests",
    "no \u{1F44D}",
    "\u{1F44D}\u{1F44E}",
    "\u{1F44E} yes",
    "\u{1F3FD}",
    ":skin-tone-3:",
    "+10",
    "1",
    "\u{1F44F}",
    ":tada:",
  ])("the text %j is a message", (words) => {
    expect(answerIn(PERMISSION, words)).toBeUndefined();
  });

  test("a plain yes is no answer if the agent only offers to allow permanently", () => {
    const permission = { ...PERMISSION, options: OPTIONS.slice(0, 1) };

    expect(answerIn(permission, "yes")).toBeUndefined();
  });

  test("a plain no never refuses permanently", () => {
    const options = [{ optionId: "never", name: "Never", kind: "reject_always" }] as const;

    expect(answerIn({ ...PERMISSION, options }, "no")).toEqual({ option: undefined });
  });

  test("an answer names an option by its id in any case, or in the case of the agent", () => {
    const options = [
      { optionId: "go-on", name: "1", kind: "reject_once" },
      { optionId: "Go-On", name: "2", kind: "allow_once" },
      { optionId: "Stop", name: "3", kind: "reject_once" },
    ] as const;
    const meant = (words: string) => answerIn({ ...PERMISSION, options }, words)?.option?.name;

    expect([meant("Go-On"), meant(" go-on "), meant("GO-ON"), meant("Stop"), meant("stop")]).toEqual([
      "2",
      "1",
      "1",
      "3",
      "3",
    ]);
  });

  test("an answer with many spaces is parsed quickly", () => {
    const usedMs = processorTime();

    for (const word of ["y", "n"]) {
      expect(answerIn(PERMISSION, `${word}${" ".repeat(100_000)}x`)).toBeUndefined();
    }

    expect(usedMs()).toBeLessThan(5_000);
  });
});

function follow(run: Partial<Run>, message: string) {
  const edit = anEdit(run);
  decideFollowUp(edit, { message, authorId }, APPROVAL_TOOLS);
  return edit.done();
}
