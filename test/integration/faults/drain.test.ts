import { Agent, get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeFolder, removeFolder } from "../../support/data-dir.ts";
import { startService } from "../../support/service.ts";
import { createTestDatabase, type TestDatabase } from "../../support/test-database.ts";
import { waitFor } from "../../support/wait-for.ts";

const CALLERS = 20;

let folder: string;
let database: TestDatabase;
beforeAll(async () => {
  [folder, database] = await Promise.all([makeFolder(), createTestDatabase()]);
});
afterAll(async () => {
  await database.drop();
  await removeFolder(folder);
});

const start = (drainSeconds: number) =>
  startService(join(folder, "data"), {
    DATABASE_URL: database.url,
    ERRAND_SECRET_KEY: "the secret key of a test, 32 characters and more",
    ERRAND_DRAIN_SECONDS: String(drainSeconds),
  });

function ask(agent: Agent, url: string): Promise<IncomingMessage> {
  const { promise, reject, resolve } = Promise.withResolvers<IncomingMessage>();
  get(url, { agent }, (response) => response.resume().once("end", () => resolve(response))).once(
    "error",
    reject,
  );
  return promise;
}

/** Asks over one connection until a response closes it. Returns how often the connection was used again. */
async function askUntilClosed(url: string): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    for (let uses = 0; ; uses += 1) {
      const { headers, statusCode } = await ask(agent, url);
      expect(statusCode).toBe(200);
      if (headers.connection === "close") {
        return uses;
      }
    }
  } finally {
    agent.destroy();
  }
}

test("a process that stops resets no connection of its callers, and says at once that it is not ready", {
  timeout: 90_000,
}, async () => {
  const service = await start(2);
  const callers = Array.from({ length: CALLERS }, () => askUntilClosed(`${service.url}/healthz`));
  const ready = async () => (await fetch(`${service.url}/readyz`)).status;
  await waitFor(async () => (await ready()) === 200, { what: "the service to be ready" });

  const ended = service.end("SIGTERM");
  await waitFor(async () => (await ready()) === 503, { what: "the service to be not ready" });
  const uses = await Promise.all(callers);

  expect(uses.every((count) => count > 0)).toBe(true);
  expect(await ended).toBe(0);
});

test("a second signal ends a process that drains", { timeout: 90_000 }, async () => {
  const service = await start(8);
  service.signal("SIGTERM");
  await waitFor(async () => (await fetch(`${service.url}/readyz`)).status === 503, { what: "the drain" });
  // A second signal within a second counts as the same request, because npm passes on a Ctrl-C.
  const isOver = () => service.ended().then(() => true);
  const repeat = setInterval(() => service.signal("SIGTERM"), 100);

  await isOver();
  clearInterval(repeat);

  expect(await service.ended()).toBe(1);
});
