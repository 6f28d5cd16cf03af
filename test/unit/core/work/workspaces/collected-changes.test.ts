import { beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import type { TurnEnd } from "../../../../../src/core/model/runs/agent-update.ts";
import type { Run } from "../../../../../src/core/model/runs/run.ts";
import type { Artifact } from "../../../../../src/core/model/workspaces/artifact.ts";
import type { NewRun } from "../../../../../src/core/requests/prepare/new-run.ts";
import { CoreHarness, LIMITS } from "../../../../support/core-harness.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { type ScriptedTurn, untilCancelled } from "../../../../support/scripted-agents.ts";
import { waitFor } from "../../../../support/wait-for.ts";

const HOME = { provenance: { repository: { id: 7, full_name: "acme/widgets" } } } as const;

let harness: CoreHarness;
beforeEach(async () => {
  harness = new CoreHarness();
  await harness.start(harness.worker({ settings: { ...LIMITS, pullRequests: "off" } }));
});

async function begin(request: Partial<NewRun> = HOME): Promise<RunId> {
  const { id } = await harness.create(request);
  await quiet();
  return id;
}

async function perform(request?: Partial<NewRun>): Promise<RunId> {
  const id = await begin(request);
  await freed(id);
  return id;
}

async function more(id: RunId): Promise<void> {
  await harness.followUp(id, "more");
  await freed(id);
}

/** Hashing takes more than microtasks, so the helper waits until the run is freed. */
async function freed(id: RunId): Promise<Run> {
  const look = async () => {
    const run = await harness.run(id);
    return run.lease === undefined && run.state !== "QUEUED" && run;
  };
  return waitFor(look, { what: "the run to be free", everyMs: 2 });
}

async function filesOf(id: RunId): Promise<Readonly<Record<string, string>>> {
  const artifacts = await harness.storage.files.artifactsOf([id]);
  const texts = artifacts.map(async (artifact) => [artifact.key, await textOf(artifact)] as const);
  return Object.fromEntries(await Promise.all(texts));
}

async function textOf({ file }: Artifact): Promise<string> {
  return file === undefined ? "" : Buffer.from(await harness.blobs.get(file.blobId)).toString();
}

async function problemsOf(id: RunId): Promise<readonly string[]> {
  const bodies = (await harness.events(id)).map(({ body }) => body);
  return bodies.flatMap((body) => (body.kind === "changes.not_kept" ? [body.reason] : []));
}

describe("the changes of a turn", () => {
  test("the changes of a turn are a patch of their own, beside that of all turns", async () => {
    harness.changes.sinceSnapshot.set("acme/widgets", "one");
    harness.changes.sinceClone.set("acme/widgets", "one");
    const id = await perform();
    harness.changes.sinceSnapshot.set("acme/widgets", "two");
    harness.changes.sinceClone.set("acme/widgets", "one and two");
    await more(id);

    expect(await filesOf(id)).toEqual({
      "changes/widgets/turn-1.diff": "one",
      "changes/widgets/turn-2.diff": "two",
      "changes/widgets/all.diff": "one and two",
    });
    const [all] = (await harness.storage.files.artifactsOf([id])).filter(({ key }) =>
      key.endsWith("all.diff"),
    );
    expect(all).toMatchObject({
      version: 2,
      body: { type: "FILE", fileName: "all.diff", mimeType: "text/x-diff" },
      file: {
        sizeBytes: 11,
        hash: Buffer.from(
          await crypto.subtle.digest("SHA-256", new TextEncoder().encode("one and two")),
        ).toString("hex"),
      },
    });
    expect(harness.changes.marks).toBe(2);
  });

  test("the patch is stored before the end of the turn becomes visible", async () => {
    harness.changes.sinceClone.set("acme/widgets", "one");
    const id = await perform();

    const kinds = (await harness.events(id)).map(({ body }) => body.kind);
    expect(kinds.indexOf("artifact.added")).toBeLessThan(kinds.indexOf("turn.ended"));
  });

  test("a turn without changes has no patch, and an unchanged patch gets no new version", async () => {
    const id = await perform();
    expect(await filesOf(id)).toEqual({});

    harness.changes.sinceClone.set("acme/widgets", "one");
    await more(id);
    await more(id);

    expect(await harness.storage.files.artifactsOf([id])).toMatchObject([{ version: 1, turn: 2 }]);
  });

  test("while follow-ups wait, a turn computes only its own patch", async () => {
    harness.changes.sinceSnapshot.set("acme/widgets", "one");
    harness.changes.sinceClone.set("acme/widgets", "one");
    harness.agents.scripts.push(async () => {
      for (const { runId } of harness.agents.starts) {
        await harness.followUp(runId, "more");
      }
      return { stopReason: "end_turn" };
    });
    await perform();

    expect(harness.journal.filter((line) => line.startsWith("diff"))).toEqual([
      "diff since snapshot",
      "diff since snapshot",
      "diff since clone",
    ]);
  });

  test("patches of repositories with the same name are distinguished by their owners", async () => {
    await harness.storage.environments.add(anEnvironment("e", "acme/widgets", "other/Widgets"));
    harness.changes.sinceClone.set("acme/widgets", "a");
    harness.changes.sinceClone.set("other/Widgets", "b");

    const id = await perform({ config: { environment_id: "e" } });

    expect(await filesOf(id)).toEqual({
      "changes/acme-widgets/all.diff": "a",
      "changes/other-Widgets/all.diff": "b",
    });
  });

  test("a resumed turn takes no second snapshot of the repository", async () => {
    const other = new CoreHarness();
    other.agents.scripts.push(untilCancelled);
    const { id: lost } = await other.create(HOME);
    const stop = new AbortController();
    const working = other.worker().work(lost, stop.signal);
    await quiet();
    stop.abort();
    await other.clock.advance(10_000);
    await working;
    await other.start();
    await quiet();

    expect(await other.run(lost)).toMatchObject({ state: "SUCCEEDED", turn: 1, attempt: 2 });
    expect(other.changes.marks).toBe(1);
  });
});

describe("a patch of all changes", () => {
  beforeEach(() => {
    harness.changes.sinceClone.set("acme/widgets", "half");
  });

  test("a cancel leaves a patch of all changes before the lease is released", async () => {
    harness.agents.scripts.push(untilCancelled);
    const id = await begin();
    await harness.cancel(id);
    await freed(id);

    expect((await harness.run(id)).state).toBe("CANCELLED");
    expect(await filesOf(id)).toEqual({ "changes/widgets/all.diff": "half" });
    expect(harness.journal).toEqual([
      "agent closed",
      "diff since clone",
      "gateway closed",
      "workspace stored",
    ]);
    const kinds = (await harness.events(id)).map(({ body }) => body.kind);
    expect(kinds.indexOf("artifact.added")).toBeLessThan(kinds.indexOf("attempt.ended"));
  });

  test.each<[string, () => Promise<never>]>([
    [
      "a failure",
      async () => {
        throw new AppError("internal_error", "It died.", { reason: "agent_process_failed" });
      },
    ],
    [
      "a budget that is used up",
      () => {
        harness.gateways.last.call({ totalTokens: 10 });
        return new Promise(() => undefined);
      },
    ],
    ["a time-out", () => new Promise(() => undefined)],
  ])("a run that ends by %s leaves a patch of all changes before its end", async (_what, script) => {
    harness.agents.scripts.push(script);
    const id = await begin({ ...HOME, config: { budget: { max_tokens: 5 } } });
    await harness.clock.advance(LIMITS.inactivityMs + 5_000);

    expect(["FAILED", "ERROR"]).toContain((await freed(id)).state);
    expect(await filesOf(id)).toEqual({ "changes/widgets/all.diff": "half" });
    const bodies = (await harness.events(id)).map(({ body }) => body);
    const end = bodies.findIndex(
      (body) => body.kind === "run.state" && ["FAILED", "ERROR"].includes(body.to),
    );
    expect(bodies.findIndex(({ kind }) => kind === "artifact.added")).toBeLessThan(end);
  });

  test.each(["refusal", "max_tokens"] as const)(
    "a run that ends by %s leaves a patch of all changes",
    async (stopReason) => {
      harness.agents.scripts.push(async () => ({ stopReason }));
      const id = await perform();

      expect((await harness.run(id)).state).toBe("FAILED");
      expect(await filesOf(id)).toEqual({ "changes/widgets/all.diff": "half" });
    },
  );

  test("a worker that stops leaves no patch, because it stores the files", async () => {
    const other = new CoreHarness();
    other.changes.sinceClone.set("acme/widgets", "half");
    other.agents.scripts.push(untilCancelled);
    const { id } = await other.create(HOME);
    const stop = new AbortController();
    const working = other.worker().work(id, stop.signal);
    await quiet();
    stop.abort();
    await working;

    expect(await other.storage.files.artifactsOf([id])).toEqual([]);
    expect(await other.run(id)).toMatchObject({ state: "QUEUED", checkpoint: "checkpoint-1" });
  });

  test("a run without repositories computes no patch", async () => {
    await perform({});

    expect(harness.journal).toEqual(["workspace stored", "agent closed", "gateway closed"]);
  });
});

describe("changes that cannot be stored", () => {
  test("changes that cannot be stored are mentioned in the log and do not affect the end", async () => {
    harness.changes.markFaults.push(new Error("EACCES"));
    harness.changes.diffFaults.push(
      new AppError("internal_error", "git said s3cret"),
      new Error("no such directory"),
    );

    const id = await perform();

    expect((await harness.run(id)).state).toBe("SUCCEEDED");
    expect(await problemsOf(id)).toEqual([
      "The changes of this turn cannot be told from earlier ones.",
      "The changes could not be stored as a patch: git said [redacted]",
      "The changes could not be stored as a patch.",
    ]);
  });

  test("changes that cannot be stored do not delay a cancel", async () => {
    harness.agents.scripts.push(untilCancelled);
    const id = await begin();
    harness.changes.diffFaults.push(new Error("no such directory"));
    await harness.cancel(id);
    await freed(id);

    expect((await harness.run(id)).state).toBe("CANCELLED");
    expect(await harness.run(id)).not.toHaveProperty("lease");
    expect(await problemsOf(id)).toHaveLength(1);
  });

  test("changes that the database cannot store leave the run free and its end unchanged", async () => {
    harness.changes.sinceClone.set("acme/widgets", "half");
    harness.agents.scripts.push(async () => {
      throw new AppError("internal_error", "It died.", { reason: "agent_process_failed" });
    });
    harness.workspaces.checkpoint = async () => {
      harness.faults.changes.push({ when: "before", error: new Error("unsupported Unicode") });
      return "checkpoint-1";
    };

    const id = await perform();

    expect(await harness.run(id)).toMatchObject({ state: "ERROR", statusMessage: { message: "It died." } });
    expect(await harness.storage.files.artifactsOf([id])).toEqual([]);
  });

  test("a patch that was cut says so", async () => {
    const { changes } = harness;
    const cut = {
      repository: { owner: "acme", name: "widgets" },
      patch: new TextEncoder().encode("cut"),
      isCut: true,
      filesChanged: 1,
      base: "ba5e",
      files: [],
    };
    changes.diff = async () => ({ diffs: [cut], leftOut: [] });
    const id = await perform();

    expect(await problemsOf(id)).toContain("changes/widgets/all.diff is too long and was cut.");
  });
});

test("work that is left out is a warning, and is said once below the answer of the turn", async () => {
  const { changes } = harness;
  const repository = { owner: "acme", name: "widgets" };
  changes.leftOut.push(
    { repository, reason: "large", path: "model.bin" },
    { repository, reason: "submodule", path: "lib" },
  );
  const id = await perform(HOME);
  await more(id);

  expect((await harness.run(id)).warnings).toEqual([
    expect.stringMatching(/^Larger than 10 MiB.*`model.bin`.*artifacts/),
    expect.stringMatching(/^Changed in submodules.*`lib`/),
  ]);
  expect(await problemsOf(id)).toEqual([]);
});

describe("what comes at the end of a turn", () => {
  const LATE = expect.stringMatching(/^The agent wrote more after the end of a turn\./);

  /** Ends a turn, and has the agent act while its changes are collected. */
  async function endWith(act: (turn: ScriptedTurn) => void, end: Partial<TurnEnd> = {}): Promise<Run> {
    harness.agents.scripts.push(async (turn) => {
      turn.say("I have started it.");
      harness.changes.fastForward = async () => {
        act(turn);
        return [];
      };
      return { stopReason: "end_turn", ...end };
    });
    return harness.run(await perform(HOME));
  }

  test("a run warns of words that come after the end of a turn, which are in the log and not in the answer", async () => {
    const run = await endWith(({ say }) => say("It has finished."));

    expect(run).toMatchObject({ state: "SUCCEEDED", answer: "I have started it.", warnings: [LATE] });
    const words = (await harness.events(run.id)).map(({ body }) =>
      body.kind === "agent.message" ? body.text : "",
    );
    expect(words.join("")).toContain("It has finished.");
  });

  test("an empty message and the title of a session are no words", async () => {
    const run = await endWith(({ observer, say }) => {
      say("\n");
      observer.update({ kind: "agent.title", title: "Title" });
    });

    expect(run.warnings).toBeUndefined();
  });

  test("the command line of a stopped task shows no secret, not even one at the place where it is cut", async () => {
    const owner = anEnvironment("s");
    const value = "very-secret-value";
    const context = `secret:${owner.teamId}:${owner.teamId}:KEY`;
    const sealed = harness.secretBox.seal(value, context);
    await harness.storage.secrets.add({ ...owner, name: "KEY", sealed, editorId: owner.creatorId });

    const run = await endWith(() => {}, { stoppedTasks: [`curl ${"x".repeat(70)} ${value}`] });

    expect(run.warnings).toEqual([expect.stringContaining("was stopped: `curl xxx")]);
    expect(run.warnings?.join()).not.toContain("very");
  });
});
