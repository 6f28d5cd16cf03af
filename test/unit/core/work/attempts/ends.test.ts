import { beforeEach, describe, expect, test } from "vitest";
import type { Clock } from "../../../../../src/core/basics/clock.ts";
import {
  AppError,
  type ErrorCode,
  type ErrorOptions,
  type FailureReason,
} from "../../../../../src/core/basics/errors.ts";
import type { Budget, Run } from "../../../../../src/core/model/runs/run.ts";
import { CoreHarness, LEASE_MS, LIMITS } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { END_TURN, type Script, untilCancelled } from "../../../../support/scripted-agents.ts";

let harness: CoreHarness;
beforeEach(() => {
  harness = new CoreHarness();
});

async function perform(budget: Budget = {}): Promise<Run> {
  await harness.start();
  const { id } = await harness.create({
    config: { budget, mcp_servers: { wiki: { command: "w", env: {} } } },
  });
  await quiet();
  await harness.clock.advance(LIMITS.inactivityMs + LEASE_MS);
  return harness.run(id);
}

/** Scripts an agent that fails with this error, as its driver reports it. */
function failing(code: ErrorCode, message: string, options?: ErrorOptions): () => void {
  return () => {
    harness.agents.scripts.push(async () => {
      throw new AppError(code, message, options);
    });
  };
}

function ending(script: Script): () => void {
  return () => {
    harness.agents.scripts.push(script);
  };
}

/** The table "What ends a run" of docs/api.md, row by row. */
describe("the ways in which a run ends", () => {
  test.each<[string, () => void, string, ErrorCode, RegExp, FailureReason?]>([
    [
      "clone or setup command fails",
      () => harness.workspaces.prepareFaults.push(new AppError("environment_setup_failed", "npm ci failed")),
      "FAILED",
      "environment_setup_failed",
      /npm ci/,
    ],
    [
      "an MCP server cannot be started",
      () =>
        harness.agents.beforeStart.push(() =>
          Promise.reject(new AppError("environment_setup_failed", "MCP server wiki: not found")),
        ),
      "FAILED",
      "environment_setup_failed",
      /wiki/,
    ],
    [
      "the model refuses the key",
      failing("external_authentication_required", "401 bad key"),
      "FAILED",
      "external_authentication_required",
      /401/,
    ],
    ["no credit", failing("insufficient_credits", "no credit"), "FAILED", "insufficient_credits", /credit/],
    ["the model is away", failing("resource_unavailable", "500"), "ERROR", "resource_unavailable", /500/],
    ["a refusal", ending(async () => ({ stopReason: "refusal" })), "FAILED", "invalid_request", /refused/],
    [
      "max_tokens",
      ending(async () => ({ stopReason: "max_tokens" })),
      "FAILED",
      "invalid_request",
      /token limit/,
    ],
    [
      "max_turn_requests",
      ending(async () => ({ stopReason: "max_turn_requests" })),
      "FAILED",
      "invalid_request",
      /limit of requests/,
    ],
    [
      "our budget",
      ending((turn) => {
        harness.gateways.last.call({ totalTokens: 11 });
        return untilCancelled(turn);
      }),
      "FAILED",
      "budget_exceeded",
      /11 of 10 tokens/,
    ],
    [
      "an agent that reports nothing",
      ending(() => new Promise(() => undefined)),
      "ERROR",
      "resource_unavailable",
      /reported nothing/,
      "infrastructure_timeout",
    ],
    [
      "the agent died",
      failing("internal_error", "exit 137", { reason: "agent_process_failed" }),
      "ERROR",
      "internal_error",
      /137/,
      "agent_process_failed",
    ],
    [
      "the agent answers with an error",
      failing("internal_error", "no such tool", { reason: "agent_error" }),
      "ERROR",
      "internal_error",
      /no such tool/,
      "agent_error",
    ],
    [
      "the agent ends its turn as cancelled",
      ending(async () => ({ stopReason: "cancelled" })),
      "ERROR",
      "internal_error",
      /cancelled/,
      "agent_error",
    ],
  ])("a run ends: %s", async (_cause, arrange, state, errorCode, message, reason) => {
    arrange();

    const run = await perform({ max_tokens: 10 });

    expect(run).toMatchObject({
      state,
      statusMessage: { errorCode, message: expect.stringMatching(message) },
      turnOpen: false,
    });
    expect(run.statusMessage?.reason).toBe(reason);
    expect(run).not.toHaveProperty("lease");
    expect([harness.agents.open, harness.clock.pending]).toEqual([0, 0]);
    expect(harness.gateways.opened.every(({ isOpen }) => !isOpen)).toBe(true);
  });
});

test("an agent that ends well without output ends its run without an answer", async () => {
  harness.agents.scripts.push(async () => END_TURN);

  expect(await perform()).toMatchObject({ state: "SUCCEEDED", answer: "" });
});

test("a run that crashes its worker three times is given up, and other runs continue", async () => {
  const { id } = await harness.create();
  for (let times = 0; times < 3; times += 1) {
    const { clock, pubsub } = new CoreHarness();
    harness.agents.scripts.push(() => new Promise(() => undefined));
    void harness.worker({ clock, pubsub }).work(id, new AbortController().signal);
    await quiet();
    await harness.clock.advance(2 * LEASE_MS);
    await harness.lostRuns().recover(id);
  }
  expect(await harness.run(id)).toMatchObject({
    state: "ERROR",
    statusMessage: { errorCode: "internal_error", message: expect.stringContaining("3 times") },
  });
  expect(await harness.run(id)).not.toHaveProperty("lease");

  await harness.start();
  const other = await harness.create();
  await quiet();

  expect((await harness.run(other.id)).state).toBe("SUCCEEDED");
  expect(await harness.run(id)).toMatchObject({ state: "ERROR", attempt: 3 });
});

test("an agent that dies ends its run with its own reason each time and is not retried", async () => {
  const dies: Script = async () => {
    throw new AppError("internal_error", "The agent exited with code 137.", {
      reason: "agent_process_failed",
    });
  };
  harness.agents.scripts.push(dies, dies, dies);
  const { id } = await perform();

  for (let times = 0; times < 2; times += 1) {
    await harness.followUp(id, "again");
  }

  expect(await harness.run(id)).toMatchObject({
    state: "ERROR",
    attempt: 3,
    statusMessage: { reason: "agent_process_failed", message: "The agent exited with code 137." },
  });
});

describe("a wall clock that jumps", () => {
  /** Returns a clock whose time of day jumps while its timers continue unchanged. */
  function jumping(offset: { ms: number }): Clock {
    return {
      now: () => new Date(harness.clock.now().getTime() + offset.ms),
      elapsedMs: () => harness.clock.elapsedMs(),
      every: (ms, tick) => harness.clock.every(ms, tick),
      after: (ms, callback) => harness.clock.after(ms, callback),
    };
  }

  test.each([10 * 60_000, -10 * 60_000])(
    "a wall clock that jumps by %i ms expires no lease and ends no turn",
    async (ms) => {
      const offset = { ms: 0 };
      let finish: () => void = () => undefined;
      harness.agents.scripts.push(
        () =>
          new Promise((resolve) => {
            finish = () => resolve(END_TURN);
          }),
      );
      await harness.start(harness.worker({ clock: jumping(offset) }));
      const { id } = await harness.create();
      await quiet();
      await harness.clock.advance(LEASE_MS);

      offset.ms = ms;
      await harness.clock.advance(3 * LEASE_MS);
      expect(await harness.storage.leases.listExpiring(0, 10)).toEqual([]);
      expect(await harness.run(id)).toMatchObject({ state: "INPROGRESS", attempt: 1 });
      finish();
      await quiet();

      expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", attempt: 1 });
    },
  );

  test("a wall clock that jumps while the database is unavailable ends nothing", async () => {
    const offset = { ms: 0 };
    let finish: () => void = () => undefined;
    harness.agents.scripts.push(
      () =>
        new Promise((resolve) => {
          finish = () => resolve(END_TURN);
        }),
    );
    await harness.start(harness.worker({ clock: jumping(offset) }));
    const { id } = await harness.create();
    await quiet();
    harness.faults.isAway = true;
    finish();
    await harness.clock.advance(2_000);
    offset.ms = 10 * 60_000;
    await harness.clock.advance(2_000);

    harness.faults.isAway = false;
    await harness.clock.advance(1_000);

    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", attempt: 1 });
  });
});
