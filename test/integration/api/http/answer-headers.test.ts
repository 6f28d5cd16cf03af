import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call } from "../api-caller.ts";
import { type AuthorizationHarness, startAuthorizationHarness } from "../authorization-harness.ts";
import { ROUTES } from "../authorization-table.ts";

const API = "/api/v1/agent";

let harness: AuthorizationHarness;
beforeAll(async () => {
  harness = await startAuthorizationHarness();
});
afterAll(() => harness.close());

const ask = (path: string, options: Parameters<typeof call>[2] = {}) =>
  call(harness.harness, path, { key: harness.operator.key, ...options });

test("each answer names the version of the server", async () => {
  const manifest = JSON.parse(
    await readFile(resolve(import.meta.dirname, "../../../../package.json"), "utf8"),
  );
  const answers = [await ask("/healthz"), await ask(`${API}/whoami`), await ask(`${API}/nothing`)];

  expect(answers.map(({ headers }) => headers.get("errand-version"))).toEqual(
    Array(3).fill(manifest.version),
  );
});

describe("a new resource", () => {
  const made = Object.entries(ROUTES).flatMap(([name, rule]) =>
    name.startsWith("POST") && typeof rule === "object" ? [{ name, rule }] : [],
  );

  test("each answer 201 names the address of what was made", async () => {
    const found: [string, number][] = [];
    for (const { name, rule } of made) {
      const address = rule.address ?? name.split(" ")[1] ?? "";
      const path = `/api/v1${await harness.objects.fill(address, harness.operator)}`;
      const { body, headers, status } = await ask(path, { body: rule.body?.(harness.operator.uid) ?? {} });
      if (status === 201) {
        const location = headers.get("location") ?? "";
        expect(location, name).toMatch(new RegExp(`^/api/v1/agent/.+/${body.uid ?? body.id}$`));
        found.push([name, (await ask(location)).status]);
      }
    }

    // Links have no address of their own for reading.
    const unread = found.filter(([, status]) => status !== 200).map(([name]) => name);
    expect(found.length).toBeGreaterThan(9);
    expect(unread.sort()).toEqual(["POST /agent/identity-links", "POST /agent/runs/:runId/share-links"]);
  });
});

describe("a fixed path beside one with a parameter", () => {
  test.each([
    ["GET", "/keys/exchange", "POST"],
    ["PATCH", "/keys/exchange", "POST"],
    ["GET", "/runs/cancel", "POST"],
    ["DELETE", "/policies/evaluate", "POST"],
    ["PUT", "/installations/guides", "GET, HEAD"],
    ["OPTIONS", "/runs", "GET, HEAD, POST"],
  ])("%s %s is 405, and Allow names its own methods", async (method, path, allow) => {
    const { body, headers, status } = await ask(`${API}${path}`, { method });

    expect([status, headers.get("allow"), body.code]).toEqual([405, allow, "operation_not_supported"]);
  });
});

describe("a body of another type", () => {
  test.each([
    ["POST", "/runs", "accept-post"],
    ["PATCH", "/runs/00000000-0000-7000-8000-000000000000", "accept-patch"],
  ])("%s %s is 415 and names the type that is read", async (method, path, header) => {
    const types = ["text/plain", "application/merge-patch+json"];
    const answers = await Promise.all(
      types.map((type) => ask(`${API}${path}`, { method, body: "{}", headers: { "content-type": type } })),
    );

    expect(answers.map(({ headers, status }) => [status, headers.get(header)])).toEqual(
      Array(2).fill([415, "application/json"]),
    );
  });
});

describe("an invalid member", () => {
  test("its JSON Pointer leads into the body, whatever its name", async () => {
    const body = {
      prompt: "x",
      title: "x".repeat(400),
      config: { harness: { type: 1 }, mcp_servers: { "a.b/c~d": { command: 1 } } },
    };
    const { issues } = (await ask(`${API}/runs`, { body })).body;
    const late = (await ask(`${API}/runs`, { body: { prompt: "x", title: "x".repeat(400) } })).body.issues;

    expect(issues.map(({ pointer }: { pointer: string }) => pointer)).toEqual(
      expect.arrayContaining(["/config/harness/type", "/config/mcp_servers/a.b~1c~0d/command"]),
    );
    expect(late[0]).toMatchObject({ path: "title", pointer: "/title" });
  });

  test("what is wrong outside of the body has no pointer", async () => {
    const { issues } = (await ask(`${API}/runs?limit=0`)).body;
    const header = await ask(`${API}/runs`, { body: { prompt: "x" }, headers: { "idempotency-key": "é" } });

    expect(issues[0]).toEqual({ path: "limit", message: expect.any(String) });
    expect(header.body.issues[0]).toEqual({ path: "Idempotency-Key", message: expect.any(String) });
  });
});
