import { describe, expect, test } from "vitest";
import type { PrincipalId } from "../../../../src/core/basics/ids.ts";
import type { Approval, Run } from "../../../../src/core/model/runs/run.ts";
import { newRunAggregate } from "../../../../src/core/requests/prepare/new-run.ts";
import { decideApproval, findApproval } from "../../../../src/core/runs/decide-approval.ts";
import { decideCancel } from "../../../../src/core/runs/decide-cancel.ts";
import { decideFollowUp } from "../../../../src/core/runs/decide-follow-up.ts";
import { APPROVAL_TOOLS, anApproval, anOrigin } from "../../../support/run-builders.ts";
import { anEdit } from "./edit.ts";

const ADA = "019cb000-0000-7000-8000-000000000001" as PrincipalId;
const APPROVAL = anApproval();
const SUBJECT = { approvalId: APPROVAL.id, inputsHash: APPROVAL.inputsHash };
const REQUESTED = { ...SUBJECT, policyId: APPROVAL.policyId, reason: APPROVAL.reason };
const WAITING = { state: "BLOCKED", approval: APPROVAL } as const;

describe("a new run that needs approval", () => {
  test("a run that needs approval is blocked from the start, says why, and has no job", () => {
    const { run } = newRunAggregate(anOrigin(), { approval: APPROVAL });
    const edit = anEdit(run);

    edit.begin();

    const change = edit.done();
    const message = "Waits for approval. Production needs a second look.";
    expect(change.progress).toMatchObject({ ...WAITING, statusMessage: { message } });
    expect(change.events.map(({ body }) => body)).toEqual([
      { kind: "run.created", state: "BLOCKED" },
      { kind: "approval.requested", ...REQUESTED },
    ]);
    expect(change.jobs).toEqual([]);
  });
});

describe("an approval", () => {
  test("an approval queues the run for a worker", () => {
    const change = decide(WAITING, true);

    expect(change.progress).toMatchObject({
      state: "QUEUED",
      statusMessage: undefined,
      approval: { ...APPROVAL, approved: true, decidedBy: ADA },
    });
    expect(change.isClaimable).toBe(true);
    expect(change.events.map(({ body }) => body)).toMatchObject([
      { kind: "approval.decided", approved: true, decidedBy: ADA },
      { kind: "run.state", from: "BLOCKED", to: "QUEUED", reason: "Approved by Ada." },
    ]);
  });

  test("a refused approval cancels the run with the comment as its reason", () => {
    const change = decide(WAITING, false, "not on a Friday");

    expect(change.progress).toMatchObject({
      state: "CANCELLED",
      statusMessage: { message: "Refused by Ada: not on a Friday" },
      approval: { approved: false },
    });
    expect(change.events).toMatchObject([{ body: { comment: "not on a Friday" } }, {}]);
    expect(change.jobs).toEqual([]);
  });

  test.each([true, false])("a second identical decision (%s) changes nothing", (approved) => {
    for (const state of ["QUEUED", "INPROGRESS", "SUCCEEDED", "CANCELLED"] as const) {
      const change = decide({ state, approval: { ...APPROVAL, approved } }, approved);

      expect([change.events, change.progress.state]).toEqual([[], state]);
    }
  });

  test.each<[string, Partial<Run>, boolean]>([
    ["of a run that needs none", { state: "QUEUED" }, true],
    ["of a run that was refused", { state: "CANCELLED", approval: { ...APPROVAL, approved: false } }, true],
    ["taken back", { state: "INPROGRESS", approval: { ...APPROVAL, approved: true } }, false],
    ["of a run that was cancelled while it waited", { ...WAITING, state: "CANCELLED" }, true],
  ])("an approval %s is a conflict that a retry does not solve", (_what, run, approve) => {
    expect(() => decide(run, approve)).toThrow(
      expect.objectContaining({ code: "conflict", retryable: false }),
    );
  });
});

describe("a follow-up to a run that waits for approval", () => {
  test.each(["yes", "approve", "no", "And the lexer"])(
    "the follow-up %j waits and decides nothing",
    (message) => {
      const edit = anEdit(WAITING);

      const { followUpId: id } = decideFollowUp(edit, { message, authorId: ADA }, APPROVAL_TOOLS);

      const change = edit.done();
      expect(change.followUps).toMatchObject([{ id, message }]);
      expect(change.progress).toMatchObject(WAITING);
      expect(change.jobs).toEqual([]);
    },
  );

  test.each<[string, Approval]>([
    ["cancelled while it waited", APPROVAL],
    ["refused", { ...APPROVAL, approved: false, decidedBy: ADA }],
  ])("a follow-up to a run whose approval was %s requests approval again", (_what, approval) => {
    const edit = anEdit({ state: "CANCELLED", approval });

    decideFollowUp(edit, { message: "please", authorId: ADA }, APPROVAL_TOOLS);

    const change = edit.done();
    const { policyId, reason } = APPROVAL;
    expect(change.progress).toMatchObject({ state: "BLOCKED", approval: { policyId, reason } });
    expect(change.progress.approval).not.toHaveProperty("approved");
    expect(change.progress.approval?.inputs.map(({ text }) => text)).toEqual([edit.run.prompt, "please"]);
    expect(change.events.map(({ body }) => body.kind)).toEqual([
      "followup.received",
      "run.state",
      "run.state",
      "approval.requested",
    ]);
    expect(change.jobs).toEqual([]);
  });

  test("a follow-up to an approved run resumes it like any other", () => {
    const edit = anEdit({ state: "SUCCEEDED", approval: { ...APPROVAL, approved: true } });

    decideFollowUp(edit, { message: "and this", authorId: ADA }, APPROVAL_TOOLS);

    expect(edit.done()).toMatchObject({ progress: { state: "QUEUED" }, isClaimable: true });
  });
});

test("a run that waits for approval can be cancelled", () => {
  const edit = anEdit(WAITING);

  decideCancel(edit, { id: ADA });

  expect(edit.done().progress).toMatchObject({ state: "CANCELLED", approval: APPROVAL });
});

function decide(run: Partial<Run>, approve: boolean, comment?: string) {
  const edit = anEdit(run);
  const decision = comment === undefined ? {} : { comment };
  const { inputsHash } = APPROVAL;
  const target = findApproval(edit, inputsHash);
  decideApproval(edit, target, { approve, inputsHash, decidedBy: ADA, name: "Ada", ...decision });
  return edit.done();
}
