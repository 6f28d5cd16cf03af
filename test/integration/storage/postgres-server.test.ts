import { expect, onTestFinished, test } from "vitest";
import { withConnection } from "../../../src/storage/connection.ts";
import { startPostgresServer } from "../../support/postgres-server.ts";

const SESSION = { applicationName: "test", queryLimitMs: 10_000 } as const;

async function query(url: string, sql: string): Promise<unknown[]> {
  return withConnection(url, SESSION, async (client) => (await client.query(sql)).rows);
}

test("a private test server keeps its address and commits after a restart and a kill -9", async () => {
  const server = await startPostgresServer();
  onTestFinished(() => server.stop());
  await query(server.url, "CREATE TABLE kept AS SELECT 1 AS round");

  await server.restart();
  await query(server.url, "INSERT INTO kept VALUES (2)");
  await server.kill9();
  await expect(query(server.url, "SELECT 1")).rejects.toThrow("ECONNREFUSED");
  await server.restart();

  expect(await query(server.url, "SELECT round FROM kept ORDER BY 1")).toEqual([{ round: 1 }, { round: 2 }]);
});
