import { join } from "node:path";
import type { Bench, Figure } from "../bench.ts";
import type { ViewerOrder, ViewerResult } from "../load/viewer-order.ts";
import { watchStreams } from "../load/viewers.ts";
import { type Row, valueRow } from "../report.ts";
import { addPeople, headersOf, PEOPLE_PER_TEAM } from "../setup/people.ts";
import { residentMebibytes, secondsOf } from "../setup/processor-time.ts";
import { startFloor, startService } from "../setup/service.ts";
import { spreadOf } from "../statistics.ts";

const VIEWERS = 1_000;
const POSTS_PER_SECOND = 2;
const SECONDS = 10;
const QUICK_SECONDS = 3;
const FIRST_VIEWERS = 100;
const GOALS = {
  p99Ms: { reach: 250, aim: 60, wants: "less" },
  kibibytes: { reach: 40, aim: 20, wants: "less" },
  cores: { reach: 0.25, aim: 0.1, wants: "less" },
  lost: { reach: 0, aim: 0, wants: "less" },
} as const;

type Measured = Pick<ViewerResult, "p99Ms"> & Record<"kibibytes" | "cores" | "lost", number>;
type Watched = { readonly pid: number } & Pick<
  ViewerOrder,
  "url" | "streamPath" | "postPath" | "poster" | "viewers"
>;

/** P12: a thousand viewers of one run that gets two events per second. */
export const viewers: Figure = {
  names: ["P12"],
  measure: async (bench) => {
    bench.log(`P12: ${VIEWERS} viewers`);
    const measured = {
      floor: await measure(bench, await prepareFloor(bench)),
      ours: await measure(bench, await prepareOurs(bench)),
    };
    const row = (name: keyof Measured, what: string, unit: string): Row =>
      valueRow(
        { figure: "P12", what },
        spreadOf([measured.ours[name]]),
        GOALS[name],
        unit,
        spreadOf([measured.floor[name]]),
      );
    return [
      row("p99Ms", `${VIEWERS} viewers, p99 from post to viewer`, "ms"),
      row("kibibytes", "memory per viewer", "KiB"),
      row("cores", "processor time of the server", "cores"),
      row("lost", "lost of all deliveries", ""),
    ];
  },
};

async function measure({ options, log }: Bench, { pid, ...watched }: Watched): Promise<Measured> {
  const seconds = options.seconds < 2 ? QUICK_SECONDS : SECONDS;
  // The memory for the first few viewers belongs to the program itself, not to the viewers.
  const few = watched.viewers.slice(0, FIRST_VIEWERS);
  await watchStreams(
    { ...watched, viewers: few, postsPerSecond: POSTS_PER_SECOND, seconds: 1 },
    () => undefined,
  );
  const beforeMebibytes = await residentMebibytes(pid);
  let reading = secondsOf({ server: pid });
  const result = await watchStreams({ ...watched, postsPerSecond: POSTS_PER_SECOND, seconds }, () => {
    reading = secondsOf({ server: pid });
  });
  const [from, to] = [await reading, await secondsOf({ server: pid })];
  log(`  p50 ${result.p50Ms} ms, p99 ${result.p99Ms} ms, ${result.delivered} of ${result.posts * VIEWERS}`);
  return {
    p99Ms: result.p99Ms,
    kibibytes: ((await residentMebibytes(pid)) - beforeMebibytes) * (1_024 / VIEWERS),
    cores: (to.server - from.server) / seconds,
    lost: result.posts * VIEWERS - result.delivered,
  };
}

async function prepareOurs({ folder, postgres, cleanup }: Bench): Promise<Watched> {
  const databaseUrl = await postgres.database("viewers");
  const { child, headers, url } = await startService(folder, databaseUrl);
  cleanup.defer(() => child.stop());
  await addPeople(databaseUrl);
  const init = {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: '{"prompt":"Wait."}',
  };
  const created = (await (await fetch(`${url}/api/v1/agent/runs`, init)).json()) as { run_id: string };
  const run = `/api/v1/agent/runs/${created.run_id}`;
  // A person may have only a few streams, so the viewers are distributed over many people.
  const viewers = Array.from({ length: VIEWERS }, (_, index) => headersOf("member", index % PEOPLE_PER_TEAM));
  return {
    pid: child.pid,
    url,
    streamPath: `${run}/events`,
    postPath: `${run}/followups`,
    poster: headers,
    viewers,
  };
}

async function prepareFloor({ folder, postgres, cleanup }: Bench): Promise<Watched> {
  const databaseUrl = await postgres.database("viewers_floor");
  const { child, url } = await startFloor(folder, join(import.meta.dirname, "viewers-floor.ts"), databaseUrl);
  cleanup.defer(() => child.stop());
  const viewers = Array.from({ length: VIEWERS }, () => ({}));
  return { pid: child.pid, url, streamPath: "/events", postPath: "/followups", poster: {}, viewers };
}
