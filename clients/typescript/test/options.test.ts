import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { type ApiHarness, startHarness } from "../../../test/integration/api/api-harness.ts";
import packageJson from "../package.json" with { type: "json" };
import { Errand, VERSION } from "../src/index.ts";
import { FaultyProxy } from "./faulty-proxy.ts";
import { pausingClient } from "./pausing-client.ts";

let harness: ApiHarness;
let proxy: FaultyProxy;
beforeAll(async () => {
  harness = await startHarness();
  proxy = await FaultyProxy.start(harness.url);
});
afterAll(async () => {
  await proxy.stop();
  await harness.close();
});
afterEach(() => {
  proxy.seen.length = 0;
});

const options = () => ({ baseUrl: proxy.url, apiKey: harness.key });

/** What is written to standard error while a write fails twice and then succeeds. */
async function logOf(level?: "off" | "info" | "debug"): Promise<string> {
  const write = vi.spyOn(console, "error").mockReturnValue();
  onTestFinished(() => write.mockRestore());
  const { client } = pausingClient({ ...options(), logLevel: level });
  proxy.faults.push({ kind: "answer", status: 503, headers: {} }, { kind: "drop" });
  await client.runs.create(
    { prompt: "say secret-body" },
    { query: { q: "secret-query" }, headers: { "x-a": "secret-h" } },
  );
  await client.get("/agent/runs?q=secret-query");
  return write.mock.calls.flat().join("\n");
}

test.each(["off", "info", "debug", undefined] as const)(
  "the log of level %s contains no secret",
  async (level) => {
    const lines = await logOf(level);

    const isOn = level === "info" || level === "debug";
    const write = "[errand] POST /agent/runs";
    expect(lines.includes(`${write} failed: status 503, retry in `)).toBe(isOn);
    expect(lines.includes(`${write} failed: APIConnectionError, retry in `)).toBe(isOn);
    expect(lines.includes(`${write}: status 200, request `)).toBe(isOn);
    expect(lines.includes(`${write} (retry 2)`)).toBe(level === "debug");
    expect(lines).not.toMatch(/secret/);
    expect(lines).not.toContain(harness.key);
    expect(lines === "").toBe(!isOn);
  },
);

test("the variable ERRAND_LOG chooses the level", async () => {
  vi.stubEnv("ERRAND_LOG", "info");
  onTestFinished(() => void vi.unstubAllEnvs());

  expect(await logOf()).toContain("[errand] GET /agent/runs: status 200, request ");
});

test("a client with other options keeps the rest", async () => {
  const client = new Errand({ ...options(), defaultHeaders: { "x-one": "1" } });

  const other = client.withOptions({ defaultHeaders: { "x-two": "2" } });
  await other.whoami();
  await client.runs.list().asResponse();

  expect(other).toBeInstanceOf(Errand);
  expect(proxy.seen.map(({ headers }) => [headers["x-one"], headers["x-two"]])).toEqual([
    [undefined, "2"],
    ["1", undefined],
  ]);
});

test("requests name the client and its version", async () => {
  await new Errand(options()).whoami();
  await new Errand({ ...options(), defaultHeaders: { "User-Agent": "mine/1" } }).whoami();

  expect(VERSION).toBe(packageJson.version);
  expect(proxy.seen.map(({ headers }) => headers["user-agent"])).toEqual([
    `errand-js/${VERSION} node/${process.versions.node}`,
    "mine/1",
  ]);
});

test.each<[string, (client: Errand) => PromiseLike<unknown>]>([
  ["a method", (client) => client.whoami({ timeout: 5 } as object)],
  ["a write", (client) => client.runs.create({ prompt: "x" }, { timeout: 5 } as object)],
  ["a list", (client) => client.runs.list({}, { timeout: 5 } as object)],
  ["live events", (client) => client.runs.events("x", {}, { timeout: 5 } as object).next()],
  ["a call without a method", (client) => client.get("/agent/whoami", { timeout: 5 } as object)],
])("an unknown option of %s is refused before anything is sent", async (_name, call) => {
  const client = new Errand(options());

  await expect((async () => await call(client))()).rejects.toThrow(
    /^Unknown options: timeout\. Options: .*timeoutMs/,
  );
  expect(proxy.seen).toEqual([]);
});

test("the options of a wait and of live events are known to the requests beside the stream", async () => {
  const client = new Errand(options());
  const stream = {
    silenceMs: 60_000,
    maxReconnects: 3,
    onConnectionChange: () => undefined,
    headers: { "x-a": "1" },
  };
  const { run_id } = await client.runs.create({ prompt: "say hello" });
  proxy.seen.length = 0;
  await client.runs.cancel(run_id);

  const run = await client.runs.waitForCompletion(run_id, { ...stream, untilBlocked: true });
  const finished = await client.runs.stream(run_id, {}, stream).finished();

  expect([run.state, finished.state]).toEqual(["CANCELLED", "CANCELLED"]);
  expect(proxy.seen.slice(1).every(({ headers }) => headers["x-a"] === "1")).toBe(true);
  await expect(client.runs.waitForCompletion(run_id, { timeout: 5 } as object)).rejects.toThrow(
    "Unknown options: timeout.",
  );
});

test("an unknown option of the client is refused", () => {
  expect(() => new Errand({ ...options(), timeout: 5 } as object)).toThrow(/^Unknown options: timeout\./);
  expect(() => new Errand(options()).withOptions({ apikey: "x" } as object)).toThrow(
    /^Unknown options: apikey\./,
  );
});
