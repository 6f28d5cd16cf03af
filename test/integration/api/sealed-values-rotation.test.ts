import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../../../src/core/basics/ids.ts";
import { renewalOwner } from "../../../src/core/model/people/sign-in.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { credentialsOwner } from "../../../src/core/ports/stores/app-installations.ts";
import { type SealedValueStore, SecretKeyRotation } from "../../../src/core/upkeep/secret-key-rotation.ts";
import { PrismaAppInstallations } from "../../../src/storage/app-installations.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { Database } from "../../../src/storage/database.ts";
import { PrismaSealedValueStore } from "../../../src/storage/sealed-value-store.ts";
import { NO_JOBS } from "../../support/job-inserts.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const [OLD, NEW] = ["the secret key so far", "the secret key from now on"];
const SESSION = { applicationName: "errand tests", queryLimitMs: 30_000 } as const;
const SERVERS = { wiki: { url: "https://wiki.example/mcp", headers: { authorization: "in the clear" } } };

/** The same installation before its secret key is changed, and in each state after that. */
let before: ApiHarness;
let both: ApiHarness;
let after: ApiHarness;
let database: Database;
let values: SealedValueStore;
beforeAll(async () => {
  before = await startHarness({ secretKeys: [OLD, NEW] });
  both = await startHarness({ sharedWith: before, secretKeys: [NEW, OLD] });
  after = await startHarness({ sharedWith: before, secretKeys: [NEW] });
  database = new Database({ url: before.databaseUrl, maxConnections: 2, log: SILENT_LOG });
  values = new PrismaSealedValueStore(database);
});
afterAll(async () => {
  await database.close();
  await after.close();
  await both.close();
  await before.close();
});

interface SealedEverywhere {
  readonly run: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly webhook: unknown;
}

/** Stores a sealed value in every place that has one. */
async function sealEverywhere(): Promise<SealedEverywhere> {
  const name = randomUUID();
  const write = async (path: string, body: object, options: object = {}) => {
    const answer = await call(before, `/api/v1/agent${path}`, { body, ...options });
    expect([path, answer.status]).toEqual([path, expect.toBeOneOf([200, 201])]);
    return answer;
  };
  const headers = { "idempotency-key": name };
  const webhook = await write("/webhooks", { url: "https://example.com/hook" }, { headers });
  await write(`/secrets/S${name.replaceAll("-", "_")}`, { value: "in the clear" }, { method: "PUT" });
  await write("/mcp-servers", { name, config: SERVERS.wiki });
  const schedule = { name, cron_schedule: "0 0 * * *", prompt: "x", enabled: true };
  await write("/schedules", { ...schedule, agent_config: { mcp_servers: SERVERS } });
  await write("/routing-rules", { name, config: { mcp_servers: SERVERS } });
  await write("/identities", { name, mcp_servers: SERVERS });
  await sealRenewal();
  await sealCredentials();
  await sealSetting();
  const run = await createRun(before, { config: { mcp_servers: SERVERS } });
  return { run, headers, webhook: webhook.body };
}

/** A sign-in that the identity provider must confirm again. */
async function sealRenewal(): Promise<void> {
  const now = before.clock.now();
  const { id: principalId, teamId } = await before.storage.people.ensure(FIRST_TEAM, "oidc:ann", "Ann");
  const id = newId(now);
  const times = { createdAt: now, lastSeenAt: now, expiresAt: new Date(now.getTime() + 3_600_000) };
  await before.storage.signIns.add(
    { id, teamId, principalId, method: "oidc", ...times },
    { tokenHash: randomUUID(), sealedRenewal: before.secrets.seal("in the clear", renewalOwner(id)) },
  );
}

/** The tokens of an app in a workspace that installed it. */
async function sealCredentials(): Promise<void> {
  const address = { adapter: "slack", externalId: randomUUID() };
  const sealed = before.secrets.seal("in the clear", credentialsOwner(address));
  const installations = new PrismaAppInstallations({
    database,
    pubsub: before.pubsub,
    clock: before.clock,
    jobInsert: NO_JOBS,
  });
  expect(await installations.connect({ ...address, sealed }, FIRST_TEAM)).toBe(true);
}

/** A variable of an adapter that the server keeps. */
async function sealSetting(): Promise<void> {
  const { adapterSettings, storage } = before;
  const { id: principalId } = await storage.people.ensure(FIRST_TEAM, "test:operator", "Olga");
  const audit = { actor: { uid: principalId, type: "user" }, teamId: FIRST_TEAM } as const;
  await adapterSettings.put("slack", { SLACK_SIGNING_SECRET: "in the clear" }, { principalId, audit });
}

/** The columns that contain a value under the key of this harness. */
async function columnsUnder({ secrets: { prefix } }: ApiHarness): Promise<readonly string[]> {
  return withConnection(before.databaseUrl, SESSION, async (client) => {
    const { rows } = await client.query<{ table: string; column: string }>(`
      SELECT table_name AS table, column_name AS column FROM information_schema.columns
      JOIN information_schema.tables USING (table_schema, table_name)
      WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND data_type IN ('text', 'json', 'jsonb', 'ARRAY')`);
    const found: string[] = [];
    for (const { column, table } of rows) {
      const result = await client.query(
        `SELECT FROM "${table}" WHERE position($1 IN "${column}"::text) > 0 LIMIT 1`,
        [prefix],
      );
      if (result.rowCount !== 0) {
        found.push(`${table}.${column}`);
      }
    }
    return found.sort();
  });
}

/** Asks the server without the old key. The API key is stored under the new one when it is used with both. */
async function askAfter(path: string, options: object = {}): ReturnType<typeof call> {
  await call(both, "/api/v1/agent/whoami");
  return call(after, path, options);
}

function rotation(store: SealedValueStore = values): SecretKeyRotation {
  return new SecretKeyRotation({ values: store, box: both.secrets, log: SILENT_LOG });
}

test("everything that was sealed under the old secret key is sealed under the new one, and opens without the old", async () => {
  const { headers, run, webhook } = await sealEverywhere();
  const columns = await columnsUnder(before);

  await rotation().round();

  expect(columns.map((column) => column.split(".")[0])).toEqual([...values.tables].sort());
  expect(await columnsUnder(before)).toEqual([]);
  expect(await columnsUnder(after)).toEqual(columns);
  expect(await values.count(after.secrets.prefix)).toBe(0);
  const replay = await askAfter("/api/v1/agent/webhooks", {
    body: { url: "https://example.com/hook" },
    headers,
  });
  expect(replay.body).toEqual(webhook);
  const { rows } = await withConnection(before.databaseUrl, SESSION, (client) =>
    client.query(
      "SELECT config #>> '{mcp_servers,wiki,headers,authorization}' AS value, team_id FROM runs WHERE id = $1",
      [run],
    ),
  );
  const [{ value, team_id: teamId }] = rows;
  expect(after.secrets.open(value.slice("sealed:".length), `mcp-values:${teamId}`)).toBe("in the clear");
});

test("a rotation that was interrupted continues in the next round, and keeps what was written meanwhile", async () => {
  await sealEverywhere();
  let replaced = 0;
  const failing: SealedValueStore = {
    tables: values.tables,
    list: (...query) => values.list(...query),
    count: (prefix) => values.count(prefix),
    async replace(row, content) {
      replaced += 1;
      if (replaced > 2) {
        throw new Error("the process was killed");
      }
      await values.replace(row, content);
    },
  };
  const found = await values.count(both.secrets.prefix);

  await rotation(failing).round();
  const left = await values.count(both.secrets.prefix);
  const [row] = await values.list(both.secrets.prefix, "runs", undefined);
  await rotation().round();
  const done = await columnsUnder(before);
  await values.replace(row ?? expect.fail(), "{}");

  // One value of each table.
  const all = values.tables.length;
  expect([found, left, done]).toEqual([all, all - 2, []]);
  expect((await askAfter(`/api/v1/agent/runs/${row?.id}`)).body.agent_config.mcp_servers).toBeDefined();
});

test("a value whose key is not set stays as it is and is counted", async () => {
  await sealEverywhere();
  const stranger = new SecretKeyRotation({ values, box: after.secrets, log: SILENT_LOG });

  await stranger.round();

  expect(await values.count(after.secrets.prefix)).toBe(values.tables.length);
  await rotation().round();
  expect(await values.count(after.secrets.prefix)).toBe(0);
});
