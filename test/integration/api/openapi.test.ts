import { fastify } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ApiBench, startBench } from "./api-bench.ts";
import { type Answer, call, createRun } from "./api-caller.ts";

let bench: ApiBench;
// biome-ignore lint/suspicious/noExplicitAny: the document is looked into from all sides
let document: any;
beforeAll(async () => {
  bench = await startBench();
  document = (await call(bench, "/api/v1/openapi.json", { key: null })).body;
});
afterAll(() => bench.close());

const NAMES = [
  "RunAgentRequest",
  "RunAgentResponse",
  "ListRunsResponse",
  "RunItem",
  "PageInfo",
  "RunStatusMessage",
  "RunCreatorInfo",
  "RunState",
  "RunSourceType",
  "RunFollowupRequest",
  "AmbientAgentConfig",
  "MCPServerConfig",
  "Error",
];

test("the document names the contract's schemas, each once", () => {
  const names = Object.keys(document.components.schemas);

  expect(document.openapi).toBe("3.1.0");
  expect(names).toEqual(expect.arrayContaining(NAMES));
  expect(names.filter((name) => name.endsWith("Input"))).toEqual([]);
});

test("every reference leads somewhere, and nothing is closed to growth", () => {
  const text = JSON.stringify(document);
  const targets = Array.from(text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g), ([, name]) => name);

  expect(targets.length).toBeGreaterThan(10);
  for (const name of targets) expect(document.components.schemas).toHaveProperty([String(name)]);
  expect(text).not.toContain('"additionalProperties":false');
});

test("every address of runs is in it, with what it reads and its refusals", () => {
  expect(Object.keys(document.paths).sort()).toEqual([
    "/api/v1/agent/run",
    "/api/v1/agent/runs",
    "/api/v1/agent/runs/{runId}",
    "/api/v1/agent/runs/{runId}/cancel",
    "/api/v1/agent/runs/{runId}/events",
    "/api/v1/agent/runs/{runId}/followups",
    "/api/v1/agent/tasks",
    "/api/v1/agent/tasks/{runId}",
    "/api/v1/agent/tasks/{runId}/cancel",
  ]);
  const { parameters, responses } = document.paths["/api/v1/agent/runs"].get;
  const metadata = parameters.find(({ name }: { name: string }) => name === "metadata");
  expect(metadata).toMatchObject({ in: "query", style: "deepObject", explode: true });
  expect(responses["401"].content["application/problem+json"].schema.$ref).toBe("#/components/schemas/Error");
  const headers = document.paths["/api/v1/agent/runs"].post.parameters.map(
    ({ name }: { name: string }) => name,
  );
  expect(headers).toEqual(["Idempotency-Key", "X-Run-Source"]);
});

test("real answers are what the document says, and hold nothing it does not name", async () => {
  const config = {
    mcp_servers: { a: { url: "https://x" } },
    budget: {},
    harness: { type: "codex" },
  };
  const created = await call(bench, "/api/v1/agent/run", {
    body: { prompt: "x", config, metadata: { a: "b" } },
  });
  const child = await createRun(bench, { parent_run_id: created.body.run_id, team: false });
  const runs = "/api/v1/agent/runs";
  await call(bench, `${runs}/${child}/cancel`, { method: "POST" });
  const json = { headers: { accept: "application/json" } };

  const checks: [Answer, string, string, string][] = [
    [created, "/api/v1/agent/run", "post", "200"],
    [await call(bench, `${runs}?limit=1`), runs, "get", "200"],
    [await call(bench, `${runs}/${child}`), `${runs}/{runId}`, "get", "200"],
    [await call(bench, `${runs}/${created.body.run_id}`), `${runs}/{runId}`, "get", "200"],
    [await call(bench, `${runs}/${child}/events`, json), `${runs}/{runId}/events`, "get", "200"],
    [
      await call(bench, `${runs}/${child}/followups`, { body: { message: "x" } }),
      `${runs}/{runId}/followups`,
      "post",
      "200",
    ],
    [
      await call(bench, `${runs}/${child}/cancel`, { method: "POST" }),
      `${runs}/{runId}/cancel`,
      "post",
      "200",
    ],
    [await call(bench, `${runs}/x`), `${runs}/{runId}`, "get", "404"],
    [await call(bench, runs, { body: { title: 1 } }), runs, "post", "400"],
  ];
  for (const [answer, path, method, status] of checks) {
    expect([path, answer.status]).toEqual([path, Number(status)]);
    expect([path, await mismatches(answer, path, method, status)]).toEqual([path, "none"]);
  }
});

/**
 * Checked against the document with every object of named members closed, so that nothing undocumented slips out.
 * Fastify's own validator judges it: our server has another, so the two cannot share a mistake.
 */
async function mismatches({ body }: Answer, path: string, method: string, status: string): Promise<string> {
  const type = status === "200" ? "application/json" : "application/problem+json";
  const { schema } = document.paths[path][method].responses[status].content[type];
  const closed = JSON.parse(JSON.stringify({ ...schema, components: document.components }), close);
  const customOptions = {
    strict: false,
    coerceTypes: false,
    removeAdditional: false,
    useDefaults: false,
  } as const;
  const judge = fastify({ ajv: { customOptions } });
  judge.post("/", { schema: { body: closed } }, async () => "none");
  const headers = { "content-type": "application/json" };
  return (await judge.inject({ method: "POST", url: "/", headers, body: JSON.stringify(body) })).body;
}

function close(_name: string, schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null || !("properties" in schema)) return schema;
  return "additionalProperties" in schema ? schema : { ...schema, additionalProperties: false };
}
