import { readdirSync, readFileSync } from "node:fs";
import { copyFile, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCatalogue } from "../../src/agents/catalogue.ts";
import { withTimeout } from "../../src/core/basics/clock.ts";
import type { AgentUpdate } from "../../src/core/model/runs/agent-update.ts";
import { packDirectory } from "../../src/workspace/pack-directory.ts";
import {
  fixtureProgram,
  openRealAgent,
  REAL_KEY,
  type RealAgentHarness,
  reasonToSkipAgent,
} from "../support/real-agents.ts";
import { ordered, USAGE } from "../support/scripted-model.ts";
import { waitFor } from "../support/wait-for.ts";
import { processesWith, uniqueSeconds } from "./sandbox-contract.ts";

/** Two hundred megabytes of program on a cold disk, beside other tests. */
const TIMEOUT_MS = 240_000;
/** After this time the core kills an agent that has not ended its turn. */
const CANCEL_MS = 5_000;
const PATIENCE = { timeoutMs: 120_000 };

/** What is promised of an agent that people use, shown with the program itself and a model that does as it is told. */
export async function describeRealAgent(name: string): Promise<void> {
  const skipped = await reasonToSkipAgent(name);
  const title = `${name}${skipped === undefined ? "" : ` (skipped: ${skipped})`}`;

  describe.skipIf(skipped !== undefined)(title, { timeout: TIMEOUT_MS }, () => {
    let real: RealAgentHarness;
    beforeEach(async () => {
      real = await openRealAgent(name);
    });
    afterEach(() => real[Symbol.asyncDispose]());

    test("a real agent works in the workspace, on a follow-up too, and knows the real key at no time", async () => {
      const { session, said } = await real.start({ basePrompt: "Answer as a pirate." });

      const end = await session.prompt(ordered({ shell: "echo written > made.txt; env" }));
      await session.prompt(ordered({ say: "second answer" }));

      expect(await readFile(join(real.harness.workspace.workingDirectory, "made.txt"), "utf8")).toBe(
        "written\n",
      );
      expect(end.stopReason).toBe("end_turn");
      expect(end.usage?.totalTokens).toBeGreaterThanOrEqual(2 * USAGE.total_tokens);
      expect(said()).toContain("second answer");
      const asked = real.model.requests().filter((request) => request.includes("second answer"));
      for (const words of ["made.txt", "Answer as a pirate."]) {
        expect(asked.some((request) => request.includes(words))).toBe(true);
      }
      expect(said()).toContain("HOME=");
      expect(said()).not.toContain(REAL_KEY);
      expect(await processesWith(REAL_KEY)).toEqual([]);
      expect(environments().filter((each) => each.includes(REAL_KEY))).toEqual([]);
    });

    promiseNothingAfterTheTurn(name, () => real);
    promiseASmallWorkspace(() => real);
    promiseStoppedTasks(name, () => real);

    test("the agent uses a local MCP server that has its own secret", async () => {
      const env = { PINGER_SECRET: "of-the-run" };
      const program = join(real.harness.workspace.directory, "pinger.mjs");
      await copyFile(fixtureProgram("pinger.mjs"), program);
      const pinger = { command: process.execPath, args: [program], env };
      const { session, updates, said } = await real.start({ mcpServers: { pinger } });

      await session.prompt(ordered({ server: "pinger", tool: "ping", arguments: { word: "marco" } }));

      expect(said()).toContain("pong marco of-the-run");
      expect(statusesOf(updates)).toContain("completed");
    });

    test("under the policy ask, the agent asks before a command and obeys the answer", async () => {
      const answers: ("reject_once" | "allow_once")[] = ["reject_once", "allow_once"];
      const asked: string[] = [];
      const { session } = await real.start({ permissionPolicy: "ask" }, async ({ command = "", options }) => {
        asked.push(command);
        const wanted = answers.shift();
        return options.find(({ kind }) => kind === wanted)?.optionId;
      });
      const files = () => readdir(real.harness.workspace.workingDirectory);

      await session.prompt(ordered({ shell: "touch first.txt", asks: true }));
      expect(await files()).toEqual([]);
      await session.prompt(ordered({ shell: "touch second.txt", asks: true }));

      expect(await files()).toEqual(["second.txt"]);
      expect(asked.join()).toMatch(/first\.txt.*second\.txt/);
    });

    test("a real agent stops in the middle of an answer, and takes another turn", async () => {
      const { session, said } = await real.start();
      const turn = session.prompt(ordered({ stream: 5_000 }));
      await waitFor(() => said().includes("word1"), { what: "the beginning of the answer", ...PATIENCE });

      await session.cancel();

      expect(await turn).toMatchObject({ stopReason: "cancelled" });
      expect(await session.prompt(ordered({ say: "still here" }))).toMatchObject({ stopReason: "end_turn" });
      expect(said()).toContain("still here");
    });

    test("a real agent stops in the middle of a command, and once it is closed no process is left", async () => {
      const seconds = uniqueSeconds();
      const { session } = await real.start();
      const turn = session.prompt(ordered({ shell: `/bin/sleep ${seconds}` }));
      await waitFor(async () => (await processesWith(seconds)).length > 0, {
        what: "the command",
        ...PATIENCE,
      });

      await session.cancel();

      expect(await turn).toMatchObject({ stopReason: "cancelled" });
      await session.close();
      expect(await processesWith(seconds)).toEqual([]);
      expect(processesOf(real)).toEqual([]);
    });

    test("the agent continues its session after it was killed in the middle of a turn", async () => {
      const seconds = uniqueSeconds();
      const before = await real.start();
      await before.session.prompt(ordered({ say: "the word is swordfish" }));
      const turn = before.session.prompt(ordered({ shell: `/bin/sleep ${seconds}` }));
      await waitFor(async () => (await processesWith(seconds)).length > 0, {
        what: "the command",
        ...PATIENCE,
      });

      const failed = expect(turn).rejects.toMatchObject({ options: { reason: "agent_process_failed" } });
      for (const pid of processesOf(real)) {
        kill(pid);
      }
      await failed;
      await before.session.close();

      const { session, said } = await real.start({ previousSession: before.session.sessionId });
      const heard = said();
      await session.prompt(ordered({ say: "gone on" }));
      expect(session).toMatchObject({ resumed: true, sessionId: before.session.sessionId });
      expect(heard).toBe("");
      expect(said()).toContain("gone on");
      const asked = real.model.requests().filter((request) => request.includes("gone on"));
      expect(asked.some((request) => request.includes("swordfish"))).toBe(true);
      expect(await processesWith(seconds)).toEqual([]);
    });

    test("the agent starts a new session and reports it if the old one no longer exists", async () => {
      const first = await real.start();
      await first.session.close();
      const { session } = await real.start({ previousSession: "01a1fa78-a94c-7e01-856b-378c7de9fd50" });

      expect(session.resumed).toBe(false);
      expect(await session.prompt(ordered({ say: "hello" }))).toMatchObject({ stopReason: "end_turn" });
    });

    test.each([
      [401, "no such key", "external_authentication_required", false],
      [403, "not yours", "external_authentication_required", false],
      [429, "slow down", "resource_unavailable", true],
      [429, "You exceeded your current quota, check your billing details", "insufficient_credits", false],
      [500, "it broke", "resource_unavailable", true],
      [404, "there is no such model", "invalid_request", false],
    ])("a model that answers %i %s fails the turn: %s", async (fail, message, code, retryable) => {
      const { session } = await real.start();

      await expect(session.prompt(ordered({ fail, message }))).rejects.toMatchObject({
        ...{ name: "AppError", code, retryable },
        message: expect.stringContaining(message),
      });
    });
  });
}

/** A part of the same promises, for agents whose whole suite would take too long. */
export async function describeRealAgentBriefly(name: string): Promise<void> {
  const skipped = await reasonToSkipAgent(name);
  const title = `${name}${skipped === undefined ? "" : ` (skipped: ${skipped})`}`;

  describe.skipIf(skipped !== undefined)(title, { timeout: TIMEOUT_MS }, () => {
    let real: RealAgentHarness;
    beforeEach(async () => {
      real = await openRealAgent(name);
    });
    afterEach(() => real[Symbol.asyncDispose]());

    test(`${name} works in the workspace and never knows the real key`, async () => {
      const { session, said } = await real.start();

      const end = await session.prompt(ordered({ shell: "echo written > made.txt; env" }));

      const made = join(real.harness.workspace.workingDirectory, "made.txt");
      expect(await readFile(made, "utf8")).toBe("written\n");
      expect(end.stopReason).toBe("end_turn");
      expect(said()).toContain("HOME=");
      expect(said()).not.toContain(REAL_KEY);
      expect(await processesWith(REAL_KEY)).toEqual([]);
    });

    promiseNothingAfterTheTurn(name, () => real);
    promiseASmallWorkspace(() => real);
    promiseStoppedTasks(name, () => real);

    test(`${name} is stopped in the middle of a command within 5 seconds and leaves no process`, async () => {
      const seconds = uniqueSeconds();
      const { session } = await real.start();
      const turn = session.prompt(ordered({ shell: `true && /bin/sleep ${seconds}` }));
      await waitFor(async () => (await processesWith(seconds)).length > 0, {
        what: "the command",
        ...PATIENCE,
      });

      await session.cancel();

      expect(await withTimeout(turn, CANCEL_MS)).toMatchObject({ stopReason: "cancelled" });
      await session.close();
      expect(await processesWith(seconds)).toEqual([]);
      expect(processesOf(real)).toEqual([]);
    });

    test(`${name} is stopped at the beginning of its turn within 5 seconds`, async () => {
      const { session } = await real.start();
      const turn = session.prompt(ordered({ stream: 2_000 }));

      await session.cancel();

      expect(await withTimeout(turn, CANCEL_MS)).toMatchObject({ stopReason: "cancelled" });
    });

    test(`a model that answers ${name} with 401 fails the turn`, async () => {
      const { session } = await real.start();

      await expect(session.prompt(ordered({ fail: 401, message: "no such key" }))).rejects.toMatchObject({
        ...{ name: "AppError", code: "external_authentication_required", retryable: false },
        message: expect.stringContaining("no such key"),
      });
    });
  });
}

/** Processes end with the turn, so the agent must know that, and its model must not be offered tools that outlive it. */
function promiseNothingAfterTheTurn(name: string, real: () => RealAgentHarness): void {
  test("the model is told that nothing outlives the turn, and gets no tool for timers or worktrees", async () => {
    const { session } = await real().start();

    await session.prompt(ordered({ say: "hello" }));

    const requests = real().model.requests().join();
    expect(requests).toContain("When you end your turn, all your processes are ended");
    expect(requests).not.toMatch(/"name":"(?:Cron\w+|\w+Worktree|Monitor|RemoteTrigger|ScheduleWakeup)"/);
    // Qwen has no switch for subagents in the background.
    expect(requests.includes('"run_in_background":')).toBe(name === "qwen");
  });
}

/** The helpers of the agent are processes as well, and it needs them in its next turn. */
function promiseStoppedTasks(name: string, real: () => RealAgentHarness): void {
  test("a command that the agent leaves running is stopped at the end of the turn, and its MCP servers are not", async () => {
    const seconds = uniqueSeconds();
    const hasServers = createCatalogue().get(name)?.acceptsMcpServers;
    const program = join(real().harness.workspace.directory, "pinger.mjs");
    await copyFile(fixtureProgram("pinger.mjs"), program);
    const pinger = { command: process.execPath, args: [program], env: {} };
    const { session, said } = await real().start({ mcpServers: { pinger } });

    const first = await session.prompt(
      // Some agents kill the process group of a command at its end, so the background has a group of its own by then.
      ordered({
        shell: `setsid sh -c '> ready; exec /bin/sleep ${seconds}' > /dev/null 2>&1 & until [ -e ready ]; do sleep 0.05; done`,
      }),
    );
    expect(first.stoppedTasks).toEqual([`/bin/sleep ${seconds}`]);
    expect(await processesWith(seconds)).toEqual([]);

    const next = await session.prompt(
      hasServers
        ? ordered({ server: "pinger", tool: "ping", arguments: { word: "polo" } })
        : ordered({ say: "pong polo" }),
    );
    expect(said()).toContain("pong polo");
    expect(next).not.toHaveProperty("stoppedTasks");
  });
}

/** Otherwise each run would keep the caches of its agent, and its checkpoints would be too large or slow. */
function promiseASmallWorkspace(real: () => RealAgentHarness): void {
  test("a short run leaves less than 1 MiB to store", async () => {
    const { session } = await real().start();

    await session.prompt(ordered({ say: "hello" }));
    await session.close();

    const { directory, home } = real().harness.workspace;
    const sizes = await Promise.all([directory, home].map(packedSize));
    expect(Math.max(...sizes)).toBeLessThan(2 ** 20);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
  });
}

async function packedSize(directory: string): Promise<number> {
  const limits = { maxBytes: 2 ** 30, maxUnpackedBytes: 2 ** 32 };
  return (await packDirectory(directory, await readdir(directory), limits)).byteLength;
}

function statusesOf(updates: readonly AgentUpdate[]) {
  return updates.flatMap((update) => (update.kind === "agent.tool_call" ? [update.status] : []));
}

/** By the home that all of an agent's processes have. */
function processesOf({ harness }: RealAgentHarness): readonly number[] {
  const home = `HOME=${harness.workspace.home}\0`;
  return pids().filter((pid) => environmentOf(pid).includes(home));
}

function pids(): readonly number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0);
}

function environments(): readonly string[] {
  return pids()
    .filter((pid) => pid !== process.pid && pid !== process.ppid)
    .map(environmentOf);
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended with the one before it.
  }
}
