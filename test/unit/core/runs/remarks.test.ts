import { expect, test } from "vitest";
import { decideTurnEnd } from "../../../../src/core/work/context/decide-attempt.ts";
import { aThread } from "../../../support/run-builders.ts";
import { anEdit } from "./edit.ts";

const LEFT_OUT = "Larger than 10 MiB: `model.bin`.";

function answersOf(answer: string, warnings: readonly string[]): readonly unknown[] {
  const edit = anEdit({ state: "INPROGRESS", turn: 1, turnOpen: true, warnings }, { threads: [aThread()] });
  decideTurnEnd(edit, { stopReason: "end_turn" }, answer, { remarks: [LEFT_OUT] });
  const done = edit.done();
  expect(edit.run.warnings).toEqual([LEFT_OUT]);
  return done.notices.flatMap(({ notice }) => (notice.kind === "message" ? [notice.text] : []));
}

test("a remark is shown below the answer, and also without one", () => {
  expect(answersOf("Done.", [])).toEqual([`Done.\n\n${LEFT_OUT}`]);
  expect(answersOf("", [])).toEqual([LEFT_OUT]);
});

test("a remark that the run already has as a warning is not shown again", () => {
  expect(answersOf("Done.", [LEFT_OUT])).toEqual(["Done."]);
});

test("what was stopped at the end of a turn is a remark, also if the turn exceeded a limit", () => {
  const stopped = ["A background task was still running and was stopped: `sleep 8`."];
  const edit = anEdit({ state: "INPROGRESS", turn: 1, turnOpen: true }, { threads: [aThread()] });

  decideTurnEnd(edit, { stopReason: "end_turn", stoppedTasks: ["sleep 8"] }, "Done.", {
    failure: { message: "Too much.", errorCode: "budget_exceeded" },
  });

  expect(edit.run).toMatchObject({
    state: "FAILED",
    warnings: [expect.stringContaining(stopped[0]?.slice(0, -1) ?? "")],
  });
});
