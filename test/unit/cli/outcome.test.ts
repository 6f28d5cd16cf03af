import type { RunItem } from "@errand/client";
import { expect, test } from "vitest";
import { outcomeText, stateName } from "../../../cli/src/event-text.ts";
import { EXIT, exitCodeOfRun } from "../../../cli/src/failure.ts";
import { Output } from "../../../cli/src/output.ts";

type Refused = NonNullable<NonNullable<RunItem["outcome"]>["refused"]>;

function refused(...kinds: readonly Refused[number]["what"][]): Pick<RunItem, "outcome" | "state"> {
  const parts = kinds.map((what) => ({ what, by: "git.example.com", message: "No." }));
  return { state: "SUCCEEDED", outcome: { summary: "Done", refused: parts } };
}

test.each([
  [refused("push"), EXIT.refused, "done, but not pushed"],
  [refused("file", "push"), EXIT.refused, "done, but not pushed"],
  [refused("pull_request"), EXIT.refused, "done, but without a pull request"],
  [refused("file"), EXIT.refused, "done, but files are missing"],
  [refused(), EXIT.ok, "succeeded"],
  [{ state: "SUCCEEDED" as const }, EXIT.ok, "succeeded"],
  [{ ...refused("push"), state: "CANCELLED" as const }, EXIT.cancelled, "cancelled"],
])("a run with the outcome %j has an exit code and words of its own", (run, code, words) => {
  expect([exitCodeOfRun(run), stateName(run)]).toEqual([code, words]);
});

test("a warning that repeats what is missing is not printed twice", () => {
  const run: RunItem = {
    ...{ run_id: "r", task_id: "t", root_run_id: "r", title: "t", prompt: "p", source: "API" },
    ...{ state: "SUCCEEDED", created_at: "", updated_at: "", is_sandbox_running: false },
    creator: { uid: "u", type: "user" },
    warnings: ["Larger than 10 MiB: `a`. Ask the agent.", "Another warning."],
    outcome: {
      summary: "Done, but files are missing",
      refused: [
        { what: "file", by: "Errand", message: "Larger than 10 MiB: `a`.", remedy: "Ask the agent." },
      ],
    },
  };

  expect(outcomeText(new Output({}), run).split("\n")).toEqual([
    "Run r done, but files are missing.",
    "! Errand: Larger than 10 MiB: `a`.",
    "→ Ask the agent.",
    "! Another warning.",
  ]);
});
