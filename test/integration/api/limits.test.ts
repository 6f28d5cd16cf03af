import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { type Answer, call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const RUNS = "/api/v1/agent/runs";
const LIMIT = 20;

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness({ limits: { rateLimit: LIMIT } });
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

test("a key has a number of requests per minute, and each answer says how many remain", async () => {
  const key = await harness.addUser("counted");

  const answers = await upToLimit(key);

  expect(new Set(statuses(answers))).toEqual(new Set([200]));
  const [first, last] = [answers[0]?.headers, answers.at(-1)?.headers];
  expect(first?.get("ratelimit-policy")).toBe('"key";q=20;w=60');
  expect([first?.get("ratelimit"), last?.get("ratelimit")]).toEqual([
    expect.stringMatching(/^"key";r=19;t=(60|59)$/),
    expect.stringMatching(/^"key";r=0;t=\d+$/),
  ]);
  expect([first?.get("x-ratelimit-limit"), first?.get("x-ratelimit-remaining")]).toEqual(["20", "19"]);
  expect(first?.get("x-ratelimit-reset")).toMatch(/^(60|59)$/);
});

test("a request over the limit is refused with the time to retry, and other keys are not affected", async () => {
  const [key, other] = [await harness.addUser("greedy"), await harness.addUser("modest")];
  await upToLimit(key);

  const refused = await call(harness, RUNS, { key, body: { prompt: "one more" } });
  const others = await call(harness, RUNS, { key: other });

  expect([refused.status, refused.body.code, refused.body.retryable]).toEqual([
    429,
    "resource_unavailable",
    true,
  ]);
  expect(refused.body.error).toContain("20 requests in 60 seconds");
  expect(refused.headers.get("x-should-retry")).toBe("true");
  const [seconds, milliseconds] = ["retry-after", "retry-after-ms"].map((name) =>
    Number(refused.headers.get(name)),
  );
  expect(milliseconds).toBeGreaterThan(0);
  expect(seconds).toBe(Math.ceil(Number(milliseconds) / 1_000));
  expect(refused.headers.get("ratelimit")).toMatch(/^"key";r=0;/);
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
    expect(guesses.at(-1)?.headers.get("ratelimit-policy")).toBe('"address";q=20;w=60');
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

test("the count starts again with each window", async () => {
  const short = await startHarness({ limits: { rateLimit: 1, rateWindowMs: 200 } });
  const status = async () => (await call(short, RUNS)).status;

  await waitFor(async () => (await status()) === 429, { what: "too many in one window", everyMs: 1 });
  await waitFor(async () => (await status()) === 200, { what: "the next window" });

  await short.close();
});

test("the limit 0 counts nothing", async () => {
  const open = await startHarness({ limits: { rateLimit: 0 } });

  const answers = await Promise.all(Array.from({ length: 30 }, () => call(open, `${RUNS}?limit=1`)));

  expect(new Set(statuses(answers))).toEqual(new Set([200]));
  expect(answers[0]?.headers.has("ratelimit")).toBe(false);
  await open.close();
});
