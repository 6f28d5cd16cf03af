import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { type Answer, call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const RUNS = "/api/v1/agent/runs";
const LIMIT = 20;
/** So long that no request comes back into a bucket during a test. */
const WINDOW_MS = 3_600_000;

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness({ limits: { rateLimit: LIMIT, rateWindowMs: WINDOW_MS } });
});
afterAll(() => harness.close());

function statuses(answers: readonly Answer[]): number[] {
  return answers.map(({ status }) => status);
}

async function upToLimit(key: string | null): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let count = 0; count < LIMIT; count += 1) {
    answers.push(await call(harness, `${RUNS}?limit=1`, { key }));
  }
  return answers;
}

test("a principal has a bucket of requests, and each answer says how many remain", async () => {
  const key = await harness.addUser("counted");

  const answers = await upToLimit(key);

  expect(new Set(statuses(answers))).toEqual(new Set([200]));
  const [first, last] = [answers[0]?.headers, answers.at(-1)?.headers];
  expect(first?.get("ratelimit-policy")).toBe('"principal";q=20;w=3600');
  expect([first?.get("ratelimit"), last?.get("ratelimit")]).toEqual([
    '"principal";r=19;t=180',
    expect.stringMatching(/^"principal";r=0;t=(3600|35\d\d)$/),
  ]);
  expect([first?.get("x-ratelimit-limit"), first?.get("x-ratelimit-remaining")]).toEqual(["20", "19"]);
  expect(first?.get("x-ratelimit-reset")).toBe("180");
});

test("a request over the limit is refused with the wait for the next one, and other principals are not affected", async () => {
  const [key, other] = [await harness.addUser("greedy"), await harness.addUser("modest")];
  await upToLimit(key);

  const refused = await call(harness, RUNS, { key, body: { prompt: "one more" } });
  const others = await call(harness, RUNS, { key: other });

  expect([refused.status, refused.body.code, refused.body.retryable]).toEqual([
    429,
    "resource_unavailable",
    true,
  ]);
  expect(refused.body.error).toContain("20 requests in 3600 seconds");
  expect(refused.headers.get("x-should-retry")).toBe("true");
  const [seconds, milliseconds] = ["retry-after", "retry-after-ms"].map((name) =>
    Number(refused.headers.get(name)),
  );
  // A twentieth of the window, not the rest of it.
  expect(milliseconds).toBeGreaterThan(0);
  expect(milliseconds).toBeLessThanOrEqual(WINDOW_MS / LIMIT);
  expect(seconds).toBe(Math.ceil(Number(milliseconds) / 1_000));
  expect(refused.headers.get("ratelimit")).toMatch(/^"principal";r=0;/);
  expect(others.status).toBe(200);
});

test("of a thousand concurrent creates, those within the limit become runs and the others are told to wait", async () => {
  const [key, other] = [await harness.addUser("flood"), await harness.addUser("bystander")];
  const create = () => call(harness, RUNS, { key, body: { prompt: "flood" } });

  const flood = Array.from({ length: 20 }, async () => {
    const answers: Answer[] = [];
    for (let count = 0; count < 50; count += 1) {
      answers.push(await create());
    }
    return answers;
  });
  const otherKeyAnswers = await Promise.all(
    Array.from({ length: 10 }, () => call(harness, RUNS, { key: other })),
  );
  const answers = (await Promise.all(flood)).flat();

  expect(statuses(answers).filter((status) => status === 200)).toHaveLength(LIMIT);
  expect(new Set(statuses(answers))).toEqual(new Set([200, 429]));
  expect(
    answers.filter(({ headers }) => !headers.has("ratelimit") || !headers.has("ratelimit-policy")),
  ).toEqual([]);
  expect(answers.filter(({ status, headers }) => status === 429 && !headers.has("retry-after"))).toEqual([]);
  expect(new Set(statuses(otherKeyAnswers))).toEqual(new Set([200]));
  const list = await call(harness, `${RUNS}?limit=500`, { key: other });
  expect(list.body.runs).toHaveLength(LIMIT);
});

test("requests that the key may not make count as well", async () => {
  const key = await harness.addUser("reader", { scopes: ["runs:read"] });

  const answer = await call(harness, RUNS, { key, body: { prompt: "x" } });

  expect(answer.status).toBe(403);
  expect(answer.headers.get("x-ratelimit-remaining")).toBe(String(LIMIT - 1));
});

describe("requests without a valid key", () => {
  test("requests without a valid key count by address, and a valid key from there is still served", async () => {
    const guesses = [
      ...(await upToLimit(null)),
      await call(harness, RUNS, { key: "errand_guess" }),
      await call(harness, RUNS, { key: null }),
    ];
    const valid = await call(harness, RUNS, { key: await harness.addUser("neighbour") });

    expect(statuses(guesses)).toEqual([...Array.from({ length: LIMIT }, () => 401), 429, 429]);
    expect(guesses.at(-1)?.headers.get("ratelimit-policy")).toBe('"address";q=20;w=3600');
    expect(guesses.at(-1)?.body.code).toBe("resource_unavailable");
    expect(valid.status).toBe(200);
  });

  test("health checks, pages, the OpenAPI document and webhooks are not counted", async () => {
    await upToLimit(null);

    const paths = ["/healthz", "/readyz", "/signin", "/api/v1/openapi.json", "/nowhere"];
    const answers = await Promise.all(paths.map((path) => call(harness, path, { key: null })));

    expect(statuses(answers)).toEqual([200, 200, 200, 200, 404]);
    expect(answers.filter(({ headers }) => headers.has("ratelimit"))).toEqual([]);
  });
});

test("all keys of a principal take from the same bucket", async () => {
  const [one, two] = [await harness.addUser("of many keys"), await harness.addUser("of many keys")];

  const answers = [await call(harness, RUNS, { key: one }), await call(harness, RUNS, { key: two })];

  expect(answers.map(({ headers }) => headers.get("x-ratelimit-remaining"))).toEqual([
    String(LIMIT - 1),
    String(LIMIT - 2),
  ]);
});

test("a refused caller may send its next request without waiting for a whole window", async () => {
  const short = await startHarness({ limits: { rateLimit: 2, rateWindowMs: 400 } });
  const answerWith = (status: number) =>
    waitFor(
      async () => {
        const answer = await call(short, RUNS);
        return answer.status === status && answer;
      },
      { what: `an answer with ${status}`, everyMs: 1 },
    );

  const refused = await answerWith(429);
  await answerWith(200);

  expect(Number(refused.headers.get("retry-after-ms"))).toBeLessThanOrEqual(200);
  await short.close();
});

test("the limit 0 counts nothing", async () => {
  const open = await startHarness({ limits: { rateLimit: 0 } });

  const answers = await Promise.all(Array.from({ length: 30 }, () => call(open, `${RUNS}?limit=1`)));

  expect(new Set(statuses(answers))).toEqual(new Set([200]));
  expect(answers[0]?.headers.has("ratelimit")).toBe(false);
  await open.close();
});
