import type { InjectOptions } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AnswerJudge, jsonBody, type OpenapiDocument } from "../../support/openapi-answers.ts";
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
let judge: AnswerJudge;
let operations: readonly Operation[];
let seeds: Seeds;
let key: string;
let reader: string;
beforeAll(async () => {
  harness = await startHarness();
  const document = harness.server.swagger();
  judge = new AnswerJudge(document as unknown as OpenapiDocument);
  operations = operationsOf(document as unknown as ApiDocument);
  seeds = await seedExamples(harness, document as unknown as ApiDocument);
  key = harness.key;
  reader = await harness.addUser("reader", { scopes: ["runs:read"] });
});
afterAll(() => harness.close());

interface RouteAnswer {
  readonly what: string;
  readonly status: number;
  /** The problems of the answer. An empty list means that it is correct. */
  readonly faults: readonly string[];
}

/** Patterns that reveal internals: a query, a stack, a file or a library. */
const SQL = /\b(SELECT|INSERT INTO|FROM|WHERE)\b/;
const INSIDE =
  /Invalid (input|option)|Unrecognized key|Too (small|big)|\n\s+at |node_modules|\.ts[:"]|prisma|postgres|pg-boss|zod|\/src\//i;
const NOWHERE = "00000000-0000-7000-8000-000000000000";

/** Sends a request to the server without the network, because there are thousands. */
async function ask(
  { method, path }: Operation,
  address: string,
  options: InjectOptions = {},
): Promise<RouteAnswer> {
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
  if (status >= 500) {
    faults.push(`is a ${status}: ${text.slice(0, 300)}`);
  }
  const body = jsonBody(contentType, text);
  const mismatch = judge.mismatch({ method, path, status, contentType, body });
  if (mismatch !== undefined) {
    faults.push(mismatch);
  }
  return status < 400 ? faults : [...faults, ...problemFaults(answer, contentType)];
}

function problemFaults({ statusCode, headers, body: text }: Answer, contentType: string): string[] {
  if (!contentType.startsWith("application/problem+json")) {
    return [`the refusal is ${contentType}`];
  }
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

function faults(answers: readonly RouteAnswer[]): string[] {
  return answers
    .flatMap(({ what, faults: found }) => found.map((fault) => `${what} → ${fault}`))
    .slice(0, 20);
}

async function askAll(requests: readonly (() => Promise<RouteAnswer>)[]): Promise<RouteAnswer[]> {
  const answers: RouteAnswer[] = [];
  for (let from = 0; from < requests.length; from += 8) {
    answers.push(...(await Promise.all(requests.slice(from, from + 8).map((one) => one()))));
  }
  return answers;
}

test("no route opens without a valid key unless it is declared public", async () => {
  const keys = [
    { authorization: "" },
    { authorization: "Bearer errand_wrong" },
    { authorization: "Basic eDp5" },
  ];
  const secured = operations.filter(({ isPublic }) => !isPublic);

  const answers = await askAll(
    secured.flatMap((operation) => keys.map((headers) => () => ask(operation, operation.path, { headers }))),
  );

  expect(faults(answers)).toEqual([]);
  expect(answers.filter(({ status }) => status !== 401).map(({ what }) => what)).toEqual([]);
});

test("a key that may only read runs cannot write on any route", async () => {
  const headers = { authorization: `Bearer ${reader}` };
  const before = await countRows(harness.databaseUrl);
  const writes = operations.filter(({ method, isPublic }) => method !== "GET" && !isPublic);

  const answers = await askAll(
    writes.map((operation) => () => ask(operation, operation.path, { headers, payload: {} })),
  );

  expect(faults(answers)).toEqual([]);
  expect(
    answers.filter(({ status }) => status !== 403).map(({ what, status }) => `${what}: ${status}`),
  ).toEqual([]);
  expect(await countRows(harness.databaseUrl)).toEqual(before);
});

const IDS = ["x", "-1", "null", "%00", "%2e%2e%2f", "%27%3B--", "%F0%9F%98%80", "%ff", "a".repeat(101), " "];

test("a malformed id is refused as a problem document", async () => {
  const withIds = operations.filter(({ path }) => path.includes("{"));

  const answers = await askAll(
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

  expect(faults(answers)).toEqual([]);
});

test("an empty id is not found", async () => {
  // Public routes are left out, because they do not reveal whether an object exists.
  const reads = operations.filter(
    ({ isPublic, method, path }) => !isPublic && method === "GET" && path.includes("{"),
  );

  const answers = await askAll(
    reads.map(
      (operation) => () =>
        ask(
          operation,
          addressOf(operation.path, () => ""),
        ),
    ),
  );

  expect(faults(answers)).toEqual([]);
  expect(
    answers.filter(({ status }) => status !== 404).map(({ what, status }) => `${what}: ${status}`),
  ).toEqual([]);
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

test("a malformed query is refused as a problem document or ignored", async () => {
  const reads = operations.filter(({ method }) => method === "GET");

  const answers = await askAll(
    reads.flatMap((operation) =>
      oddQueries(operation).map((query) => () => ask(operation, `${realPath(operation)}?${query}`)),
    ),
  );

  expect(faults(answers)).toEqual([]);
});

/** `null` is left out, because it is valid where a body is optional. */
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

describe("a malformed body", () => {
  test("a malformed body is refused as a problem document and stores nothing", async () => {
    const before = await countRows(harness.databaseUrl);
    const writes = operations.filter(({ body }) => body !== undefined);
    const json = { "content-type": "application/json" };

    const answers = await askAll(
      writes.flatMap((operation) => [
        ...BODIES.map((payload) => () => ask(operation, realPath(operation), { payload, headers: json })),
        ...TYPES.map(
          (type) => () =>
            ask(operation, realPath(operation), { payload: "a=b", headers: { "content-type": type } }),
        ),
      ]),
    );

    expect(faults(answers)).toEqual([]);
    expect(
      answers.filter(({ status }) => status < 400).map(({ what, status }) => `${what}: ${status}`),
    ).toEqual([]);
    expect(await countRows(harness.databaseUrl)).toEqual(before);
  });
});

function bodyFor({ body }: Operation): InjectOptions {
  return body === undefined ? {} : { payload: {} };
}

/** Returns the path with ids of existing objects, so that the request gets past the id. */
function realPath({ path }: Operation): string {
  return seeds.fill(path);
}
