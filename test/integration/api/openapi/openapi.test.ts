import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AnswerJudge } from "../../../support/openapi-answers.ts";
import { type Answer, call, createRun } from "../api-caller.ts";
import { type ApiHarness, startHarness } from "../api-harness.ts";

let harness: ApiHarness;
// biome-ignore lint/suspicious/noExplicitAny: the test reads all parts of the document
let document: any;
beforeAll(async () => {
  harness = await startHarness();
  document = (await call(harness, "/api/v1/openapi.json", { key: null })).body;
});
afterAll(() => harness.close());

const ID = "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e";
const PROBLEM = { contentType: "application/problem+json" };
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

test("the document has each schema name that public clients export, once", () => {
  const names = Object.keys(document.components.schemas);

  expect(document.openapi).toBe("3.1.0");
  expect(names).toEqual(expect.arrayContaining(NAMES));
  expect(names.filter((name) => name.endsWith("Input"))).toEqual([]);
});

test("every reference of the document resolves, and no schema forbids additional members", () => {
  const text = JSON.stringify(document);
  const targets = Array.from(text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g), ([, name]) => name);

  expect(targets.length).toBeGreaterThan(10);
  for (const name of targets) {
    expect(document.components.schemas).toHaveProperty([String(name)]);
  }
  expect(text).not.toContain('"additionalProperties":false');
});

/** Headers that only some answers have. */
const DOCUMENTED_HEADERS = ["location", "www-authenticate", "deprecation", "sunset", "link"];

test("the document describes every address of runs with its parameters and refusals", () => {
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining([
      "/api/v1/agent/run",
      "/api/v1/agent/runs",
      "/api/v1/agent/runs/{runId}",
      "/api/v1/agent/runs/{runId}/cancel",
      "/api/v1/agent/runs/{runId}/events",
      "/api/v1/agent/runs/{runId}/followups",
      "/api/v1/agent/tasks",
      "/api/v1/agent/tasks/{runId}",
      "/api/v1/agent/tasks/{runId}/cancel",
    ]),
  );
  const { parameters, responses } = document.paths["/api/v1/agent/runs"].get;
  const metadata = parameters.find(({ name }: { name: string }) => name === "metadata");
  expect(metadata).toMatchObject({ in: "query", style: "deepObject", explode: true });
  expect(responses["401"]).toEqual({ $ref: "#/components/responses/Problem401" });
  const headers = document.paths["/api/v1/agent/runs"].post.parameters.map(
    ({ name }: { name: string }) => name,
  );
  expect(headers).toEqual(["Idempotency-Key", "X-Run-Source", "X-Request-Id"]);
});

test("the document names the headers of real answers", async () => {
  const id = await createRun(harness);
  const runs = "/api/v1/agent/runs";
  const requests: [string, string, Answer][] = [
    [`${runs}/{runId}/transcript`, "302", await call(harness, `${runs}/${id}/transcript`)],
    [runs, "401", await call(harness, runs, { key: null })],
    ["/api/v1/agent/tasks", "200", await call(harness, "/api/v1/agent/tasks")],
  ];

  const named = requests.map(([path, status]) => {
    const answer = document.paths[path].get.responses[status];
    const { headers } = answer.$ref ? document.components.responses[answer.$ref.split("/").at(-1)] : answer;
    return Object.keys(headers).map((name) => name.toLowerCase());
  });
  const lacking = requests.map(([, , { headers }], index) =>
    DOCUMENTED_HEADERS.filter((name) => headers.has(name) !== named[index]?.includes(name)),
  );

  expect(requests.map(([, , { status }]) => String(status))).toEqual(["302", "401", "200"]);
  expect(lacking).toEqual([[], [], []]);
});

test("the document requires a body exactly where one is needed", async () => {
  const body = (path: string) => document.paths[`/api/v1/agent/${path}`].post.requestBody.required;

  expect(["runs", "webhooks", "keys"].map(body)).toEqual([true, true, true]);
  expect(
    ["runs/{runId}/share-links", "keys/{keyId}/rotate", "webhooks/{webhookId}/rotate-secret"].map(body),
  ).toEqual([false, false, false]);
});

test("real answers match the document and contain nothing that it does not name", async () => {
  const judge = new AnswerJudge(document);
  const config = { mcp_servers: { a: { url: "https://x" } }, budget: {}, harness: { type: "codex" } };
  const created = await call(harness, "/api/v1/agent/run", {
    body: { prompt: "x", config, metadata: { a: "b" } },
  });
  const child = await createRun(harness, { parent_run_id: created.body.run_id, team: false });
  const path = `/api/v1/agent/runs/${child}`;
  const json = { headers: { accept: "application/json" } };

  const answers: [string, string, Answer][] = [
    ["POST", "/api/v1/agent/run", created],
    ["POST", `${path}/cancel`, await call(harness, `${path}/cancel`, { method: "POST" })],
    ["GET", path, await call(harness, path)],
    ["GET", `${path}/events`, await call(harness, `${path}/events`, json)],
    ["GET", "/api/v1/agent/runs/x", await call(harness, "/api/v1/agent/runs/x")],
    ["POST", "/api/v1/agent/runs", await call(harness, "/api/v1/agent/runs", { body: { title: 1 } })],
  ];
  const mismatches = answers.map(([method, address, { status, headers, body }]) => {
    const contentType = headers.get("content-type") ?? "";
    return judge.mismatch({ method, path: address, status, contentType, body });
  });

  expect(answers.map(([, , { status }]) => status)).toEqual([200, 200, 200, 200, 404, 400]);
  expect(mismatches).toEqual(answers.map(() => undefined));
});

describe("the judge that compares answers with the document", () => {
  const RUN = { run_id: ID, task_id: ID, state: "QUEUED" };
  const answerBase = {
    method: "POST",
    path: "/api/v1/agent/runs",
    status: 200,
    contentType: "application/json",
  };

  test.each([
    ["a member that is not named", { ...answerBase, body: { ...RUN, secret: 1 } }, "additional properties"],
    ["a member that is missing", { ...answerBase, body: { run_id: ID, task_id: ID } }, "state"],
    ["a value of no state", { ...answerBase, body: { ...RUN, state: "DONE" } }, "allowed values"],
    ["an id that is none", { ...answerBase, body: { ...RUN, run_id: "x" } }, "uuid"],
    ["a status that is not named", { ...answerBase, status: 201, body: RUN }, "status"],
    [
      "another content type",
      { ...answerBase, contentType: "application/problem+json", body: RUN },
      "content type",
    ],
    ["a refusal of another shape", { ...answerBase, status: 400, ...PROBLEM, body: { error: "no" } }, "type"],
    ["an answer of no operation", { ...answerBase, path: "/api/v1/agent/secret", body: RUN }, "operation"],
  ])("the judge finds %s", (_what, answer, reason) => {
    expect(new AnswerJudge(document).mismatch(answer)).toContain(reason);
  });

  test("the judge accepts an answer that matches the document", () => {
    expect(new AnswerJudge(document).mismatch({ ...answerBase, body: RUN })).toBeUndefined();
  });
});
