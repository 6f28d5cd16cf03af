import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const RUNS = "/api/v1/agent/runs";
const COUNT = 500;
const LIMITS = { headersTimeoutMs: 2_000, requestTimeoutMs: 2_500, timeoutCheckMs: 100 };

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness({ limits: LIMITS });
});
afterAll(() => harness.close());

test("five hundred incomplete requests are cut off in time and do not affect other callers", async () => {
  const halfHeaders = `POST ${RUNS} HTTP/1.1\r\nHost: x\r\nX-Slow: `;
  const halfBody =
    `POST ${RUNS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.key}\r\n` +
    'Content-Type: application/json\r\nContent-Length: 999\r\n\r\n{"prompt":';

  const begun = performance.now();
  const slow = await Promise.all(
    Array.from({ length: COUNT }, (_, index) => open(index % 2 === 0 ? halfHeaders : halfBody)),
  );
  const over = Promise.all(slow.map(({ ended }) => ended));
  const good = await untilSettled(over, async () => (await call(harness, `${RUNS}?limit=1`)).status);
  const ends = await over;
  const tookMs = performance.now() - begun;

  expect(new Set(ends)).toEqual(new Set(["HTTP/1.1 408 Request Timeout"]));
  expect(tookMs).toBeLessThan(30_000);
  expect(good.length).toBeGreaterThan(0);
  expect(new Set(good)).toEqual(new Set([200]));
  expect((await call(harness, `${RUNS}?limit=500`)).body.runs).toEqual([]);
});

interface SlowCaller {
  /** The first line of the answer, when the server has closed the connection. */
  readonly ended: Promise<string>;
}

async function open(start: string): Promise<SlowCaller> {
  const socket = connect(Number(new URL(harness.url).port), "127.0.0.1");
  await once(socket, "connect");
  socket.write(start);
  return { ended: firstLine(socket) };
}

async function firstLine(socket: Socket): Promise<string> {
  let answer = "";
  socket.setEncoding("utf8").on("data", (part) => {
    answer += part;
  });
  await once(socket, "close");
  return answer.split("\r\n", 1)[0] ?? "";
}

/** Repeats `work` until the promise is settled. */
async function untilSettled<T>(that: Promise<unknown>, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let isSettled = false;
  that.finally(() => {
    isSettled = true;
  });
  while (!isSettled) {
    results.push(await work());
  }
  return results;
}
