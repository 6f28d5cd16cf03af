import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const RUNS = "/api/v1/agent/runs";
/** Idle and incomplete connections end soon, because each test waits for the end of its connection. */
const LIMITS = { headersTimeoutMs: 2_000, requestTimeoutMs: 2_500, timeoutCheckMs: 100, keepAliveMs: 200 };

let harness: ApiHarness;
/** Reads what was stored, without these limits. */
let reader: ApiHarness;
beforeAll(async () => {
  harness = await startHarness({ limits: LIMITS });
  reader = await startHarness({ sharedWith: harness });
});
afterAll(async () => {
  await reader?.close();
  await harness?.close();
});

/** Starts a run with this prompt, if a server takes it for a request. */
function requestFor(prompt: string): string {
  const body = JSON.stringify({ prompt });
  return `POST ${RUNS} HTTP/1.1\r\n${HEADERS()}Content-Length: ${body.length}\r\n\r\n${body}`;
}

const HEADERS = () => `Host: x\r\nAuthorization: Bearer ${harness.key}\r\nContent-Type: application/json\r\n`;

interface Parts {
  readonly headers: string;
  readonly body: string;
  readonly method?: string;
}

/** A request whose framing is ambiguous. A proxy and the server could read its end at different places. */
type Case = readonly [what: string, parts: (smuggled: string) => Parts];

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const OUTER = '{"prompt":"outer"}';
const CHUNKED = "Transfer-Encoding: chunked\r\n";
const length = (text: string) => `Content-Length: ${text.length}\r\n`;

const REFUSED: readonly Case[] = [
  [
    "Content-Length before Transfer-Encoding",
    (smuggled) => ({ headers: length(`0\r\n\r\n${smuggled}`) + CHUNKED, body: `0\r\n\r\n${smuggled}` }),
  ],
  [
    "Transfer-Encoding before Content-Length",
    (smuggled) => ({ headers: `${CHUNKED}Content-Length: 4\r\n`, body: `${chunk(smuggled)}0\r\n\r\n` }),
  ],
  [
    "two lengths, the first one short",
    (smuggled) => ({ headers: length(OUTER) + length(OUTER + smuggled), body: OUTER + smuggled }),
  ],
  [
    "two lengths, the last one short",
    (smuggled) => ({ headers: length(OUTER + smuggled) + length(OUTER), body: OUTER + smuggled }),
  ],
  ["the same length twice", (smuggled) => ({ headers: length(OUTER).repeat(2), body: OUTER + smuggled })],
  [
    "a list of lengths",
    (smuggled) => ({ headers: `Content-Length: ${OUTER.length}, 999\r\n`, body: OUTER + smuggled }),
  ],
  [
    "a signed length",
    (smuggled) => ({ headers: `Content-Length: +${OUTER.length}\r\n`, body: OUTER + smuggled }),
  ],
  ["a negative length", (smuggled) => ({ headers: "Content-Length: -1\r\n", body: smuggled })],
  ["a hexadecimal length", (smuggled) => ({ headers: "Content-Length: 0x0\r\n", body: smuggled })],
  [
    "a length that overflows",
    (smuggled) => ({ headers: "Content-Length: 18446744073709551616\r\n", body: smuggled }),
  ],
  [
    "an unknown encoding",
    (smuggled) => ({ headers: "Transfer-Encoding: xchunked\r\n", body: `0\r\n\r\n${smuggled}` }),
  ],
  [
    "an encoding after chunked",
    (smuggled) => ({ headers: "Transfer-Encoding: chunked, identity\r\n", body: `0\r\n\r\n${smuggled}` }),
  ],
  [
    "two encodings in two headers",
    (smuggled) => ({ headers: `${CHUNKED}Transfer-Encoding: identity\r\n`, body: `0\r\n\r\n${smuggled}` }),
  ],
  [
    "a space before the colon",
    (smuggled) => ({
      headers: `Transfer-Encoding : chunked\r\n${length(`0\r\n\r\n${smuggled}`)}`,
      body: `0\r\n\r\n${smuggled}`,
    }),
  ],
  [
    "a folded header",
    (smuggled) => ({
      headers: `Transfer-Encoding:\r\n chunked\r\n${length(`0\r\n\r\n${smuggled}`)}`,
      body: `0\r\n\r\n${smuggled}`,
    }),
  ],
  [
    "a folded line after a header",
    (smuggled) => ({ headers: `X-Fold: a\r\n ${CHUNKED}${length(OUTER)}`, body: OUTER + smuggled }),
  ],
  [
    "a header that ends with a bare line feed",
    (smuggled) => ({ headers: `X-A: b\n${CHUNKED}${length(OUTER)}`, body: OUTER + smuggled }),
  ],
  [
    "a bare carriage return in a header",
    (smuggled) => ({ headers: `X-A: b\r${CHUNKED}${length(OUTER)}`, body: OUTER + smuggled }),
  ],
  [
    "a NUL in the name of a header",
    (smuggled) => ({ headers: `Transfer-Encoding\0: chunked\r\n${length(OUTER)}`, body: OUTER + smuggled }),
  ],
  [
    "a chunk whose size ends with a bare line feed",
    (smuggled) => ({ headers: CHUNKED, body: `2\n{}\r\n0\r\n\r\n${smuggled}` }),
  ],
  [
    "a chunk extension that ends with a bare line feed",
    (smuggled) => ({
      headers: CHUNKED,
      body: `2;a=b\nxx\r\n${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
    }),
  ],
  [
    "a chunk size that overflows",
    (smuggled) => ({ headers: CHUNKED, body: `10000000000000002\r\n{}\r\n0\r\n\r\n${smuggled}` }),
  ],
  [
    "a chunk size that is no number",
    (smuggled) => ({ headers: CHUNKED, body: `0x2\r\n{}\r\n0\r\n\r\n${smuggled}` }),
  ],
  [
    "a chunk longer than its size",
    (smuggled) => ({ headers: CHUNKED, body: `2\r\n{}${smuggled}\r\n0\r\n\r\n` }),
  ],
  [
    "endless chunk extensions",
    (smuggled) => ({ headers: CHUNKED, body: `2;${"a".repeat(200_000)}\r\n{}\r\n0\r\n\r\n${smuggled}` }),
  ],
];

describe("a request with an ambiguous end", () => {
  test.concurrent.for(REFUSED)(
    "%s: it is refused, and nothing after it is a request",
    async ([what, parts]) => {
      const answer = await send(framed(parts(requestFor(`smuggled by ${what}`))));

      expect(answer.statuses).toHaveLength(1);
      expect(answer.statuses[0]).toMatch(/^4\d\d$/);
      expect(await prompts()).not.toContain(`smuggled by ${what}`);
    },
  );
});

/** The body of each is what a server must not take for a request, although it does not read it. */
const BODIES: readonly Case[] = [
  [
    "a body of another type",
    (smuggled) => ({ headers: `Content-Type: text/plain\r\n${length(smuggled)}`, body: smuggled }),
  ],
  ["a body that is too long", (smuggled) => ({ headers: "Content-Length: 99999999\r\n", body: smuggled })],
  [
    "a body that waits for permission",
    (smuggled) => ({ headers: `Expect: 200-maybe\r\n${length(smuggled)}`, body: smuggled }),
  ],
  [
    "a body without a key",
    (smuggled) => ({ headers: `Authorization: Bearer none\r\n${length(smuggled)}`, body: smuggled }),
  ],
  [
    "a request to change the protocol",
    (smuggled) => ({
      headers: `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n${length(smuggled)}`,
      body: smuggled,
    }),
  ],
  ["a GET with a body", (smuggled) => ({ method: "GET", headers: length(smuggled), body: smuggled })],
  ["a HEAD with a body", (smuggled) => ({ method: "HEAD", headers: length(smuggled), body: smuggled })],
];

test.concurrent.for(BODIES)("%s is never read as a request", async ([what, parts]) => {
  const { body, headers, method } = parts(requestFor(`hidden in ${what}`));
  const own = headers.startsWith("Authorization") ? headers.replace("none", "errand_none") : headers;

  const answer = await send(
    `${method ?? "POST"} ${RUNS} HTTP/1.1\r\nHost: x\r\n${own.includes("Authorization") ? "" : `Authorization: Bearer ${harness.key}\r\n`}${own}\r\n${body}`,
  );

  expect(answer.statuses.length).toBeLessThanOrEqual(1);
  expect(await prompts()).not.toContain(`hidden in ${what}`);
});

test("a chunk extension that is well formed is ignored, and the next request on the connection is answered", async () => {
  const body = `${OUTER.length.toString(16)};name="a;b"\r\n${OUTER}\r\n0\r\nX-Trailer: y\r\n\r\n`;

  const answer = await send(framed({ headers: CHUNKED, body }) + requestFor("a proper second request"));

  expect(answer.statuses).toEqual(["200", "200"]);
  expect(await prompts()).toContain("a proper second request");
});

function framed({ body, headers }: Parts): string {
  return `POST ${RUNS} HTTP/1.1\r\n${HEADERS()}${headers}\r\n${body}`;
}

/** Sends the bytes, waits until the server closes the connection, and returns the statuses of all its answers. */
async function send(bytes: string): Promise<{ readonly statuses: readonly string[] }> {
  const socket = connect(Number(new URL(harness.url).port), "127.0.0.1");
  let text = "";
  socket.setEncoding("latin1").on("data", (part) => {
    text += part;
  });
  // A server that refuses a request may reset the connection before it has read all of it.
  socket.on("error", () => undefined);
  socket.write(bytes, "latin1");
  await once(socket, "close");
  return { statuses: Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status = ""]) => status) };
}

async function prompts(): Promise<readonly string[]> {
  const { body } = await call(reader, `${RUNS}?limit=500`);
  return body.runs.map(({ prompt }: { readonly prompt: string }) => prompt);
}
