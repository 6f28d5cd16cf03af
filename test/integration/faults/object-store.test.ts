import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { reasonToSkipS3, S3_KEY, S3Server } from "../../support/s3-server.ts";
import { spawnService } from "../../support/service.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type FaultHarness, type Worker, withFaultHarness } from "./fault-harness.ts";

const MAIN = join(import.meta.dirname, "../../../src/main.js");
const PROMISE_MS = 60_000;
const skipped = reasonToSkipS3();

describe.skipIf(skipped !== undefined)(`files of runs in an object store (${skipped ?? "there"})`, () => {
  let server: S3Server;

  beforeAll(async () => {
    server = await S3Server.start();
  });
  afterEach(() => {
    server.interfere = undefined;
  });
  afterAll(() => server?.stop());

  const start = (harness: FaultHarness) => harness.start(server.environment());
  const check = (harness: FaultHarness) => harness.check({ canaries: [S3_KEY.secretAccessKey] });

  test("a worker is killed while it stores files, and another one continues with those that were stored before", () =>
    withFaultHarness(async (harness) => {
      const first = await start(harness);
      const runId = await harness.createRun(first, "write kept.txt words");
      await first.api.waitForState(runId, "SUCCEEDED", PROMISE_MS);
      await harness.waitForRow("SELECT 1 FROM runs WHERE id = $1 AND checkpoint IS NOT NULL", runId);
      let isStoring = false;
      server.interfere = ({ method }) => {
        isStoring ||= method === "PUT";
        return method !== "PUT";
      };
      await first.api.followUp(runId, "read kept.txt\nwrite artifacts/made.txt words");
      await waitFor(() => isStoring, { what: "the worker to store", timeoutMs: PROMISE_MS });
      await first.end("SIGKILL");
      server.interfere = undefined;

      const second = await start(harness);
      await second.api.waitForState(runId, "SUCCEEDED", PROMISE_MS);

      expect(JSON.stringify(await second.api.events(runId))).toContain("has 6 characters");
      expect(await harness.rows("SELECT 1 FROM artifacts WHERE run_id = $1", runId)).toHaveLength(1);
      expect(await harness.rows("SELECT 1 FROM blobs WHERE location IS NULL OR bytes IS NOT NULL")).toEqual(
        [],
      );
      await check(harness);
    }));

  test("while the store is away, runs start and requests are answered; the end of a turn waits for it", () =>
    withFaultHarness(async (harness) => {
      const worker = await start(harness);
      let refused = 0;
      server.interfere = (request, response) => {
        refused += 1;
        request.resume();
        response.writeHead(503).end();
        return false;
      };
      const runId = await harness.createRun(worker, "write artifacts/made.txt words");
      await waitFor(() => refused > 6, { what: "the worker to try again", timeoutMs: PROMISE_MS });

      expect((await fetch(`${worker.url}/readyz`)).status).toBe(200);
      expect((await worker.api.call("GET", `/agent/runs/${runId}`)).body).toMatchObject({
        state: "INPROGRESS",
      });
      const other = await harness.createRun(worker, "say hello");
      await harness.waitForRow("SELECT 1 FROM runs WHERE id = $1 AND state = 'INPROGRESS'", other);
      server.interfere = undefined;

      for (const id of [runId, other]) {
        await worker.api.waitForState(id, "SUCCEEDED", PROMISE_MS);
      }
      await check(harness);
    }));

  test("files are moved while the service runs, and a process without their store does not start", () =>
    withFaultHarness(async (harness) => {
      const before = await harness.start();
      const runId = await harness.createRun(before, "write artifacts/made.txt words");
      await before.api.waitForState(runId, "SUCCEEDED", PROMISE_MS);
      await before.end("SIGTERM");
      const worker = await start(harness);

      expect(await moved(harness, "database", server.url)).toMatch(/^[1-9]\d* files moved$/m);
      expect(await artifactOf(harness, worker, runId)).toBe("words\n");
      expect(await harness.rows("SELECT 1 FROM blobs WHERE location IS NULL")).toEqual([]);
      const without = spawnService(harness.newDataDir(), harness.environment());
      await waitFor(() => without.child.exitCode !== null, { what: "the process to end" });
      expect(without.child.exitCode).toBe(1);
      expect(without.output()).toMatch(
        /^Files of runs are in s3:\/\/errand\/blobs\. Set ERRAND_BLOB_URL to that store/m,
      );

      await moved(harness, server.url, "database");
      expect(await artifactOf(harness, worker, runId)).toBe("words\n");
      expect(await harness.rows("SELECT 1 FROM blobs WHERE location IS NOT NULL")).toEqual([]);
      await check(harness);
    }));

  /** What the command prints. */
  async function moved(harness: FaultHarness, from: string, to: string): Promise<string> {
    const env = { ...process.env, ...harness.environment(), ...server.environment() };
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, "move-blobs", from, to], { env });
    return stdout;
  }
});

/** Follows the redirect to the signed link. */
async function artifactOf(harness: FaultHarness, worker: Worker, runId: string): Promise<string> {
  const [artifact] = await harness.rows<{ id: string }>("SELECT id FROM artifacts WHERE run_id = $1", runId);
  const headers = { authorization: `Bearer ${worker.apiKey}` };
  const answer = await fetch(`${worker.url}/api/v1/agent/artifacts/${artifact?.id}/download`, { headers });
  return answer.text();
}
