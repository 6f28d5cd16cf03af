import { readFile } from "node:fs/promises";
import { get } from "node:https";
import { resolve } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type ApiHarness, type ApiHarnessOptions, startHarness } from "./api-harness.ts";

const TLS = resolve(import.meta.dirname, "../../fixtures/tls");
let harness: ApiHarness | undefined;

afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

async function start(options: ApiHarnessOptions): Promise<ApiHarness> {
  harness = await startHarness(options);
  return harness;
}

test("a server with a certificate speaks HTTPS and answers no plain HTTP", async () => {
  const [cert, key] = await Promise.all(
    ["cert.pem", "key.pem"].map((name) => readFile(`${TLS}/${name}`, "utf8")),
  );
  const { url } = await start({ tls: { cert: cert ?? "", key: key ?? "" } });

  const status = await new Promise((settle, fail) => {
    get(`${url}/healthz`, { ca: cert }, (answer) => settle(answer.resume().statusCode)).on("error", fail);
  });

  expect(url).toMatch(/^https:/);
  expect(status).toBe(200);
  await expect(fetch(`${url.replace("https", "http")}/healthz`)).rejects.toThrow();
});

test("a server on a free port reports the address on which it listens", async () => {
  let address = "http://127.0.0.1:0";
  const { url } = await start({ publicUrl: () => address });
  address = url;

  const answer = await fetch(`${url}/nowhere`);

  expect(await answer.json()).toMatchObject({ type: `${url}/problems/resource_not_found` });
});

test("a worker answers health checks and has no API, no pages and no webhooks", async () => {
  const { url, key } = await start({
    serves: "health",
    adapterRoutes: [async (app) => void app.post("/webhooks/x", async () => "stored")],
  });
  const headers = { authorization: `Bearer ${key}` };

  const statuses = await Promise.all(
    ["/healthz", "/readyz", "/api/v1/agent/runs", "/", "/signin", "/webhooks/x"].map(async (path) => {
      const method = path.startsWith("/webhooks") ? "POST" : "GET";
      return (await fetch(`${url}${path}`, { method, headers })).status;
    }),
  );

  expect(statuses).toEqual([200, 200, 404, 404, 404, 404]);
});

test("a connection that cannot be accepted leaves the others alone", async () => {
  const { server, url } = await start({});

  server.server.emit("error", new Error("accept EMFILE"));

  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

const CALLERS = ["198.51.100.1", "198.51.100.2", "198.51.100.3"];
const SAME = "203.0.113.9";

test.each([
  { what: "no proxy is trusted", trustProxy: false, chain: (caller: string) => caller, third: 429 },
  { what: "one proxy names its caller", trustProxy: 1, chain: (caller: string) => caller, third: 401 },
  {
    what: "a caller forges more",
    trustProxy: 1,
    chain: (forged: string) => `${forged}, ${SAME}`,
    third: 429,
  },
  { what: "two proxies", trustProxy: 2, chain: (caller: string) => `${caller}, ${SAME}`, third: 401 },
  {
    what: "a caller forges more before two proxies",
    trustProxy: 2,
    chain: (forged: string) => `${forged}, ${SAME}, 10.0.0.1`,
    third: 429,
  },
] as const)(
  "sign-ins are counted by the address that trusted proxies report: $what",
  async ({ trustProxy, chain, third }) => {
    const { url } = await start({ trustProxy, limits: { failedSignIns: 2 } });

    const statuses: number[] = [];
    for (const caller of CALLERS.map(chain)) {
      const answer = await fetch(`${url}/signin`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-forwarded-for": caller },
        body: JSON.stringify({ key: "wrong" }),
      });
      statuses.push(answer.status);
    }

    expect(statuses).toEqual([401, 401, third]);
  },
);
