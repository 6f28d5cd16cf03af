import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, call } from "../api-caller.ts";
import { type ApiHarness, startHarness } from "../api-harness.ts";

const RUNS = "/api/v1/agent/runs";
const SITE = "https://board.example.com";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness({ allowedOrigins: [SITE, "http://localhost:5173"] });
});
afterAll(() => harness.close());

function ask(path: string, origin: string, options: Parameters<typeof call>[2] = {}): Promise<Answer> {
  return call(harness, path, { ...options, headers: { origin, ...options.headers } });
}

function preflight(path: string, origin: string): Promise<Answer> {
  const headers = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type,idempotency-key",
  };
  return ask(path, origin, { method: "OPTIONS", key: null, headers });
}

const allowed = ({ headers }: Answer) => headers.get("access-control-allow-origin");

describe("a script of a listed site", () => {
  test.each([SITE, "http://localhost:5173"])(
    "of %s may ask before a request, without a key",
    async (site) => {
      const { headers, status } = await preflight(RUNS, site);

      expect(status).toBe(204);
      expect(headers.get("access-control-allow-origin")).toBe(site);
      expect(headers.get("access-control-allow-methods")).toMatch(/\bPATCH\b/);
      expect(headers.get("access-control-allow-headers")).toBe("authorization,content-type,idempotency-key");
      expect(headers.get("access-control-allow-credentials")).toBeNull();
    },
  );

  test("reads answers, also errors, and the headers that the clients use", async () => {
    const created = await ask(RUNS, SITE, { method: "POST", body: { prompt: "look" } });
    const missing = await ask(`${RUNS}/nothing`, SITE);
    const unknown = await ask("/api/v1/nothing", SITE);
    const refused = await ask(RUNS, SITE, { key: "errand_wrong" });

    const answers = [created, missing, unknown, refused];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404, 401]);
    expect(answers.map(allowed)).toEqual(Array(4).fill(SITE));
    for (const name of ["ETag", "Errand-Ignored", "retry-after-ms", "X-Request-Id"]) {
      expect(created.headers.get("access-control-expose-headers")).toContain(name);
    }
    expect(created.headers.get("vary")).toContain("Origin");
  });

  test("gets nothing of the pages", async () => {
    expect(allowed(await ask("/signin", SITE, { key: null }))).toBeNull();
  });
});

describe("a script of another site", () => {
  test.each([
    "https://evil.example",
    "https://board.example.com.evil.example",
    "null",
    "http://board.example.com",
  ])("of %s is not allowed anything", async (site) => {
    const before = await preflight(RUNS, site);
    const answer = await ask(RUNS, site);

    expect([before.status, allowed(before)]).toEqual([405, null]);
    expect([answer.status, allowed(answer)]).toEqual([200, null]);
    expect(answer.headers.get("vary")).toContain("Origin");
  });
});

test("OPTIONS that asks for nothing is refused as before, and an unknown address stays unknown", async () => {
  expect((await ask(RUNS, SITE, { method: "OPTIONS" })).status).toBe(405);
  expect((await ask("/api/v1/nothing", SITE)).status).toBe(404);
});

test("without the setting, no site is allowed", async () => {
  const own = await startHarness({ sharedWith: harness });
  const answer = await call(own, RUNS, { headers: { origin: SITE } });
  await own.close();

  expect([allowed(answer), answer.headers.get("vary")?.includes("Origin") ?? false]).toEqual([null, false]);
});
