import { Readable } from "node:stream";
import { deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { countRows } from "../../support/row-counts.ts";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const RUNS = "/api/v1/agent/runs";
const BODY_BYTES = 2 ** 20;

let harness: ApiHarness;
let runId: string;
beforeAll(async () => {
  harness = await startHarness({ limits: { bodyBytes: BODY_BYTES } });
  runId = await createRun(harness);
});
afterAll(() => harness.close());

/** Returns a request body of exactly this length. The schema ignores the unknown member. */
function bodyOf(bytes: number): string {
  const empty = JSON.stringify({ prompt: "x", pad: "" });
  return JSON.stringify({ prompt: "x", pad: "a".repeat(bytes - empty.length) });
}

async function post(
  body: NonNullable<RequestInit["body"]>,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${harness.url}${RUNS}`, {
    method: "POST",
    headers: { authorization: `Bearer ${harness.key}`, "content-type": "application/json", ...headers },
    body,
    ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
  });
  return { status: response.status, text: await response.text() };
}

describe("a body that is too large", () => {
  test("a body of exactly the limit is accepted, and one byte more is refused", async () => {
    const [fits, exceeds] = [await post(bodyOf(BODY_BYTES)), await post(bodyOf(BODY_BYTES + 1))];

    expect([fits.status, exceeds.status]).toEqual([200, 413]);
    expect(exceeds.text).toContain(`${BODY_BYTES} bytes`);
  });

  test("a body that is too large is refused by the received bytes, with or without a declared length", async () => {
    const parts = Array.from({ length: 160 }, () => Buffer.alloc(65_536, "a"));
    const endless = Readable.toWeb(Readable.from(parts)) as ReadableStream;

    const answers = await Promise.allSettled([post(bodyOf(10 * 2 ** 20)), post(endless)]);

    // A client that is still sending may see the closed connection before the answer.
    const statuses = answers.map((answer) => (answer.status === "fulfilled" ? answer.value.status : 413));
    expect(statuses).toEqual([413, 413]);
    expect((await call(harness, "/healthz")).status).toBe(200);
  });

  test("a prompt that is too long is refused with the limit of prompts", async () => {
    const answer = await call(harness, RUNS, { body: { prompt: "x".repeat(BODY_BYTES - 100) } });

    expect([answer.status, answer.body.issues[0].path]).toEqual([400, "prompt"]);
    expect(answer.body.error).toContain("262144 bytes");
  });
});

describe("a hostile body", () => {
  const MEBIBYTE = 2 ** 20 - 100;
  test.each<[string, string | Buffer<ArrayBuffer>, Record<string, string>, number]>([
    ["a mebibyte of [", "[".repeat(MEBIBYTE), {}, 400],
    ["objects without end", '{"prompt":'.repeat(MEBIBYTE / 10), {}, 400],
    [
      "a deep tree in a member",
      `{"prompt":"x","config":{"a":${"[".repeat(9_999)}${"]".repeat(9_999)}}}`,
      {},
      400,
    ],
    ["a prototype among the metadata", '{"prompt":"x","metadata":{"__proto__":"x"}}', {}, 400],
    ["a prototype", '{"prompt":"x","__proto__":{"isAdmin":true}}', {}, 400],
    ["a constructor's prototype", '{"prompt":"x","constructor":{"prototype":{"isAdmin":true}}}', {}, 400],
    ["half a character", '{"prompt":"\\ud800"}', {}, 400],
    ["NUL", '{"prompt":"a\\u0000b"}', {}, 400],
    ["bytes that are no UTF-8", Buffer.from('{"prompt":"caf\xe9"}', "latin1"), {}, 400],
    ["a number beyond all", '{"prompt":"x","config":{"budget":{"max_turns":1e999}}}', {}, 400],
    ["five thousand metadata keys", JSON.stringify({ prompt: "x", metadata: pairs(5_000) }), {}, 400],
    [
      "a bomb",
      gzipSync(Buffer.alloc(50 * 2 ** 20)) as Buffer<ArrayBuffer>,
      { "content-encoding": "gzip" },
      413,
    ],
    ["a bomb without a label", gzipSync(Buffer.alloc(50 * 2 ** 20)) as Buffer<ArrayBuffer>, {}, 400],
    [
      "half of a compressed body",
      gzipSync(`{"prompt":"${"xyz".repeat(99)}"}`).subarray(0, 30) as Buffer<ArrayBuffer>,
      { "content-encoding": "gzip" },
      400,
    ],
    ["what is no gzip", '{"prompt":"x"}', { "content-encoding": "gzip" }, 400],
    ["deflate", deflateSync('{"prompt":"x"}') as Buffer<ArrayBuffer>, { "content-encoding": "deflate" }, 415],
    [
      "gzip twice",
      gzipSync(gzipSync('{"prompt":"x"}')) as Buffer<ArrayBuffer>,
      { "content-encoding": "gzip, gzip" },
      415,
    ],
  ])(
    "the body %s is refused, stores nothing, and leaves the server alive",
    async (_what, body, headers, status) => {
      const before = await countRows(harness.databaseUrl);

      const answer = await post(body, headers);

      expect(answer.status).toBe(status);
      expect(JSON.parse(answer.text)).toMatchObject({ code: "invalid_request", retryable: false });
      expect(Reflect.get({}, "isAdmin")).toBeUndefined();
      expect((await call(harness, "/healthz")).status).toBe(200);
      expect(await countRows(harness.databaseUrl)).toEqual(before);
    },
  );

  test("a compressed body is read up to the limit of its expanded length, and others name gzip", async () => {
    const compressed = (bytes: number) => gzipSync(bodyOf(bytes)) as Buffer<ArrayBuffer>;
    const chunked = () => new Blob([compressed(BODY_BYTES)]).stream();
    const gzip = { "content-encoding": "GZIP" };

    const answers = [
      await post(compressed(BODY_BYTES), gzip),
      await post(chunked(), gzip),
      await post(compressed(BODY_BYTES + 1), gzip),
    ];
    const other = await fetch(`${harness.url}${RUNS}`, {
      method: "POST",
      headers: { authorization: `Bearer ${harness.key}`, "content-encoding": "br" },
      body: "x",
    });

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 413]);
    expect([other.status, other.headers.get("accept-encoding")]).toEqual([415, "gzip"]);
  });

  test("hostile bodies do not keep other callers from their answers", async () => {
    const traps = Array.from({ length: 12 }, (_, index) =>
      post(index % 2 === 0 ? "[".repeat(MEBIBYTE) : bodyOf(BODY_BYTES + 1)).catch(() => undefined),
    );
    const tookMs: number[] = [];
    let isOver = false;
    const all = Promise.all(traps).then(() => {
      isOver = true;
    });
    while (!isOver) {
      const begun = performance.now();
      expect((await call(harness, `${RUNS}/${runId}`)).status).toBe(200);
      tookMs.push(performance.now() - begun);
    }
    await all;

    // The limit is far above what a caller waits, because client, server and other tests share this machine.
    expect(tookMs.length).toBeGreaterThan(0);
    expect(Math.max(...tookMs)).toBeLessThan(10_000);
  });
});

test("a malformed or unknown id is not found and stores nothing", async () => {
  const before = await countRows(harness.databaseUrl);
  const ids = [
    "x",
    "0",
    "-1",
    "null",
    "00000000-0000-0000-0000-000000000000",
    `${runId}x`,
    "..%2f",
    "%27%3B--",
  ];

  for (const id of ids) {
    const answers = [
      await call(harness, `${RUNS}/${id}`),
      await call(harness, `${RUNS}/${id}/cancel`, { method: "POST" }),
      await call(harness, `${RUNS}/${id}/followups`, { body: { message: "x" } }),
      await call(harness, `${RUNS}/${id}/events`, { headers: { accept: "application/json" } }),
    ];
    expect([id, answers.map(({ status }) => status)]).toEqual([id, [404, 404, 404, 404]]);
  }

  expect(await countRows(harness.databaseUrl)).toEqual(before);
});

test.each([
  "2026-02-30T00:00:00Z",
  "2026-13-01T00:00:00Z",
  "2026-01-01T24:00:01Z",
  "2026-01-01",
  "0000-01-01T00:00:00Z",
  "+012026-01-01T00:00:00Z",
  "9999-12-31T23:59:59-23:59",
  "yesterday",
  "1767225600",
])("the impossible date %s is refused", async (date) => {
  const answer = await call(harness, `${RUNS}?created_after=${encodeURIComponent(date)}`);

  expect([answer.status, answer.body.issues?.[0].path]).toEqual([400, "created_after"]);
});

function pairs(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, "v"]));
}

test("a member that is there twice is refused with its pointer, also in a compressed body", async () => {
  const text =
    '{"prompt":"x","config":{"name":"a","mcp_servers":{"w":{"url":"https://a/","\\u0075rl":"https://b/"}}}}';
  const send = (body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(`${harness.url}/api/v1/agent/runs`, {
      method: "POST",
      body,
      headers: { authorization: `Bearer ${harness.key}`, "content-type": "application/json", ...headers },
    });

  const answers = [
    await send(text),
    await send(gzipSync(text) as Buffer<ArrayBuffer>, { "content-encoding": "gzip" }),
  ];

  for (const answer of answers) {
    expect([answer.status, await answer.json()]).toEqual([
      400,
      expect.objectContaining({
        code: "invalid_request",
        issues: [
          {
            path: "config.mcp_servers.w.url",
            pointer: "/config/mcp_servers/w/url",
            message: "must not be there twice",
          },
        ],
      }),
    ]);
  }
});
