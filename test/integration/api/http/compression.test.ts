import { readFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { APP_DIRECTORY, readApp } from "../../../../src/api/pages/built-app.ts";
import { createRun } from "../api-caller.ts";
import { type ApiHarness, startHarness } from "../api-harness.ts";

let harness: ApiHarness;
let runId: string;
beforeAll(async () => {
  harness = await startHarness();
  runId = await createRun(harness);
  await harness.edit(runId, (edit) => {
    for (let index = 0; index < 40; index += 1) {
      edit.record({ kind: "agent.message", text: `A sentence that is said again, number ${index}.` });
    }
  });
});
afterAll(() => harness.close());

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** Unlike `fetch`, returns the bytes as they were sent. */
function get(path: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const authorization = `Bearer ${harness.key}`;
    const sent = request(
      new URL(path, harness.url),
      { method, headers: { authorization, ...headers } },
      async (response) => {
        const body = await buffer(response).catch(reject);
        resolve({ status: response.statusCode, headers: response.headers, body: body ?? Buffer.alloc(0) });
      },
    );
    sent.on("error", reject).end();
  });
}

/** Members whose values work without a key, or are keys. */
const SECRET = /"(?:(?:diff|download|share)_url|secret|device_code)":\{/;

const DECODE: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  identity: (bytes) => bytes,
};

describe("answers of the API", () => {
  const events = () => `/api/v1/agent/runs/${runId}/events`;
  const JSON_ONLY = { accept: "application/json" };

  test.each([
    ["br", "gzip, deflate, br, zstd"],
    ["br", "br;q=0.5, gzip"],
    ["gzip", "gzip"],
    ["gzip", "GZIP;q=0.1,br;q=0"],
    ["identity", "br;q=0, gzip;q=0.0"],
    ["identity", "identity"],
    ["identity", "zstd, brotli"],
    ["identity", ""],
  ])("are sent as %s to callers that accept %j", async (encoding, accepted) => {
    const plain = await get(events(), JSON_ONLY);
    const { body, headers, status } = await get(events(), { ...JSON_ONLY, "accept-encoding": accepted });

    expect([status, headers["content-encoding"] ?? "identity", headers.vary]).toEqual([
      200,
      encoding,
      "accept-encoding",
    ]);
    expect(Number(headers["content-length"])).toBe(body.length);
    expect(DECODE[encoding]?.(body).equals(plain.body)).toBe(true);
    expect(encoding === "identity" || body.length * 4 < plain.body.length).toBe(true);
  });

  test("a short answer, a HEAD request and an error are not compressed", async () => {
    const accepted = { "accept-encoding": "br, gzip" };
    const answers = await Promise.all([
      get("/api/v1/agent/quotas", accepted),
      get(`/api/v1/agent/runs/${runId}`, accepted, "HEAD"),
      get("/api/v1/agent/runs/none", accepted),
    ]);

    expect(answers.map(({ headers }) => headers["content-encoding"])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(answers[0]?.body.length).toBeLessThan(1_000);
  });

  test("a stream is not compressed", async () => {
    const stop = new AbortController();
    const response = await fetch(`${harness.url}${events()}`, {
      headers: {
        authorization: `Bearer ${harness.key}`,
        accept: "text/event-stream",
        "accept-encoding": "br",
      },
      signal: stop.signal,
    });

    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(response.headers.get("content-encoding")).toBeNull();
    stop.abort();
  });

  test("the reads whose answers have a link that works without a key are known", async () => {
    const { body } = await get("/api/v1/openapi.json", { "accept-encoding": "identity" });
    const { components, paths } = JSON.parse(body.toString());
    const hasLink = (schema: unknown, seen: Set<string> = new Set()): boolean => {
      const text = JSON.stringify(schema);
      const names = Array.from(text.matchAll(/#\/components\/schemas\/(\w+)/g), ([, name = ""]) => name);
      const inner = names.filter((name) => !seen.has(name));
      for (const name of inner) {
        seen.add(name);
      }
      return SECRET.test(text) || inner.some((name) => hasLink(components.schemas[name], seen));
    };
    const operations = Object.values<
      Record<string, { operationId: string; responses: Record<string, object> }>
    >(paths).flatMap(({ get: read }) => (read === undefined ? [] : [read]));

    const found = operations.filter(({ responses }) => hasLink(responses["200"] ?? {}));

    expect(found.map(({ operationId }) => operationId).sort()).toEqual([
      "getArtifact",
      "getRunChanges",
      "listHandoffAttachments",
    ]);
  });
});

describe("files of the pages", () => {
  const script = async () => /src="(\/app\/[^"]+\.js)"/.exec((await readApp()) ?? "")?.[1] ?? "";

  test.each(["br", "gzip"])("are sent as %s of the build", async (encoding) => {
    const path = await script();
    const plain = await get(path);
    const { body, headers } = await get(path, { "accept-encoding": encoding });

    expect(headers).toMatchObject({
      "content-encoding": encoding,
      "content-type": plain.headers["content-type"],
      vary: expect.stringMatching(/^accept-encoding$/i),
      "cache-control": "public, max-age=31536000, immutable",
    });
    expect(headers.etag).not.toBe(plain.headers.etag);
    expect(DECODE[encoding]?.(body).equals(await readFile(`${APP_DIRECTORY}${path.slice(1)}`))).toBe(true);
    expect(plain.headers).toMatchObject({ vary: expect.stringMatching(/^accept-encoding$/i) });
    expect(plain.headers["content-encoding"]).toBeUndefined();
  });

  test("are not sent again to a browser that has them, in either form", async () => {
    const path = await script();
    for (const encoding of ["br", "identity"]) {
      const { headers } = await get(path, { "accept-encoding": encoding });
      const again = await get(path, { "accept-encoding": encoding, "if-none-match": headers.etag ?? "" });

      expect([again.status, again.body.length]).toEqual([304, 0]);
    }
  });

  test("a range is a part of the form that is sent", async () => {
    const path = await script();
    for (const encoding of ["br", "identity"]) {
      const whole = await get(path, { "accept-encoding": encoding });
      const part = await get(path, { "accept-encoding": encoding, range: "bytes=10-19" });

      expect([part.status, part.body.equals(whole.body.subarray(10, 20))]).toEqual([206, true]);
      expect(part.headers["content-encoding"]).toBe(whole.headers["content-encoding"]);
    }
  });
});
