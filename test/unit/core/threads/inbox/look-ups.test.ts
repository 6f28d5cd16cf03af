import { beforeEach, describe, expect, test, vi } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { InboundMessage } from "../../../../../src/core/ports/thread-adapter.ts";
import { ADDRESS, InboxHarness } from "./inbox-harness.ts";

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  await harness.start();
});

/** Counts the look-ups of the intake from now on. */
function countLookUps() {
  const findThread = vi.spyOn(harness.storage.threads, "find");
  const ensureInstallation = vi.spyOn(harness.storage.installations, "ensure");
  return () => ({
    threads: findThread.mock.calls.length,
    installations: ensureInstallation.mock.calls.length,
  });
}

describe("the inbox looks up thread and installation once", () => {
  test("one look-up is enough for a message that starts a run", async () => {
    const lookUps = countLookUps();

    expect(await harness.receive({})).toBe("run_created");

    expect(lookUps()).toEqual({ threads: 1, installations: 1 });
  });

  test("one look-up is enough for a reply that is a follow-up", async () => {
    await harness.receive({});
    const lookUps = countLookUps();

    expect(await harness.receive({ addressed: "reply", text: "and this" })).toBe("follow_up");

    expect(lookUps()).toEqual({ threads: 1, installations: 1 });
  });

  test("one look-up is enough for a refused message", async () => {
    harness.adapter.refused.set("memory:Ada", "No.");
    const lookUps = countLookUps();

    expect(await harness.receive({})).toBe("refused");

    expect(lookUps()).toEqual({ threads: 1, installations: 1 });
  });

  test("one look-up is enough for a message that fails and whose author is told", async () => {
    vi.spyOn(harness.adapter, "authorize").mockRejectedValue(
      new AppError("not_authorized", "The token was revoked."),
    );
    const lookUps = countLookUps();

    await harness.receive({});

    expect(harness.repliesShown()).toEqual(["I could not handle this: The token was revoked."]);
    expect(lookUps()).toEqual({ threads: 1, installations: 1 });
  });

  test("one look-up is enough for a report, also of its run", async () => {
    await harness.receive({});
    const { id: runId } = await harness.currentRun();
    harness.adapter.inspection = () => aReport;
    vi.spyOn(harness.runs.followUps, "send").mockRejectedValue(new AppError("not_authorized", "No."));
    const lookUps = countLookUps();
    const findRun = vi.spyOn(harness.storage.runs, "find");

    await harness.receive({}, { report: { ...ADDRESS, findings: {} } });

    expect(lookUps()).toEqual({ threads: 1, installations: 1 });
    expect(findRun.mock.calls).toEqual([[{ id: runId }]]);
  });
});

const aReport: InboundMessage = {
  ...ADDRESS,
  dedupeKey: "commit",
  addressed: "mention",
  requestKind: "failing_checks",
  author: { subject: "memory:Ada" },
  text: "The checks fail.",
  messageRef: "",
  provenance: {},
};
