import type { InjectOptions } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AnswerJudge, type OpenapiDocument } from "../../support/openapi-answers.ts";
import {
  type ApiDocument,
  addressOf,
  type Operation,
  operationsOf,
} from "../../support/openapi-operations.ts";
import { countRows } from "../../support/row-counts.ts";
import { type ApiHarness, PUBLIC_URL, startHarness } from "./api-harness.ts";
import { type Seeds, seedExamples } from "./seeds.ts";

let harness: ApiHarness;
let evaluatePolicies: AnswerJudge;
let operations: readonly Operation[];
let seeds: Seeds;
let key: string;
let reader: string;
beforeAll(async () => {
  harness = await startHarness();
  const document = harness.server.swagger();
  evaluatePolicies = new AnswerJudge(document as unknown as OpenapiDocument);
  operations = operationsOf(document as unknown as ApiDocument);
  seeds = await seedExamples(harness, document as unknown as ApiDocument);
  key = harness.key;
  reader = await harness.addUser("reader", { scopes: ["runs:read"] });
});
afterAll(() => harness.close());

interface Said {
  readonly what: string;
  readonly status: number;
  /** Empty: it is as it must be. */
  readonly faults: readonly string[];
}

/** What would tell of the inside: a query, and a stack, a file, a library. */
const SQL = /\b(SELECT|INSERT INTO|FROM|WHERE)\b/;
const INSIDE = /\n\s+at |node_modules|\.ts[:"]|prisma|postgres|pg-boss|zod|\/src\//i;
const NOWHERE = "00000000-0000-7000-8000-000000000000";

/** Asks the server itself, without the network between: there are thousands. */
async function ask({ method, path }: Operation, address: string, options: InjectOptions = {}): Promise<Said> {
  const headers = { authorization: `Bearer ${key}`, accept: "application/json", ...options.headers };
  const url = `${addressOf(address, () => NOWHERE)}`;
  const answer = await harness.server.inject({ ...options, method: method as "GET", url, headers });
  const what = `${method} ${path} as ${url.slice(0, 120)} ${String(options.payload ?? "").slice(0, 80)}`;
  return { what, status: answer.statusCode, faults: faultsOf(method, url, answer) };
}

type Answer = Awaited<ReturnType<ApiHarness["server"]["inject"]>>;

function faultsOf(method: string, path: string, answer: Answer): string[] {
  const { statusCode: status, headers, body: text } = answer;
  const contentType = String(headers["content-type"] ?? "");
  const faults: string[] = [];
  if (status >= 500) faults.push(`is a ${status}: ${text.slice(0, 300)}`);
  if (contentType.includes("json")) {
    const mismatch = evaluatePolicies.mismatch({ method, path, status, contentType, body: JSON.parse(text) });
    if (mismatch !== undefined) faults.push(mismatch);
  }
  return status < 400 ? faults : [...faults, ...problemFaults(answer, contentType)];
}

function problemFaults({ statusCode, headers, body: text }: Answer, contentType: string): string[] {
  if (!contentType.startsWith("application/problem+json")) return [`the refusal is ${contentType}`];
  const problem = JSON.parse(text);
  const words = JSON.stringify({ ...problem, instance: "", issues: [] });
  const checks: [string, boolean][] = [
    ["its type does not end with its code", problem.type !== `${PUBLIC_URL}/problems/${problem.code}`],
    ["its status is another", problem.status !== statusCode],
    ["it has no request id", !problem.trace_id || problem.trace_id !== headers["x-request-id"]],
    ["it does not say whether to repeat", headers["x-should-retry"] !== String(problem.retryable)],
    ["it says no remedy", !problem.remedy],
    ["it tells of the inside", SQL.test(words) || INSIDE.test(words)],
  ];
  return checks.filter(([, isWrong]) => isWrong).map(([fault]) => `${fault}: ${text.slice(0, 300)}`);
}

function faults(said: readonly Said[]): string[] {
  return said.flatMap(({ what, faults: found }) => found.map((fault) => `${what} → ${fault}`)).slice(0, 20);
}

async function askAll(asked: readonly (() => Promise<Said>)[]): Promise<Said[]> {
  const said: Said[] = [];
  for (let from = 0; from < asked.length; from += 8) {
    said.push(...(await Promise.all(asked.slice(from, from + 8).map((one) => one()))));
  }
  return said;
}

test("no route opens without a valid key, unless it says that it is public", async () => {
  const keys = [
    { authorization: "" },
    { authorization: "Bearer errand_wrong" },
    { authorization: "Basic eDp5" },
  ];
  const secured = operations.filter(({ isPublic }) => !isPublic);

  const said = await askAll(
    secured.flatMap((operation) => keys.map((headers) => () => ask(operation, operation.path, { headers }))),
  );

  expect(faults(said)).toEqual([]);
  expect(said.filter(({ status }) => status !== 401).map(({ what }) => what)).toEqual([]);
});

test("a key that may only read runs writes nothing, wherever it tries", async () => {
  const headers = { authorization: `Bearer ${reader}` };
  const before = await countRows(harness.databaseUrl);
  const writes = operations.filter(({ method, isPublic }) => method !== "GET" && !isPublic);

  const said = await askAll(
    writes.map((operation) => () => ask(operation, operation.path, { headers, payload: {} })),
  );

  expect(faults(said)).toEqual([]);
  expect(said.filter(({ status }) => status !== 403).map(({ what, status }) => `${what}: ${status}`)).toEqual(
    [],
  );
  expect(await countRows(harness.databaseUrl)).toEqual(before);
});

const IDS = ["x", "-1", "null", "%00", "%2e%2e%2f", "%27%3B--", "%F0%9F%98%80", "%ff", "a".repeat(101), " "];

test("an id that is none is refused in the one shape", async () => {
  const withIds = operations.filter(({ path }) => path.includes("{"));

  const said = await askAll(
    withIds.flatMap((operation) =>
      IDS.map(
        (id) => () =>
          ask(
            operation,
            addressOf(operation.path, () => id),
            bodyFor(operation),
          ),
      ),
    ),
  );

  expect(faults(said)).toEqual([]);
});

test("an id that is left out is nobody's", async () => {
  // What is public tells strangers nothing of what is not there.
  const reads = operations.filter(
    ({ isPublic, method, path }) => !isPublic && method === "GET" && path.includes("{"),
  );

  const said = await askAll(
    reads.map(
      (operation) => () =>
        ask(
          operation,
          addressOf(operation.path, () => ""),
        ),
    ),
  );

  expect(faults(said)).toEqual([]);
  expect(said.filter(({ status }) => status !== 404).map(({ what, status }) => `${what}: ${status}`)).toEqual(
    [],
  );
});

const VALUES = ["", "abc", "-1", "%00%ff", "9".repeat(400)];

function oddQueries({ query }: Operation): string[] {
  const odd = query.flatMap((name) => [
    ...VALUES.map((value) => `${name}=${value}`),
    `${name}=1&${name}=2`,
    `${name}[a]=1&${name}[b]=2`,
  ]);
  return [...odd, "unknown=%00&unknown[a]=1&__proto__=x"];
}

test("a query that makes no sense is refused in the one shape, or ignored", async () => {
  const reads = operations.filter(({ method }) => method === "GET");

  const said = await askAll(
    reads.flatMap((operation) =>
      oddQueries(operation).map((query) => () => ask(operation, `${realPath(operation)}?${query}`)),
    ),
  );

  expect(faults(said)).toEqual([]);
});

/** But `null`, which is as good as none where a body is optional. */
const BODIES = [
  "{",
  "[]",
  '"text"',
  "7",
  "[".repeat(10_000),
  `${'{"config":'.repeat(2_000)}`,
  '{"__proto__":{"a":1}}',
  '{"a":"\\ud800"}',
  '{"name":"\\u0000","prompt":"\\u0000","message":"\\u0000"}',
];
const TYPES = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "a"];

describe("a body that is none", () => {
  test("is refused in the one shape, and stores nothing", async () => {
    const before = await countRows(harness.databaseUrl);
    const writes = operations.filter(({ body }) => body !== undefined);
    const json = { "content-type": "application/json" };

    const said = await askAll(
      writes.flatMap((operation) => [
        ...BODIES.map((payload) => () => ask(operation, realPath(operation), { payload, headers: json })),
        ...TYPES.map(
          (type) => () =>
            ask(operation, realPath(operation), { payload: "a=b", headers: { "content-type": type } }),
        ),
      ]),
    );

    expect(faults(said)).toEqual([]);
    expect(said.filter(({ status }) => status < 400).map(({ what, status }) => `${what}: ${status}`)).toEqual(
      [],
    );
    expect(await countRows(harness.databaseUrl)).toEqual(before);
  });
});

function bodyFor({ body }: Operation): InjectOptions {
  return body === undefined ? {} : { payload: {} };
}

/** Of what there is, so that more than the id is looked at. */
function realPath({ path }: Operation): string {
  return seeds.fill(path);
}
