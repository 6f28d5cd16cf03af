import { createHash } from "node:crypto";
import { fastify } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addOpenapi, openapiRoute } from "../../../src/api/openapi/openapi.ts";
import { referencePage } from "../../../src/api/openapi/reference-page.ts";
import { type Answer, call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

let harness: ApiHarness;
let page: Answer;
beforeAll(async () => {
  harness = await startHarness();
  page = await call(harness, "/docs", { key: null });
});
afterAll(() => harness.close());

function configuration(): Record<string, unknown> {
  const text = /createApiReference\('#app', (\{[\s\S]*\})\)/.exec(page.text)?.[1] ?? "";
  return JSON.parse(text);
}

test("the reference page needs no key, and this server serves everything that it loads", async () => {
  const loaded = Array.from(page.text.matchAll(/(?:src|href)="([^"]*)"/g), ([, address = ""]) => address);
  const script = await call(harness, "/docs/scalar.js", { key: null });

  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(loaded).toEqual(["/docs/scalar.js"]);
  expect([script.status, script.headers.get("content-type")]).toEqual([
    200,
    "text/javascript; charset=utf-8",
  ]);
  expect(script.text).toContain("createApiReference");
});

test("the reference page names no other host, and its script requests nothing from other hosts", () => {
  expect(page.text).not.toMatch(/https?:|\/\/[a-z]/i);
  expect(configuration()).toMatchObject({
    url: "/api/v1/openapi.json",
    telemetry: false,
    withDefaultFonts: false,
    hideClientButton: true,
    agent: { disabled: true },
    mcp: { disabled: true },
  });
  expect(configuration()).not.toHaveProperty("proxyUrl");
});

test("the content policy allows the page its own two scripts and this host alone", () => {
  const policy = page.headers.get("content-security-policy") ?? "";
  const directives = new Map(policy.split(";").map((text) => [text.split(" ")[0], text.split(" ").slice(1)]));
  const inline = /<script type="text\/javascript">([\s\S]*?)<\/script>/.exec(page.text)?.[1] ?? "";
  const hash = createHash("sha256").update(inline).digest("base64");

  expect(directives.get("default-src")).toEqual(["'none'"]);
  expect(directives.get("script-src")).toEqual(["'self'", `'sha256-${hash}'`]);
  expect(directives.get("connect-src")).toEqual(["'self'"]);
  expect(directives.get("frame-ancestors")).toEqual(["'none'"]);
  expect(policy).not.toMatch(/https?:|unsafe-eval|\*/);
});

test("only the reference page has the relaxed content policy", async () => {
  for (const path of ["/signin", "/docs/scalar.js", "/api/v1/openapi.json", "/docs/nowhere"]) {
    const { headers } = await call(harness, path, { key: null });

    expect([path, headers.get("content-security-policy")]).toEqual([
      path,
      expect.not.stringContaining("unsafe"),
    ]);
  }
});

test("the address of the reference page with a slash leads to the page", async () => {
  const { status, headers } = await call(harness, "/docs/", { key: null });

  expect([status, headers.get("location")]).toEqual([302, "/docs"]);
});

test("answers that callers do not read share the bytes of the documents that everybody may read", async () => {
  const app = fastify();
  const payloads: unknown[] = [];
  app.addHook("onSend", async (_request, _reply, payload) => {
    payloads.push(payload);
  });
  await addOpenapi(app);
  await app.register(openapiRoute);
  await app.register(referencePage);
  for (const path of ["/api/v1/openapi.json", "/docs/scalar.js", "/docs"]) {
    payloads.length = 0;

    await app.inject(path);
    await app.inject(path);

    const [first, second] = payloads;
    expect(first, path).toBeInstanceOf(Buffer);
    expect(second, path).toBe(first);
  }
  await app.close();
});
