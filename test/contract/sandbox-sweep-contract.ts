import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/sandboxes/sandbox.ts";
import type { WorkerSandbox } from "../support/sandbox-worker-main.ts";
import { waitFor } from "../support/wait-for.ts";
import { processesWith, uniqueSeconds } from "./sandbox-contract.ts";

const MAIN = join(import.meta.dirname, "../support/sandbox-worker-main.ts");

export interface SweepCase {
  readonly makeSandbox: (dataDir: string) => Sandbox;
  /** How a worker in another process makes the same. */
  readonly worker: () => WorkerSandbox;
  /** Whether what a killed worker leaves ends by itself, so that there is nothing to sweep. */
  readonly endsWithWorker: boolean;
}

/** What is left of a worker that was killed, and of one that lives. */
export function describeSandboxSweep(name: string, { endsWithWorker, makeSandbox, worker }: SweepCase): void {
  describe(`sweep of the ${name} sandbox`, () => {
    const seconds = uniqueSeconds();
    let dataDir: string;
    let process: ChildProcess;

    beforeEach(async () => {
      dataDir = await mkdtemp(join(tmpdir(), "errand-orphans-"));
      process = fork(MAIN, [JSON.stringify({ ...worker(), dataDir, seconds })], { stdio: "inherit" });
      await waitFor(async () => (await processesWith(seconds)).length >= 2, { what: "the worker's agent" });
    });

    afterEach(async () => {
      await kill(process);
      await makeSandbox(dataDir).sweep();
      await waitFor(async () => (await processesWith(seconds)).length === 0, { what: "the agent's end" });
      await rm(dataDir, { recursive: true });
    });

    test("the sweep ends the processes of a killed worker", async () => {
      await kill(process);
      if (endsWithWorker) {
        await waitFor(async () => (await processesWith(seconds)).length === 0, { what: "the agent's end" });
      } else {
        expect(await processesWith(seconds)).not.toEqual([]);
      }

      const swept = await makeSandbox(dataDir).sweep();

      if (!endsWithWorker) {
        expect(swept).toBeGreaterThan(0);
      }
      expect(await processesWith(seconds)).toEqual([]);
      expect(await readdir(join(dataDir, "sandboxes")).catch(() => [])).toEqual([]);
      expect(await makeSandbox(dataDir).sweep()).toBe(0);
    });

    test("a sweep leaves a living worker's agents alone", async () => {
      expect(await makeSandbox(dataDir).sweep()).toBe(0);

      expect(await processesWith(seconds)).not.toEqual([]);
    });

    test("a sweep leaves another data directory's agents alone", async () => {
      const before = (await processesWith(seconds)).length;

      expect(await makeSandbox(join(dataDir, "other")).sweep()).toBe(0);

      // The agent may still have been starting its program.
      expect((await processesWith(seconds)).length).toBeGreaterThanOrEqual(before);
    });
  });
}

async function kill(process: ChildProcess): Promise<void> {
  if (process.exitCode === null && process.signalCode === null) {
    process.kill("SIGKILL");
    await once(process, "exit");
  }
}
