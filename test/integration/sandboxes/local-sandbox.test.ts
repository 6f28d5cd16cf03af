import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { sweepOrphans } from "../../../src/sandboxes/local/marked-processes.ts";
import { describeSandbox, processesWith, uniqueSeconds } from "../../contract/sandbox-contract.ts";
import { waitFor } from "../../support/wait-for.ts";

describeSandbox("local", createLocalSandbox);

it("the local sandbox says that it isolates nothing", () => {
  expect(createLocalSandbox("/nowhere").isolated).toBe(false);
});

describe("sweepOrphans", () => {
  let dataDir: string;
  let worker: ChildProcess;
  const seconds = uniqueSeconds();

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "errand-orphans-"));
    worker = startWorker(dataDir, seconds);
    await waitFor(async () => (await processesWith(seconds)).length > 0, { what: "the worker's agent" });
  });

  afterEach(async () => {
    await kill(worker);
    await sweepOrphans(dataDir);
    await rm(dataDir, { recursive: true });
  });

  it("ends what a worker left that was killed", async () => {
    await kill(worker);
    expect(await processesWith(seconds)).not.toEqual([]);

    const killed = await sweepOrphans(dataDir);

    expect(killed).toBeGreaterThan(0);
    expect(await processesWith(seconds)).toEqual([]);
  });

  it("leaves a living worker's agents alone", async () => {
    expect(await sweepOrphans(dataDir)).toBe(0);
    expect(await processesWith(seconds)).not.toEqual([]);
  });

  it("leaves another data directory's agents alone", async () => {
    await kill(worker);

    expect(await sweepOrphans(join(dataDir, "other"))).toBe(0);
    expect(await processesWith(seconds)).not.toEqual([]);
  });
});

function startWorker(dataDir: string, seconds: string): ChildProcess {
  const sandbox = join(import.meta.dirname, "../../../src/sandboxes/local/local-sandbox.ts");
  const script = `
    import { createLocalSandbox } from ${JSON.stringify(sandbox)};
    const argv = ["/bin/sh", "-c", "setsid nohup sleep ${seconds} >/dev/null 2>&1 & sleep ${seconds}"];
    createLocalSandbox(${JSON.stringify(dataDir)}).spawn({ argv, env: {}, cwd: "/", writable: [], readable: [] });
  `;
  return spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: "inherit" });
}

async function kill(worker: ChildProcess): Promise<void> {
  if (worker.exitCode === null && worker.signalCode === null) {
    worker.kill("SIGKILL");
    await once(worker, "exit");
  }
}
