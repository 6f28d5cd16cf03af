import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { quantile } from "../statistics.ts";
import type { ViewerMessage, ViewerOrder, ViewerResult } from "./viewer-order.ts";

/** The number of streams that are opened at a time, because a server's queue of new connections is short. */
const OPENING = 20;
const LAST_MS = 2_000;
/**
 * Each message contains the time at which it was sent, by the clock of this process. Messages of other processes do
 * not count.
 */
const SENT_AT = new RegExp(`sent by ${process.pid} at (\\d+\\.\\d+)`, "g");

function send(message: ViewerMessage): void {
  process.send?.(message);
}

async function watch(order: ViewerOrder): Promise<ViewerResult> {
  const latenciesMs: number[] = [];
  const take = (text: string) => {
    for (const [, sentAt] of text.matchAll(SENT_AT)) {
      latenciesMs.push(performance.now() - Number(sentAt));
    }
  };
  for (let start = 0; start < order.viewers.length; start += OPENING) {
    const opened = order.viewers.slice(start, start + OPENING).map((headers) => open(order, headers));
    for (const stream of await Promise.all(opened)) {
      stream.setEncoding("utf8").on("data", take);
    }
  }
  send({ kind: "watching" });
  const posts = await post(order);
  await pause(LAST_MS);
  const sorted = Float64Array.from(latenciesMs).sort();
  return {
    posts,
    delivered: sorted.length,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    maxMs: quantile(sorted, 1),
  };
}

async function open(
  { url, streamPath }: ViewerOrder,
  headers: ViewerOrder["poster"],
): Promise<IncomingMessage> {
  const asking = request(new URL(streamPath, url), { headers, agent: new Agent() }).end();
  const [stream] = (await once(asking, "response")) as [IncomingMessage];
  if (stream.statusCode !== 200) {
    throw new Error(`A stream was answered ${stream.statusCode}.`);
  }
  return stream;
}

async function post({ url, postPath, poster, postsPerSecond, seconds }: ViewerOrder): Promise<number> {
  const count = postsPerSecond * seconds;
  const posting: Promise<void>[] = [];
  for (let index = 0; index < count; index += 1) {
    const body = JSON.stringify({ message: `sent by ${process.pid} at ${performance.now().toFixed(3)}` });
    const headers = { ...poster, "content-type": "application/json" };
    posting.push(
      fetch(new URL(postPath, url), { method: "POST", headers, body }).then((answer) => {
        if (!answer.ok) {
          throw new Error(`A post was answered ${answer.status}.`);
        }
      }),
    );
    await pause(1_000 / postsPerSecond);
  }
  await Promise.all(posting);
  return count;
}

process.once("message", async (order: ViewerOrder) => {
  send({ kind: "done", result: await watch(order) });
  process.exit(0);
});
process.once("disconnect", () => process.exit(0));
