import { describe, expect, test } from "vitest";
import type { LeaseToken, PrincipalId } from "../../../../src/core/basics/ids.ts";
import { decideCancel } from "../../../../src/core/runs/decide-cancel.ts";
import { anEdit } from "./edit.ts";

const ADA = { id: "019cb000-0000-7000-8000-000000000001" as PrincipalId, displayName: "Ada" };
const LEASE = { token: "t" as LeaseToken, worker: "w" };

describe("cancelling", () => {
  test.each(["QUEUED", "PENDING", "CLAIMED", "INPROGRESS", "BLOCKED"] as const)(
    "cancelling ends a run that is %s",
    (state) => {
      const edit = anEdit({ state, turnOpen: true, lease: LEASE });

      expect(decideCancel(edit, ADA)).toBe(true);

      const change = edit.done();
      expect(change.progress).toMatchObject({
        state: "CANCELLED",
        turnOpen: false,
        statusMessage: { message: "Cancelled by Ada." },
      });
      expect(change.progress.endedAt).toBeInstanceOf(Date);
      // The attempt keeps its lease until its processes are gone.
      expect(change.lease).toBeUndefined();
    },
  );

  test("cancelling removes the question of a blocked run", () => {
    const permission = {
      permissionId: "p",
      title: "?",
      options: [],
      askedAt: new Date("2026-03-01T12:00:00.000Z"),
    };
    const edit = anEdit({ state: "BLOCKED", permission });

    decideCancel(edit, { id: ADA.id });

    expect(edit.done().progress).toMatchObject({
      permission: undefined,
      statusMessage: { message: "Cancelled." },
    });
  });

  test("a second cancel does nothing", () => {
    const edit = anEdit({ state: "CANCELLED" });

    expect(decideCancel(edit, ADA)).toBe(false);
    expect(edit.done().events).toEqual([]);
  });

  test.each(["SUCCEEDED", "FAILED", "ERROR"] as const)("cancelling a run that is %s is refused", (state) => {
    expect(() => decideCancel(anEdit({ state }), ADA)).toThrow(
      expect.objectContaining({
        code: "invalid_request",
        retryable: false,
        options: { remedy: "There is nothing to cancel. Send a follow-up to continue the run." },
      }),
    );
  });
});
