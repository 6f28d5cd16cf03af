import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createApiClient } from "../../support/api-client.ts";
import { makeDataDirPath } from "../../support/data-dir.ts";
import { checkInvariants } from "../../support/invariants.ts";
import { type Service, startService } from "../../support/service.ts";
import { waitFor } from "../../support/wait-for.ts";

test("after service and embedded database are killed, acknowledged runs exist and continue", async () => {
  const dataDir = await makeDataDirPath();
  const killed = await startHere(dataDir);
  const before = createApiClient(killed);
  const done = await before.createRun("write kept.txt words");
  await before.waitForState(done, "SUCCEEDED");
  const moving = await before.createRun("sleep 2\nsay finished");
  await before.waitForState(moving, "INPROGRESS");
  const runIds = [done, moving, await before.createRun("say hello")];

  process.kill((await postmasterOf(dataDir)).pid, "SIGKILL");
  await killed.end("SIGKILL");
  const again = await startHere(dataDir);

  const api = createApiClient(again);
  for (const runId of runIds) {
    await api.waitForState(runId, "SUCCEEDED", 60_000);
  }
  await api.followUp(done, "read kept.txt");
  await waitFor(async () => JSON.stringify(await api.events(done)).includes("kept.txt has 6 characters"), {
    what: "the file of the first turn",
  });
  await api.waitForState(done, "SUCCEEDED");
  const { socketDirectory } = await postmasterOf(dataDir);
  const databaseUrl = `postgresql://errand@localhost:5432/errand?host=${encodeURIComponent(socketDirectory)}&sslmode=disable`;
  await checkInvariants({ databaseUrl, acknowledged: { runIds }, responses: [again.output()] });
  expect(await again.end("SIGTERM")).toBe(0);
}, 120_000);

async function startHere(dataDir: string): Promise<Service> {
  const service = await startService(dataDir, { ERRAND_SANDBOX: "local" });
  onTestFinished(async () => void (await service.end("SIGKILL")));
  return service;
}

/** Reads the server's postmaster.pid: the pid is on the first line, the socket directory on the fifth. */
async function postmasterOf(
  dataDir: string,
): Promise<{ readonly pid: number; readonly socketDirectory: string }> {
  const lines = (await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8")).split("\n");
  return { pid: Number(lines[0]), socketDirectory: lines[4] ?? "" };
}
