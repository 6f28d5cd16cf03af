import { expect, test } from "vitest";
import { stoppedTasksText } from "../../../../../src/core/work/context/decide-attempt.ts";

test("one stopped task is named with what to do", () => {
  expect(stoppedTasksText(["sleep 8"])).toEqual([
    "A background task was still running and was stopped: `sleep 8`. Ask the agent to wait for it before it ends its turn.",
  ]);
});

test("command lines are shortened, in one line and without backticks, and only five are named", () => {
  const lines = [`echo ${"x".repeat(200)}`, "a\n\n`b`", "3", "4", "5", "6", "7"];

  expect(stoppedTasksText(lines)).toEqual([
    `Background tasks were still running and were stopped: \`echo ${"x".repeat(74)}…\`, \`a 'b'\`, \`3\`, \`4\`, \`5\`, ` +
      "2 more. Ask the agent to wait for them before it ends its turn.",
  ]);
});

test("nothing is said without stopped tasks", () => {
  expect([...stoppedTasksText([]), ...stoppedTasksText(undefined)]).toEqual([]);
});
