import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AnswerJudge, jsonBody, type OpenapiDocument } from "../../support/openapi-answers.ts";
import { arbitraryOf } from "../../support/openapi-arbitrary.ts";
import { type ApiDocument, type Operation, operationsOf } from "../../support/openapi-operations.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";
import { type Seeds, seedExamples } from "./seeds.ts";

/** FUZZ_RUNS=200 generates about ten thousand bodies. */
const BODIES_EACH = Number(process.env.FUZZ_RUNS ?? 12);
const QUERIES = Number(process.env.FUZZ_RUNS ?? 12) * 10;
let harness: ApiHarness;
let document: ApiDocument;
let judge: AnswerJudge;
let seeds: Seeds;
let acceptedCount = 0;
beforeAll(async () => {
  harness = await startHarness();
  document = harness.server.swagger() as unknown as ApiDocument;
  judge = new AnswerJudge(harness.server.swagger() as unknown as OpenapiDocument);
  seeds = await seedExamples(harness, document);
});
afterAll(() => harness.close());

/** Returns the problem of an answer. `undefined` means no 5xx and an answer that the document describes. */
async function fault(method: string, url: string, body?: unknown): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${harness.key}`, accept: "application/json" };
  const payload = body === undefined ? {} : { payload: JSON.stringify(body) };
  const answer = await harness.server.inject({
    method: method as "GET",
    url,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...payload,
  });
  const contentType = String(answer.headers["content-type"] ?? "");
  if (answer.statusCode < 300) {
    acceptedCount += 1;
  }
  if (answer.statusCode >= 500) {
    return `${answer.statusCode}: ${answer.body}`;
  }
  const described = {
    method,
    path: url,
    status: answer.statusCode,
    contentType,
    body: jsonBody(contentType, answer.body),
  };
  return judge.mismatch(described);
}

test("the examples of the document are accepted unchanged", () => {
  const refused = seeds.answers.filter((answer) => /: (400|415|422|5\d\d)$/.test(answer));

  // The device code of the example is unknown, which RFC 8628 answers with 400.
  expect(refused).toEqual(["POST /api/v1/agent/device-codes/token: 400"]);
});

test("no generated body gets a 5xx or an answer that the document does not describe", async () => {
  const writes = operationsOf(document).filter(({ body }) => body !== undefined);

  expect(writes.length).toBeGreaterThan(2);
  for (const operation of writes) {
    await holdForBodies(operation);
  }
  // At least one request per operation must be accepted. Otherwise the schemas would have refused everything.
  expect(acceptedCount).toBeGreaterThan(writes.length);
});

async function holdForBodies({ name, method, path, body = {} }: Operation): Promise<void> {
  const url = seeds.fill(path);
  const property = fc.asyncProperty(arbitraryOf(body, document), async (generated) => {
    const problem = await fault(method, url, generated ?? null);
    expect(problem, `${name} with ${JSON.stringify(generated)?.slice(0, 1_000)}`).toBeUndefined();
  });
  await fc.assert(property, { numRuns: BODIES_EACH });
}

const text = fc.string({ unit: "binary", maxLength: 40 });
const queryValue = fc.oneof(
  text,
  fc.constantFrom("1", "QUEUED", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59", "%", "_", "\\"),
);

test("no generated query gets a 5xx or an answer that the document does not describe", async () => {
  const reads = operationsOf(document).filter(({ method, query }) => method === "GET" && query.length > 0);
  const anyQuery = fc.constantFrom(...reads).chain(({ path, query }) =>
    fc.record({
      path: fc.constant(path),
      query: fc.dictionary(fc.constantFrom(...query, "metadata[a]", "x"), queryValue),
    }),
  );

  const property = fc.asyncProperty(anyQuery, async ({ path, query }) => {
    expect(await fault("GET", `${seeds.fill(path)}?${new URLSearchParams(query)}`)).toBeUndefined();
  });

  await fc.assert(property, { numRuns: QUERIES });
});
