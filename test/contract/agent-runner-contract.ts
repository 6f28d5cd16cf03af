import { randomUUID } from "node:crypto";
import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentUpdate } from "../../src/core/model/runs/agent-update.ts";
import { AgentHarness, type MakeRunner } from "../support/agent-harness.ts";
import { waitFor } from "../support/wait-for.ts";
import { processesWith, uniqueSeconds } from "./sandbox-contract.ts";

/** What every agent runner promises, shown with an agent that knows the demo agent's script words. */
export function describeAgentRunner(name: string, makeRunner: MakeRunner): void {
  describe(`the ${name} agent runner`, () => {
    let harness: AgentHarness;
    beforeEach(async () => {
      harness = await AgentHarness.open(makeRunner);
    });
    afterEach(() => harness.close());

    test("an agent runner starts an agent that works in the workspace", async () => {
      const { session, updates } = await harness.start();

      const end = await session.prompt("Look around");

      expect(session).toMatchObject({ resumed: false, agent: { name: "demo" } });
      // It starts a program, which takes longer than to ask it.
      expect(session.phases.initializeMs).toBeGreaterThan(0);
      expect(Object.values(session.phases).every((ms) => Number.isInteger(ms) && ms >= 0)).toBe(true);
      expect(end).toMatchObject({ stopReason: "end_turn", usage: { totalTokens: expect.any(Number) } });
      expect(await readFile(join(harness.workspace.directory, "ERRAND-REPORT.md"), "utf8")).toContain(
        "> Look around",
      );
      expect(kindsOf(updates)).toEqual(
        new Set(["agent.message", "agent.plan", "agent.tool_call", "agent.usage"]),
      );
    });

    test("all updates of a turn are reported in order before the turn ends", async () => {
      const { session, updates } = await harness.start();

      await session.prompt("flood 500");

      const chunks = updates.flatMap((update) =>
        update.kind === "agent.message" ? update.text.split("\n") : [],
      );
      const told = chunks
        .filter((text) => text.startsWith("chunk"))
        .map((text) => Number(text.split(" ")[1]));
      expect(told).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
    });

    test("an agent runner gives the agent the run's variables, in no argument, and none in the place of its own", async () => {
      const value = `${randomUUID()}\nin two lines`;
      const { session, updates } = await harness.start({
        variables: { TOKEN: value, HOME: "/no", PATH: "/no" },
      });

      await session.prompt('shell printf "%s|%s|%s" "$TOKEN" "$HOME" "$PATH"');

      const told = updates.flatMap((update) => ("content" in update ? (update.content ?? []) : []));
      expect(told).toContainEqual({
        type: "text",
        text: expect.stringMatching(`^${value}\\|${harness.workspace.home}\\|/usr/local/sbin:`),
      });
      for (const argument of [value, `TOKEN=${value}`]) {
        expect(await processesWith(argument)).toEqual([]);
      }
    });

    test("a follow-up runs in the same session", async () => {
      const { session, said } = await harness.start();
      await session.prompt("first things first");

      await session.prompt("and now the second");

      expect(said()).toContain("This is turn 2; before it you asked: first things first");
    });

    test("a resumed session does not repeat its history", async () => {
      const before = await harness.start();
      await before.session.prompt("say remember the milk");
      await before.session.close();

      const { session, said } = await harness.start({ previousSession: before.session.sessionId });
      const heard = said();
      await session.prompt("go on");

      expect(session).toMatchObject({ resumed: true, sessionId: before.session.sessionId });
      expect(heard).toBe("");
      expect(said()).toContain("This is turn 2; before it you asked: say remember the milk");
      expect(said()).not.toContain("remember the milk\n");
    });

    test("a new session starts if the old one no longer exists", async () => {
      const { session, said } = await harness.start({
        previousSession: "demo-00000000-0000-0000-0000-000000000000",
      });

      await session.prompt("say hello");

      expect(session.resumed).toBe(false);
      expect(said()).toContain("hello");
    });

    test("a session accepts another turn after a cancelled one", async () => {
      const { session, said } = await harness.start();
      const turn = session.prompt("sleep 1000");
      await waitFor(() => said().includes("I sleep"), { what: "the agent to sleep" });

      await session.cancel();

      expect(await turn).toMatchObject({ stopReason: "cancelled" });
      await session.cancel();
      expect(await session.prompt("say still here")).toMatchObject({ stopReason: "end_turn" });
    });

    test("an agent runner cancels a command that the agent runs, and what it started", async () => {
      const seconds = uniqueSeconds();
      const { session } = await harness.start();
      const turn = session.prompt(`shell sleep ${seconds} & sleep ${seconds}`);
      await waitFor(async () => (await processesWith(seconds)).length === 2, { what: "both sleepers" });

      await session.cancel();

      expect(await turn).toMatchObject({ stopReason: "cancelled" });
      await waitFor(async () => (await processesWith(seconds)).length === 0, { what: "their end" });
    });

    test("a turn waits for a command in the background, and stops it after a limit", async () => {
      const seconds = uniqueSeconds();
      const { session } = await harness.start();

      const short = await session.prompt("shell (sleep 0.6; echo late > made.txt) > /dev/null 2>&1 &");
      const long = await session.prompt(
        `shell sleep ${seconds} > /dev/null 2>&1 & setsid sh -c 'sleep ${seconds}; :' > /dev/null 2>&1 &`,
      );
      const none = await session.prompt("say done");

      expect(short).not.toHaveProperty("stoppedTasks");
      expect(await readFile(join(harness.workspace.directory, "made.txt"), "utf8")).toBe("late\n");
      expect(long).toMatchObject({ stopReason: "end_turn", stoppedTasks: [`sleep ${seconds}`] });
      expect(await processesWith(seconds)).toEqual([]);
      expect(none).not.toHaveProperty("stoppedTasks");
    });

    test("a turn that waits for a command in the background can be cancelled", async () => {
      const seconds = uniqueSeconds();
      const { session, said } = await harness.start();
      const turn = session.prompt(`shell sleep ${seconds} > /dev/null 2>&1 &`);
      await waitFor(() => said().includes("exit code 0"), { what: "the end of the shell" });

      await session.cancel();

      expect(await turn).toMatchObject({ stopReason: expect.stringMatching(/end_turn|cancelled/) });
      await session.close();
      expect(await processesWith(seconds)).toEqual([]);
    });

    test("the policy allow grants a permission request and reports it", async () => {
      const { session, updates, said } = await harness.start({ permissionPolicy: "allow" });

      await session.prompt("ask then say went on");

      expect(said()).toContain("went on");
      expect(updates).toContainEqual({
        kind: "agent.permission_granted",
        title: "Go on with the next step",
        optionId: "allow",
      });
    });

    test.each([
      ["allow", "went on"],
      ["reject", "I stop here"],
    ])("the policy ask leaves the answer to the observer: %s", async (answer, expected) => {
      const { session, said } = await harness.start({ permissionPolicy: "ask" }, async () => answer);

      await session.prompt("ask then say went on");

      expect(said()).toContain(`You chose: ${answer}.`);
      expect(said()).toContain(expected);
    });

    test("a turn that is cancelled while it waits for a permission ends", async () => {
      let asked = false;
      const { session } = await harness.start({ permissionPolicy: "ask" }, () => {
        asked = true;
        return new Promise(() => {});
      });
      const turn = session.prompt("ask then say went on");
      await waitFor(() => asked, { what: "the question" });

      await session.cancel();

      expect(await turn).toMatchObject({ stopReason: "cancelled" });
    });

    test("a refusal of the agent is reported", async () => {
      const { session } = await harness.start();

      expect(await session.prompt("refuse")).toMatchObject({ stopReason: "refusal" });
    });

    test.each([
      ["fail", "internal_error", true, { reason: "agent_error" }],
      ["fail 401", "external_authentication_required", false, {}],
      ["fail 429", "resource_unavailable", true, {}],
    ])("%s is an error with a code, and the agent lives on", async (prompt, code, retryable, options) => {
      const { session } = await harness.start();

      await expect(session.prompt(prompt)).rejects.toMatchObject({
        name: "AppError",
        code,
        retryable,
        options,
        message: "The demo agent was told to fail.",
      });
      expect(await session.prompt("say still here")).toMatchObject({ stopReason: "end_turn" });
    });

    test("an agent that crashes fails the turn with its exit code and the end of its stderr", async () => {
      const { session } = await harness.start();

      await expect(session.prompt("crash")).rejects.toMatchObject({
        code: "internal_error",
        options: { reason: "agent_process_failed" },
        message: expect.stringMatching(/exit code 1\..*told to crash/),
      });
      await expect(session.prompt("say anything")).rejects.toMatchObject({
        options: { reason: "agent_process_failed" },
      });
    });

    test("an agent that is killed fails the turn", async () => {
      const { session } = await harness.start();

      await expect(session.prompt("die")).rejects.toMatchObject({
        code: "internal_error",
        options: { reason: "agent_process_failed" },
        message: expect.stringMatching(/SIGKILL|137/),
      });
    });

    test("close ends an agent that hangs, and all it started, and can be repeated", async () => {
      const seconds = uniqueSeconds();
      const { session } = await harness.start();
      const turn = session.prompt(`shell setsid nohup sleep ${seconds} >/dev/null 2>&1 &\nhang`);
      await waitFor(async () => (await processesWith(seconds)).length > 0, { what: "the sleeper" });
      await session.cancel();

      const closed = Promise.all([session.close(), session.close()]);

      await expect(turn).rejects.toMatchObject({ options: { reason: "agent_process_failed" } });
      await closed;
      await session.close();
      expect(await processesWith(seconds)).toEqual([]);
    });

    test("an agent runner refuses an agent that is not in the catalogue", async () => {
      await expect(harness.start({ agent: "nobody" })).rejects.toMatchObject({ code: "resource_not_found" });
    });

    test("the agent writes nothing outside its workspace when asked to", async () => {
      const { session, said } = await harness.start();

      await session.prompt(
        "write ../escaped.txt x\nshell ln -s .. up\nwrite up/escaped.txt x\nread ../home/secret.txt",
      );

      expect(said().match(/is outside the workspace/g)).toHaveLength(3);
      await expect(access(join(harness.workspace.directory, "../escaped.txt"))).rejects.toThrow("ENOENT");
    });
  });
}

function kindsOf(updates: readonly AgentUpdate[]): ReadonlySet<string> {
  return new Set(updates.map(({ kind }) => kind));
}
