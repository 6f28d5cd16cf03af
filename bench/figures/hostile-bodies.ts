import type { Bench, Figure } from "../bench.ts";
import { valueRow } from "../report.ts";
import { type Service, startService } from "../setup/service.ts";
import { spreadOf } from "../statistics.ts";

const MEBIBYTE = 2 ** 20;
const SENDERS = 4;
const PER_SECOND = 50;
const CONNECTIONS = 8;
const GOAL = { reach: 250, aim: 50, wants: "less" } as const;

/** The bodies that cost a parser most: structure, escapes and length. */
const BODIES = [
  "[".repeat(MEBIBYTE),
  `{"a":[${"0,".repeat(5 * MEBIBYTE)}0]}`,
  JSON.stringify({ prompt: '"'.repeat(5 * MEBIBYTE) }),
  JSON.stringify({ prompt: "x".repeat(10 * MEBIBYTE) }),
];

/**
 * P17: how long other callers wait for a run while four callers send hostile bodies without a pause or a rate limit.
 */
export const hostileBodies: Figure = {
  names: ["P17"],
  measure: async (bench) => {
    const service = await startService(bench.folder, await bench.postgres.database("hostile_bodies"));
    bench.cleanup.defer(() => service.child.stop());
    bench.log("P17: get beside hostile bodies");
    const path = `/api/v1/agent/runs/${await createRun(service)}`;
    const p99s: number[] = [];
    for (let index = 0; index < bench.options.rounds; index += 1) {
      p99s.push(await measure(bench, service, path));
    }
    return [valueRow({ figure: "P17", what: "get beside hostile bodies, p99" }, spreadOf(p99s), GOAL, "ms")];
  },
};

async function measure({ load, options, log }: Bench, service: Service, path: string): Promise<number> {
  const over = new AbortController();
  const sending = Array.from({ length: SENDERS }, () => sendUntil(over.signal, service));
  const { p99Ms } = await load.perform({
    url: service.url,
    requests: [{ method: "GET", path, headers: service.headers }],
    connections: CONNECTIONS,
    perSecond: PER_SECOND,
    warmUpSeconds: options.warmUpSeconds,
    seconds: options.seconds,
  });
  over.abort();
  const sent = (await Promise.all(sending)).reduce((sum, count) => sum + count, 0);
  log(`  p99 ${p99Ms} ms beside ${sent} bodies`);
  return p99Ms;
}

async function sendUntil(over: AbortSignal, { headers, url }: Service): Promise<number> {
  let sent = 0;
  for (; !over.aborted; sent += 1) {
    const init = {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: BODIES[sent % BODIES.length] ?? "",
    };
    // The server closes the connection while a body that is too large is still being sent.
    const answer = await fetch(`${url}/api/v1/agent/runs`, init).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok) {
      throw new Error("A hostile body was taken.");
    }
  }
  return sent;
}

async function createRun({ headers, url }: Service): Promise<string> {
  const init = {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: '{"prompt":"Wait."}',
  };
  const answer = await fetch(`${url}/api/v1/agent/runs`, init);
  return ((await answer.json()) as { run_id: string }).run_id;
}
