import { describe, expect, test } from "vitest";
import type { PrincipalId } from "../../../../src/core/basics/ids.ts";
import type { FollowUp } from "../../../../src/core/model/runs/follow-up.ts";
import type { Approval, Run } from "../../../../src/core/model/runs/run.ts";
import type { RunState } from "../../../../src/core/model/runs/states.ts";
import { decideApproval } from "../../../../src/core/runs/decide-approval.ts";
import { decideCancel } from "../../../../src/core/runs/decide-cancel.ts";
import type { RunEdit } from "../../../../src/core/runs/run-edit.ts";
import {
  decideFailure,
  decideHandBack,
  decideRecovery,
  decideTurnEnd,
} from "../../../../src/core/work/context/decide-attempt.ts";
import { aFollowUp, anApproval, aRun } from "../../../support/run-builders.ts";
import { anEdit } from "./edit.ts";

const ADA = { id: "019cb000-0000-7000-8000-000000000001" as PrincipalId, displayName: "Ada" };
const BUDGET = { message: "The budget is used up.", errorCode: "budget_exceeded", retryable: false } as const;
const LATE = { message: "The turn took too long.", errorCode: "resource_unavailable" } as const;
const SETUP = { message: "npm ci failed.", errorCode: "environment_setup_failed" } as const;
const END = { stopReason: "end_turn" } as const;
const WITHDRAWN = "2 held follow-ups were withdrawn.";
const HELD = "2 follow-ups were not given to the agent and are held.";

interface End {
  readonly run: Partial<Run>;
  readonly decide: (edit: RunEdit) => void;
  readonly state: RunState;
  readonly withdrawn: number;
  readonly says: string | undefined;
  /** The approval of the first of the two held follow-ups. */
  readonly approval?: Approval;
}

const refuse = (approval: Approval) => (edit: RunEdit) =>
  decideApproval(
    edit,
    { approval },
    { approve: false, inputsHash: approval.inputsHash, decidedBy: ADA.id, name: "Ada" },
  );
const ASKED = anApproval();

/** Each way in which a run ends, and what it does with two held follow-ups. */
const ENDS: Readonly<Record<string, End>> = {
  "a cancel": {
    run: { state: "INPROGRESS", turnOpen: true },
    decide: (edit) => decideCancel(edit, ADA),
    ...{ state: "CANCELLED", withdrawn: 2, says: `Cancelled by Ada. ${WITHDRAWN}` },
  },
  "the refusal of the run's approval": {
    run: { state: "BLOCKED", approval: ASKED },
    decide: refuse(ASKED),
    ...{ state: "CANCELLED", withdrawn: 2, says: `Refused by Ada. ${WITHDRAWN}` },
  },
  "a failure before the start": {
    run: { state: "PENDING" },
    decide: (edit) => decideFailure(edit, SETUP),
    ...{ state: "FAILED", withdrawn: 0, says: `npm ci failed. ${HELD}` },
  },
  "the loss of three workers before the start": {
    run: { state: "PENDING", lostAttempts: 3 },
    decide: decideRecovery,
    ...{ state: "ERROR", withdrawn: 0 },
    says: `The run was given up: its worker was lost 3 times in a row. ${HELD}`,
  },
  "a budget that is used up at the end of a turn": {
    run: { state: "INPROGRESS", turnOpen: true },
    decide: (edit) => decideTurnEnd(edit, END, "Done", { failure: BUDGET }),
    ...{ state: "FAILED", withdrawn: 0, says: `The budget is used up. ${HELD}` },
  },
  "a time limit within a turn": {
    run: { state: "INPROGRESS", turnOpen: true },
    decide: (edit) => decideFailure(edit, LATE),
    ...{ state: "QUEUED", withdrawn: 0, says: undefined },
  },
  "the end of a turn": {
    run: { state: "INPROGRESS", turnOpen: true },
    decide: (edit) => decideTurnEnd(edit, END, "Done"),
    ...{ state: "INPROGRESS", withdrawn: 0, says: undefined },
  },
  "the end of a turn before follow-ups that wait for an approval": {
    run: { state: "INPROGRESS", turnOpen: true },
    decide: (edit) => decideTurnEnd(edit, END, "Done"),
    approval: anApproval(),
    ...{ state: "SUCCEEDED", withdrawn: 0, says: undefined },
  },
  "a worker that stops": {
    run: { state: "INPROGRESS", turnOpen: true },
    decide: (edit) => decideHandBack(edit, { reason: "Its worker stops.", isBlameless: true }),
    ...{ state: "QUEUED", withdrawn: 0, says: undefined },
  },
};

describe("held follow-ups at the end of a run", () => {
  test.each(Object.entries(ENDS))("%s", (_name, { approval, decide, run, says, state, withdrawn }) => {
    const stored = aRun(run);
    const held: FollowUp[] = ["And the lexer", "And the docs"].map((message, index) => ({
      ...aFollowUp(stored, { message, ...(index === 0 && approval !== undefined ? { approval } : {}) }),
      seq: index + 1,
    }));
    const edit = anEdit(run, { waiting: held, leaseOver: true });

    decide(edit);

    const { changedFollowUps = [], events, progress } = edit.done();
    const said = events.filter(({ body }) => body.kind === "followup.withdrawn");
    expect([progress.state, progress.statusMessage?.message]).toEqual([state, says]);
    expect(changedFollowUps.filter(({ withdrawnAt }) => withdrawnAt !== undefined)).toHaveLength(withdrawn);
    expect(said).toHaveLength(withdrawn);
    expect(progress.waitingFollowUp?.followUpId).toBe(approval && held[0]?.id);
  });

  test("answers to questions are no follow-ups of a person", () => {
    const stored = aRun({ state: "PENDING" });
    const answer = { ...aFollowUp(stored, { message: "Allow", isAnswer: true }), seq: 1 };
    const edit = anEdit({ state: "PENDING" }, { waiting: [answer] });

    decideFailure(edit, SETUP);

    expect(edit.done().progress.statusMessage?.message).toBe("npm ci failed.");
  });
});
