import { access, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import { newId, type RunId } from "../../../src/core/basics/ids.ts";
import { createInMemoryBlobStore } from "../../support/memory/storage/blob-store.ts";
import { aPreparation, aWorkspaceProvider, stepsOf } from "../../support/workspace-harness.ts";

const COMMAND = "test -e made.txt && echo again >> made.txt || echo half > made.txt; exit 3";
const PLAN = { setupCommands: [COMMAND] };

let root: string;
const blobs = createInMemoryBlobStore(systemClock);
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "errand-failed-setup-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const aRunId = () => newId<RunId>(new Date());
const providerOf = (worker = "a") => aWorkspaceProvider(join(root, worker), { blobs });
const kept = (runId: RunId, changes: Parameters<typeof aPreparation>[1] = {}) =>
  aPreparation(runId, { plan: PLAN, keepsFailedSetup: true, ...changes });
const madeIn = (directory: string) => readFile(join(directory, "made.txt"), "utf8");

test("a workspace whose setup failed is returned with the error if the run keeps it", async () => {
  const preparation = kept(aRunId());

  const { directory, setupError } = await providerOf().prepare(preparation);

  expect(setupError).toMatchObject({
    code: "environment_setup_failed",
    message: "Setup command 1 of 1 failed with exit code 3.",
  });
  expect(await madeIn(directory)).toBe("half\n");
  expect(stepsOf(preparation.reportedSteps)).toEqual([[COMMAND, "failed", ""]]);
});

test("as long as it is not the run's, another attempt begins anew", async () => {
  const runId = aRunId();
  await providerOf().prepare(kept(runId));

  const { directory, isOwnCopy } = await providerOf().prepare(kept(runId));

  expect(isOwnCopy).toBe(false);
  expect(await madeIn(directory)).toBe("half\n");
});

test("once it is the run's, every attempt continues in it without a setup, also on another worker", async () => {
  const runId = aRunId();
  const provider = providerOf();
  await provider.prepare(kept(runId));

  await provider.endFailedSetup(runId, true);

  const here = await provider.prepare(kept(runId));
  const checkpoint = await provider.checkpoint(runId);
  const there = await providerOf("b").prepare(kept(runId, { stored: { checkpoint } }));
  expect(here).toMatchObject({ isOwnCopy: true });
  expect(await madeIn(here.directory)).toBe("half\n");
  expect(await madeIn(there.directory)).toBe("half\n");
  expect([here.setupError, there.setupError]).toEqual([undefined, undefined]);
});

test("it is removed if nothing uses it", async () => {
  const runId = aRunId();
  const provider = providerOf();
  const { directory } = await provider.prepare(kept(runId));

  await provider.endFailedSetup(runId, false);

  await expect(access(directory)).rejects.toThrow("ENOENT");
});

test("a run that continues from its files repeats the setup", async () => {
  const [before, runId] = [aRunId(), aRunId()];
  const provider = providerOf();
  await provider.prepare(kept(before));
  await provider.endFailedSetup(before, true);
  const checkpoint = await provider.checkpoint(before);
  const initialContents = async () => ({ files: [], stored: { checkpoint } });

  const { directory, setupError } = await provider.prepare(kept(runId, { initialContents }));

  expect(setupError).toBeDefined();
  expect(await madeIn(directory)).toBe("half\nagain\n");
});

test("without the setting, and for a run that is no longer needed, the setup fails", async () => {
  const stopped = new AbortController();
  stopped.abort();
  const provider = providerOf();
  const code = "environment_setup_failed";

  await expect(provider.prepare(aPreparation(aRunId(), { plan: PLAN }))).rejects.toMatchObject({ code });
  await expect(provider.prepare(kept(aRunId(), { signal: stopped.signal }))).rejects.toMatchObject({ code });
});
