import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ERROR_CODES } from "../../../src/core/basics/errors.ts";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const SIX_MONTHS_MS = 183 * 24 * 3_600_000;

describe("deprecated addresses", () => {
  test("every answer of a deprecated address says since when it is deprecated and when it ends", async () => {
    const id = await createRun(harness);
    const old = [
      await call(harness, "/api/v1/agent/tasks"),
      await call(harness, `/api/v1/agent/tasks/${id}`),
      await call(harness, `/api/v1/agent/tasks/${id}/cancel`, { method: "POST" }),
      await call(harness, "/api/v1/agent/tasks/nonsense"),
    ];

    expect(old.map(({ status }) => status)).toEqual([200, 200, 200, 404]);
    for (const { headers } of old) {
      const since = Number(/^@(\d+)$/.exec(headers.get("deprecation") ?? "")?.[1]) * 1_000;
      const until = Date.parse(headers.get("sunset") ?? "");
      expect(until - since).toBeGreaterThan(SIX_MONTHS_MS);
      expect(headers.get("link")).toContain('rel="deprecation"');
    }
  });

  test("other addresses are not announced as deprecated", async () => {
    const { headers } = await call(harness, "/api/v1/agent/runs");

    expect([headers.get("deprecation"), headers.get("sunset")]).toEqual([null, null]);
  });
});

describe("the address of a problem type", () => {
  test("the problem type of a refusal links to a page that explains it", async () => {
    const { body } = await call(harness, "/api/v1/agent/runs?limit=0");
    const path = new URL(body.type).pathname;

    const page = await fetch(new URL(path, harness.url));
    const text = await page.text();

    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(text).toContain(body.title);
    expect(text).toContain("A run that meets it ends as FAILED.");
  });

  test("every error code has a problem page, and no other name has one", async () => {
    const statuses = await Promise.all(
      [...ERROR_CODES, "nonsense"].map(
        async (code) => (await fetch(`${harness.url}/problems/${code}`)).status,
      ),
    );

    expect(statuses).toEqual([...ERROR_CODES.map(() => 200), 404]);
  });
});
