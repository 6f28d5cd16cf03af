import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { reasonToSkipS3, S3_KEY, S3Server } from "../../support/s3-server.ts";
import { spawnService } from "../../support/service.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type FaultHarness, withFaultHarness } from "./fault-harness.ts";

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

  test("a process without the store of stored files does not start", () =>
    withFaultHarness(async (harness) => {
      const worker = await start(harness);
      const runId = await harness.createRun(worker, "write artifacts/made.txt words");
      await worker.api.waitForState(runId, "SUCCEEDED", PROMISE_MS);
      await worker.end("SIGTERM");

      const without = spawnService(harness.newDataDir(), harness.environment());
      await waitFor(() => without.child.exitCode !== null, { what: "the process to end" });

      expect(without.child.exitCode).toBe(1);
      expect(without.output()).toMatch(
        /^Files of runs are in s3:\/\/errand\/blobs\. Set ERRAND_BLOB_URL to that store/m,
      );
    }));
});
