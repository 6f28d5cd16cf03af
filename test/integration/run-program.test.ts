import { expect, test } from "vitest";
import { runProgram } from "../../src/child-process/run-program.ts";
import { processesWith, uniqueSeconds } from "../contract/sandbox-contract.ts";

test("runProgram returns what a program wrote", async () => {
  const { stderr, stdout } = await runProgram("sh", ["-c", "cat; echo out; echo err >&2"], {});

  expect({ stderr, stdout }).toEqual({ stderr: "err\n", stdout: "out\n" });
});

test("runProgram fails with the exit code and the output of a program that failed", async () => {
  const run = runProgram("sh", ["-c", "echo out; echo reason >&2; exit 3"], {});

  await expect(run).rejects.toMatchObject({
    message: "sh ended with exit code 3: reason",
    end: { exitCode: 3, isTimeout: false, stdout: "out\n", stderr: "reason\n" },
  });
});

test("runProgram fails with the system's error when there is no program", async () => {
  await expect(runProgram("/usr/bin/no-such-program", [], {})).rejects.toMatchObject({ code: "ENOENT" });
});

test("runProgram kills a program at its time limit, even if its child process keeps the pipes open", async () => {
  const seconds = uniqueSeconds();
  const run = runProgram("sh", ["-c", `sleep ${seconds} & wait`], { timeoutMs: 500 });

  await expect(run).rejects.toMatchObject({ end: { exitCode: null, isTimeout: true } });
  for (const pid of await processesWith(seconds)) {
    process.kill(pid, "SIGKILL");
  }
});

test("runProgram kills a program that writes too much", async () => {
  const run = runProgram("sh", ["-c", "yes"], { maxOutput: 1_000 });

  await expect(run).rejects.toMatchObject({ end: { exitCode: null, isTimeout: false } });
});

test("runProgram kills a program when its signal is aborted", async () => {
  const run = runProgram("sleep", ["1000"], { signal: AbortSignal.timeout(1) });

  await expect(run).rejects.toMatchObject({ name: "AbortError" });
});
