import type { RunItem } from "@errand/client";
import { expect, test } from "vitest";
import { decidersText, needsReader, needsWord } from "../../src/parts/deciders.ts";

function aWait(...names: string[]): Pick<RunItem, "state" | "waiting_for"> {
  const deciders = names.map((name) => ({ uid: name, type: "user" as const, display_name: name }));
  const message = "The run must be approved.";
  return {
    state: "BLOCKED",
    waiting_for: { reason: "approval", message, since: "2026-03-01T12:00:00Z", may_decide: false, deciders },
  };
}

test.each([
  [["Dana Fischer"], "Needs Dana", "Dana Fischer"],
  [["Dana Fischer", "Lee Wong"], "Needs Dana", "Dana Fischer or Lee Wong"],
  [["Dana", "Lee", "Kim", "Max"], "Needs Dana", "Dana, Lee or 2 other people"],
  [["dana@acme.test"], "Needs dana", "dana@acme.test"],
  [[], "Needs a person", ""],
] as const)("a run that %j may decide says so in few words and in full", (names, word, full) => {
  const run = aWait(...names);

  expect([needsWord(run), decidersText(run), needsReader(run)]).toEqual([word, full, false]);
});

test("a run that the reader may decide needs the reader, unless it has ended", () => {
  const run = { ...aWait(), waiting_for: { ...aWait().waiting_for, may_decide: true } } as RunItem;

  expect([needsWord(run), needsReader(run)]).toEqual(["Needs you", true]);
  expect(needsReader({ ...run, state: "SUCCEEDED" })).toBe(false);
});

test("a guest, who is not told whom a run waits for, reads that it needs a person", () => {
  expect([needsWord({}), needsReader({ state: "BLOCKED" })]).toEqual(["Needs a person", false]);
});
