import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { requireOwnSessions } from "../../../src/storage/pooler.ts";
import { type PgBouncerOptions, reasonToSkipPgBouncer, startPgBouncer } from "../../support/pgbouncer.ts";
import { spawnService } from "../../support/service.ts";
import { type FaultHarness, withFaultHarness } from "./fault-harness.ts";

const skipped = reasonToSkipPgBouncer();
const SCALE = join(import.meta.dirname, "../../../docs/operations/scale.md");
const RUNS = 10;
const READS = 30;

async function withPooler<T>(options: PgBouncerOptions, work: (url: string) => Promise<T>): Promise<T> {
  const pooler = await startPgBouncer(options);
  try {
    return await work(pooler.url);
  } finally {
    await pooler.stop();
  }
}

/** What a service prints that refuses to start. */
async function refusal(harness: FaultHarness, env: Record<string, string>): Promise<string> {
  const { child, output } = spawnService(harness.newDataDir(), { ...harness.environment(), ...env });
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect(code).toBe(1);
  return output();
}

describe.skipIf(skipped !== undefined)(`a pooler${skipped === undefined ? "" : ` (${skipped})`}`, () => {
  test("in transaction mode is refused at the start, as the only and as the direct address", () =>
    withFaultHarness((harness) =>
      withPooler({ databaseUrl: harness.databaseUrl, mode: "transaction" }, async (url) => {
        expect(await refusal(harness, { DATABASE_URL: url })).toMatch(
          /^DATABASE_URL leads through a pooler in transaction mode\. Set DATABASE_DIRECT_URL [^\n]+\n$/m,
        );
        expect(await refusal(harness, { DATABASE_DIRECT_URL: url })).toMatch(
          /^DATABASE_DIRECT_URL leads through a pooler in transaction mode\./m,
        );
      }),
    ));

  test("in session mode has a session for each connection", () =>
    withFaultHarness(({ databaseUrl }) =>
      withPooler({ databaseUrl, mode: "session" }, async (url) => {
        await expect(requireOwnSessions(url, "DATABASE_URL")).resolves.toBeUndefined();
      }),
    ));

  test("in transaction mode serves requests and runs with the settings that a refusal names", () =>
    withFaultHarness(async (harness) => {
      const { databaseUrl } = harness;
      const direct = { DATABASE_DIRECT_URL: databaseUrl };
      const refused = await withPooler({ databaseUrl, mode: "transaction" }, (url) =>
        refusal(harness, { ...direct, DATABASE_URL: url }),
      );
      expect(refused).toMatch(
        /^The pooler of DATABASE_URL gives its sessions another value of [^\n]*jit[^\n]+\n$/m,
      );
      const connectQuery = /SET .+/.exec(refused)?.[0] ?? "";
      expect(await readFile(SCALE, "utf8")).toContain(`connect_query='${connectQuery}'`);
      await withPooler({ databaseUrl, mode: "transaction", connectQuery }, async (url) => {
        const env = { ...direct, DATABASE_URL: url, ERRAND_DATABASE_CONNECTIONS: "10" };
        const [api, worker] = await Promise.all([
          harness.start({ ...env, ERRAND_ROLE: "api" }),
          harness.start({ ...env, ERRAND_ROLE: "worker" }),
        ]);

        const inTurn = async <T>(times: number, send: () => Promise<T>): Promise<T[]> => {
          const answers: T[] = [];
          for (let sent = 0; sent < times; sent += 1) {
            answers.push(await send());
          }
          return answers;
        };
        const [, answers] = await Promise.all([
          inTurn(RUNS, () => harness.createRun(api, "say hello")),
          inTurn(READS, () => api.api.call("GET", "/agent/runs?q=helo")),
        ]);

        expect(answers.map(({ status }) => status)).toEqual(Array(READS).fill(200));
        const found = (await api.api.call("GET", "/agent/runs?q=helo")).body as { runs: unknown[] };
        expect(found.runs).toHaveLength(RUNS);
        const done = "SELECT 1 WHERE (SELECT count(*) FROM runs WHERE state = 'SUCCEEDED') = $1";
        await harness.waitForRow(done, RUNS);
        await harness.check();
        await Promise.all([api.end("SIGTERM"), worker.end("SIGTERM")]);
      });
    }));
});
