import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { withConnection } from "../../../src/storage/connection.ts";
import { makeTemporaryFolder } from "../../support/data-dir.ts";
import { spawnService } from "../../support/service.ts";
import { createEmptyDatabase } from "../../support/test-database.ts";

const SECRET = "canary-of-a-secret-that-is-not-shown-0123456789";

/**
 * Starts the service where it cannot start. Returns its exit code and the lines of its output that are not log lines.
 */
async function startExpectingFailure(env: Record<string, string>, dataDir?: string) {
  const { child, output } = spawnService(dataDir ?? join(await makeTemporaryFolder(), "data"), env);
  onTestFinished(() => void child.kill("SIGKILL"));
  const [exitCode] = await once(child, "close");
  expect(output()).not.toContain(SECRET);
  const lines = output()
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("{"));
  return { exitCode, lines };
}

async function listenSomewhere(): Promise<Server> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new Error("A TCP server has no port");
  }
  return address.port;
}

describe("a failing start prints one line per problem, all of them, and exits with 1", () => {
  test("a start on a used port fails with one line before it touches the database", async () => {
    const port = String(portOf(await listenSomewhere()));
    const database = await createEmptyDatabase();
    onTestFinished(() => database.drop());

    const { exitCode, lines } = await startExpectingFailure({
      DATABASE_URL: database.url,
      ERRAND_SECRET_KEY: SECRET,
      ERRAND_SANDBOX: "local",
      ERRAND_PORT: port,
    });

    expect(lines).toEqual([
      `Cannot listen on 127.0.0.1:${port}: the port is taken. Set ERRAND_PORT to another one.`,
    ]);
    expect(exitCode).toBe(1);
    const session = { applicationName: "test", queryLimitMs: 30_000 };
    const { rows } = await withConnection(database.url, session, (client) =>
      client.query("SELECT to_regclass('_prisma_migrations') AS history"),
    );
    expect(rows).toEqual([{ history: null }]);
  });

  test("a start with several bad variables and partial adapter configurations names each", async () => {
    const { exitCode, lines } = await startExpectingFailure({
      ERRAND_PORT: "a port",
      ERRAND_ROLE: "boss",
      ERRAND_SECRET_KEY: "short",
      SLACK_SIGNING_SECRET: SECRET,
      GITHUB_WEBHOOK_SECRET: SECRET,
    });

    const named = ["ERRAND_PORT", "ERRAND_ROLE", "ERRAND_SECRET_KEY", "SLACK_BOT_TOKEN", "GITHUB_APP_ID"];
    for (const name of named) {
      expect(lines.filter((line) => line.includes(name))).toHaveLength(1);
    }
    expect(lines).toHaveLength(named.length);
    expect(exitCode).toBe(1);
  });

  test("a start with a partial Slack configuration names the missing variable", async () => {
    const { exitCode, lines } = await startExpectingFailure({ SLACK_BOT_TOKEN: `xoxb-${SECRET}` });

    expect(lines).toEqual([
      "SLACK_SIGNING_SECRET is missing: Slack needs SLACK_BOT_TOKEN, or SLACK_CLIENT_ID and SLACK_CLIENT_SECRET; and SLACK_SIGNING_SECRET or SLACK_APP_TOKEN.",
    ]);
    expect(exitCode).toBe(1);
  });

  test("a start with contradictory variables fails", async () => {
    const { exitCode, lines } = await startExpectingFailure({
      ERRAND_ROLE: "worker",
      ERRAND_TLS_CERT: "cert.pem",
    });

    expect(lines.map((line) => line.split(" ")[0])).toEqual(["ERRAND_ROLE=worker", "ERRAND_TLS_CERT"]);
    expect(exitCode).toBe(1);
  });

  test("a start without a reachable database fails with one line", async () => {
    const server = await listenSomewhere();
    const port = portOf(server);
    server.close();
    await once(server, "close");
    const DATABASE_URL = `postgresql://errand:${SECRET}@127.0.0.1:${port}/errand`;

    const { exitCode, lines } = await startExpectingFailure({ DATABASE_URL, ERRAND_SECRET_KEY: SECRET });

    expect(lines).toEqual([
      expect.stringMatching(`^Cannot connect to PostgreSQL at 127.0.0.1:${port}: .*ECONNREFUSED`),
    ]);
    expect(exitCode).toBe(1);
  });

  test("a start whose embedded database is of another major version fails with one line", async () => {
    const dataDir = join(await makeTemporaryFolder(), "data");
    await mkdir(join(dataDir, "postgres"), { recursive: true });
    await writeFile(join(dataDir, "postgres/PG_VERSION"), "9\n");

    const { exitCode, lines } = await startExpectingFailure({ ERRAND_SECRET_KEY: SECRET }, dataDir);

    expect(lines).toEqual([expect.stringMatching(/ made by PostgreSQL 9, .* set DATABASE_URL$/)]);
    expect(exitCode).toBe(1);
  });

  test("a start with a file as data directory fails with one line", async () => {
    const path = join(await makeTemporaryFolder(), "file");
    await writeFile(path, "");

    const { exitCode, lines } = await startExpectingFailure({}, path);

    expect(lines).toEqual([expect.stringContaining(path)]);
    expect(exitCode).toBe(1);
  });
});
