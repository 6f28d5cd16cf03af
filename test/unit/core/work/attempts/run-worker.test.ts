import { beforeEach, describe, expect, test } from "vitest";
import { AppError, type ErrorCode, type ErrorOptions } from "../../../../../src/core/basics/errors.ts";
import type { StopReason } from "../../../../../src/core/model/runs/agent-update.ts";
import type { RunEventKind } from "../../../../../src/core/model/runs/events.ts";
import type { Run } from "../../../../../src/core/model/runs/run.ts";
import { CoreHarness, LEASE_MS } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { END_TURN, untilCancelled } from "../../../../support/scripted-agents.ts";

let harness: CoreHarness;
beforeEach(() => {
  harness = new CoreHarness();
});

function endsLogged() {
  return harness.logged.filter(({ message }) => message === "run.ended").map(({ facts }) => facts);
}

describe("a worked run", () => {
  test("a successful run has its states, log and answer and leaves nothing behind", async () => {
    await harness.start();

    const { id } = await harness.create();
    await quiet();

    const run = await harness.run(id);
    expect(run).toMatchObject({
      state: "SUCCEEDED",
      answer: "Done.",
      turn: 1,
      turnOpen: false,
      lostAttempts: 0,
    });
    expect(run).toMatchObject({ agentSession: "session-1", checkpoint: "checkpoint-1" });
    expect(run).not.toHaveProperty("lease");
    expect(await statesOf(run)).toEqual(["PENDING", "CLAIMED", "INPROGRESS", "SUCCEEDED"]);
    expect(await kindsOf(run)).toEqual(GOOD_RUN);
    expect([harness.agents.open, harness.queue.list().length, harness.clock.pending]).toEqual([0, 0, 0]);
  });

  test("the end of a run is one log line with state, code, duration, cost, agent and worker", async () => {
    harness.agents.scripts.push(async ({ observer }) => {
      observer.update({ kind: "agent.usage", used: 1, size: 2, costUsd: 0.25 });
      await new Promise<void>((resolve) => harness.clock.after(2_000, resolve));
      return END_TURN;
    });
    harness.agents.scripts.push(async () => ({ stopReason: "refusal" }));
    await harness.start();

    const { id } = await harness.create();
    await quiet();
    await harness.clock.advance(3_000);
    const first = endsLogged();
    await harness.followUp(id, "more");

    const common = { runId: id, costUsd: 0.25, agent: "scripted", worker: "worker-1" };
    expect(first).toEqual([
      { ...common, state: "SUCCEEDED", tokens: 0, attempt: 1, agentVersion: "1.0", durationMs: 2_000 },
    ]);
    expect(endsLogged().slice(1)).toMatchObject([
      { ...common, state: "FAILED", code: "invalid_request", attempt: 2 },
    ]);
  });

  test("a run that a worker hands back has no log line about its end", async () => {
    harness.agents.scripts.push(untilCancelled);
    const { id } = await harness.create();
    const stop = new AbortController();
    const working = harness.worker().work(id, stop.signal);
    await quiet();

    stop.abort();
    await harness.clock.advance(LEASE_MS);
    await working;

    expect((await harness.run(id)).state).toBe("QUEUED");
    expect(endsLogged()).toEqual([]);
  });

  test("the end of a run that no worker has is one log line without a worker", async () => {
    const { id } = await harness.create();

    await harness.cancel(id);
    await harness.cancel(id);

    const ended = { runId: id, state: "CANCELLED", costUsd: 0, tokens: 0, agent: "scripted", attempt: 0 };
    expect(endsLogged()).toEqual([ended]);
  });

  test("a run that is cancelled while a worker has it has one log line about its end", async () => {
    harness.agents.scripts.push(untilCancelled);
    await harness.start();
    const { id } = await harness.create();
    await quiet();

    await harness.cancel(id);
    await quiet();

    expect(endsLogged()).toMatchObject([{ runId: id, state: "CANCELLED", worker: "worker-1" }]);
  });

  test.each<[StopReason, Run["state"], RegExp]>([
    ["refusal", "FAILED", /refused/],
    ["max_tokens", "FAILED", /token limit/],
    ["max_turn_requests", "FAILED", /limit of requests/],
    ["cancelled", "ERROR", /cancelled/],
  ])("a run whose agent stops with %s is %s", async (stopReason, state, message) => {
    harness.agents.scripts.push(async () => ({ stopReason }));
    await harness.start();

    const { id } = await harness.create();
    await quiet();

    expect(await harness.run(id)).toMatchObject({
      state,
      statusMessage: { message: expect.stringMatching(message) },
    });
  });

  test.each<[ErrorCode, Run["state"], ErrorOptions]>([
    ["budget_exceeded", "FAILED", {}],
    ["content_policy_violation", "FAILED", { remedy: "Say s3cret otherwise." }],
    ["internal_error", "ERROR", { reason: "agent_process_failed" }],
    ["internal_error", "ERROR", { reason: "agent_error" }],
    ["authentication_required", "ERROR", {}],
    ["resource_unavailable", "ERROR", { reason: "infrastructure_timeout" }],
  ])("a run whose agent fails with %s is %s, with the details %o", async (errorCode, state, options) => {
    harness.agents.scripts.push(async () => {
      throw new AppError(errorCode, "It broke: s3cret", options);
    });
    await harness.start();

    const { id } = await harness.create();
    await quiet();

    const run = await harness.run(id);
    const { reason, remedy } = options;
    const hasRemedy = reason !== undefined || remedy !== undefined;
    expect(run).toMatchObject({ state, turnOpen: false });
    expect(run.statusMessage).toEqual({
      message: "It broke: [redacted]",
      errorCode,
      retryable: ["internal_error", "resource_unavailable"].includes(errorCode),
      ...(reason && { reason }),
      ...(hasRemedy && {
        remedy: remedy?.replace("s3cret", "[redacted]") ?? expect.stringContaining("follow-up"),
      }),
    });
    expect(run).not.toHaveProperty("lease");
    expect(harness.agents.open).toBe(0);
  });

  test("an internal bug ends the run as ERROR without details, and the bug is logged", async () => {
    harness.agents.scripts.push(async () => {
      throw new TypeError("x is undefined");
    });
    await harness.start();

    const { id } = await harness.create();
    await quiet();

    expect(await harness.run(id)).toMatchObject({
      state: "ERROR",
      statusMessage: { errorCode: "internal_error" },
    });
    expect((await harness.run(id)).statusMessage?.message).not.toContain("undefined");
    expect(harness.logged.map(({ message }) => message)).toContain("attempt.failed");
  });

  test("a run whose workspace cannot be prepared is FAILED and freed", async () => {
    harness.workspaces.prepareFaults.push(new AppError("environment_setup_failed", "No disk."));
    await harness.start();

    const { id } = await harness.create();
    await quiet();

    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "FAILED", statusMessage: { message: "No disk." } });
    expect(run).not.toHaveProperty("lease");
    expect(harness.agents.starts).toEqual([]);
  });

  test("a run whose agent does not start is ERROR and freed", async () => {
    harness.agents.beforeStart.push(() =>
      Promise.reject(new AppError("internal_error", "No such program.", { reason: "agent_process_failed" })),
    );
    await harness.start();

    const { id } = await harness.create();
    await quiet();

    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "ERROR", statusMessage: { message: "No such program." } });
    expect(run).not.toHaveProperty("lease");
  });

  test("a run whose workspace is too large to store continues, and its log says so", async () => {
    harness.workspaces.faults.push(new AppError("operation_not_supported", "Too large."));
    await harness.start();

    const { id } = await harness.create();
    await quiet();

    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "SUCCEEDED", answer: "Done." });
    expect(run).not.toHaveProperty("lease");
    expect(await kindsOf(run)).toContain("workspace.not_stored");
  });

  test("a run whose workspace cannot be read keeps its answer and releases its lease", async () => {
    harness.workspaces.faults.push(new Error("EACCES"), new Error("EACCES"));
    await harness.start();

    const { id } = await harness.create();
    await quiet();

    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", answer: "Done." });
    expect(await kindsOf(await harness.run(id))).toContain("workspace.not_stored");
    expect(await harness.run(id)).not.toHaveProperty("lease");
  });

  test("a run names the files that its checkpoint leaves out", async () => {
    harness.workspaces.unstorable.push({ path: "workspace/locked\u0000", reason: "it cannot be read" });
    await harness.start();

    const { id } = await harness.create();
    await quiet();

    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "SUCCEEDED", checkpoint: "checkpoint-1" });
    expect(run.warnings).toEqual([
      expect.stringMatching(
        /^Files were not stored with the workspace: workspace\/locked.? \(it cannot be read\)$/,
      ),
    ]);
  });

  test("a run ends well whatever bytes the agent writes at the end", async () => {
    harness.agents.scripts.push(async ({ say }) => {
      say("Done\0 \ud800");
      return END_TURN;
    });
    await harness.start();
    const { id } = await harness.create();
    await quiet();

    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", answer: "Done\u2400 \ufffd" });
  });

  test("a run whose agent cannot be closed is released after a while", async () => {
    harness.agents.closeFaults.push(new Error("EPERM"));
    await harness.start();

    const { id } = await harness.create();
    await quiet();
    await harness.clock.advance(2 * LEASE_MS);

    expect(harness.clock.pending).toBe(0);
    await harness.lostRuns().recover(id);
    expect(await harness.run(id)).not.toHaveProperty("lease");
  });

  test("a run with a worker is not taken by another worker", async () => {
    harness.agents.scripts.push(untilCancelled);
    await harness.start();
    const { id } = await harness.create();
    await quiet();

    await harness.worker({ worker: "worker-2" }).work(id, new AbortController().signal);
    await harness.clock.advance(10 * LEASE_MS);

    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "INPROGRESS", attempt: 1, lease: { worker: "worker-1" } });
    expect(await harness.storage.leases.listExpiring(0, 10)).toEqual([]);
  });
});

describe("the output of an agent", () => {
  test("the agent's output is logged before the end of its turn, with secrets redacted", async () => {
    harness.agents.scripts.push(async ({ observer, say }) => {
      say("The s3");
      say("cret is");
      observer.update({ kind: "agent.tool_call", toolCallId: "1", rawInput: { env: ["s3cret"] } });
      say("Closing s3cret words.");
      return END_TURN;
    });
    await harness.start();

    const { id } = await harness.create();
    await quiet();

    const run = await harness.run(id);
    const kinds = await kindsOf(run);
    expect(kinds.slice(kinds.indexOf("turn.started"))).toEqual([
      "turn.started",
      "agent.message",
      "agent.tool_call",
      "agent.message",
      "workspace.stored",
      "turn.ended",
      "run.state",
      "attempt.ended",
    ]);
    expect(run.answer).toBe("Closing [redacted] words.");
    expect(JSON.stringify(await harness.events(id))).not.toContain("s3cret");
  });

  test("the agent's output is logged while the turn continues", async () => {
    harness.agents.scripts.push((turn) => {
      turn.say("I begin.");
      return untilCancelled(turn);
    });
    await harness.start();
    const { id } = await harness.create();
    await quiet();

    await harness.clock.advance(100);

    expect(await kindsOf(await harness.run(id))).toContain("agent.message");
  });

  test("output that cannot be stored keeps neither the run from ending nor the lease from release", async () => {
    harness.agents.scripts.push(async ({ say }) => {
      harness.faults.changes.push({ when: "before", error: new Error("unsupported Unicode") });
      say("poison");
      return END_TURN;
    });
    await harness.start();

    const { id } = await harness.create();
    await quiet();

    expect(await harness.run(id)).toMatchObject({ state: "ERROR" });
    expect(await harness.run(id)).not.toHaveProperty("lease");
  });
});

const GOOD_RUN: readonly RunEventKind[] = [
  "run.created",
  "run.state",
  "attempt.started",
  "run.state",
  "workspace.ready",
  "agent.started",
  "run.state",
  "turn.started",
  "agent.message",
  "workspace.stored",
  "turn.ended",
  "run.state",
  "attempt.ended",
];

async function kindsOf({ id }: Run): Promise<readonly RunEventKind[]> {
  return (await harness.events(id)).map(({ body }) => body.kind);
}

async function statesOf({ id }: Run): Promise<readonly string[]> {
  return (await harness.events(id)).flatMap(({ body }) => (body.kind === "run.state" ? [body.to] : []));
}
