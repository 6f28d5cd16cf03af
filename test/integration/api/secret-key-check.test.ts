import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withConnection } from "../../../src/storage/connection.ts";
import { makeFolder, removeFolder } from "../../support/data-dir.ts";
import { spawnService, startService } from "../../support/service.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";
import { waitFor } from "../../support/wait-for.ts";

const [RIGHT, OTHER] = ["the right key", "another key"].map((name) => name.padEnd(32, "."));
const SESSION = { applicationName: "errand tests", queryLimitMs: 30_000 } as const;

let folder: string;
let database: TestDatabase;
beforeAll(async () => {
  [folder, database] = await Promise.all([makeFolder(), createTestDatabase()]);
});
afterAll(async () => {
  await database.drop();
  await removeFolder(folder);
});

/** Starts, and returns what a refused start printed, or an empty text. */
async function start(env: Record<string, string>, dataDir = join(folder, "data")): Promise<string> {
  const { child, output } = spawnService(dataDir, env);
  const isOver = () => child.exitCode !== null || output().includes('"app.started"');
  await waitFor(isOver, { what: "the start", timeoutMs: 60_000 });
  if (child.exitCode !== null) {
    return output();
  }
  child.kill("SIGTERM");
  await waitFor(() => child.exitCode !== null, { what: "the stop", timeoutMs: 60_000 });
  return "";
}
const withKey = (key: string | undefined, env: Record<string, string> = {}) =>
  start({ DATABASE_URL: database.url, ERRAND_SECRET_KEY: key ?? "", ...env });

test("a start with another secret key than that of the database is refused, unless the key is lost on purpose", async () => {
  expect(await withKey(RIGHT)).toBe("");
  expect(await withKey(RIGHT)).toBe("");

  const refused = await withKey(OTHER);
  const withOld = await withKey(OTHER, { ERRAND_OLD_SECRET_KEYS: RIGHT ?? "" });
  const former = await withKey(RIGHT);
  const lost = await withKey(RIGHT, { ERRAND_SECRET_KEY_LOST: "1" });

  expect(refused).toContain(
    "ERRAND_SECRET_KEY is not the secret key of this database. Put the former key back",
  );
  expect(refused).not.toMatch(/^ +at /m);
  expect(refused).not.toContain(OTHER);
  expect(withOld).toBe("");
  // The check value is sealed under the new key since then.
  expect(former).toContain("is not the secret key of this database");
  expect(lost).toBe("");
  expect(await withKey(RIGHT)).toBe("");
});

test("in a database of a former version, the stored secrets show that the key is another one", async () => {
  const service = await startService(join(folder, "data"), {
    DATABASE_URL: database.url,
    ERRAND_SECRET_KEY: RIGHT ?? "",
    ERRAND_SECRET_KEY_LOST: "1",
    ERRAND_ADMIN_KEY: "the-key-of-the-administrator",
  });
  const stored = await fetch(`${service.url}/api/v1/agent/secrets/TOKEN`, {
    method: "PUT",
    headers: { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ value: "a value" }),
  });
  await service.end("SIGTERM");
  const forget = () =>
    withConnection(database.url, SESSION, (client) => client.query("DELETE FROM secret_key_checks"));

  await forget();
  const refused = await withKey(OTHER);
  await forget();
  const right = await withKey(RIGHT);

  expect(stored.status).toBe(200);
  expect([refused, right]).toEqual([
    expect.stringContaining("ERRAND_SECRET_KEY is not the secret key of this database."),
    "",
  ]);
});

test("the missing file of an existing embedded database is named, and no new key is created", async () => {
  const dataDir = join(folder, "embedded");
  await mkdir(join(dataDir, "postgres"), { recursive: true });

  const outputs = [await start({}, dataDir), await start({}, dataDir)];

  for (const output of outputs) {
    expect(output).toContain(`The file ${join(dataDir, "secret-key")} is missing. Put the former key back`);
    expect(output).toContain("ERRAND_SECRET_KEY_LOST=1");
  }
});
