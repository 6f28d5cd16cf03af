import { afterEach, describe, expect, it } from "vitest";
import { JobTaker, type TakerDeps } from "../../../src/queue/job-taker.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { waitFor } from "../../support/wait-for.ts";

/** Jobs by the lane they lie in, and what was asked for. */
class Jobs {
  readonly looks: { readonly lane: number; readonly wanted: number }[] = [];
  readonly lanes: Record<number, string[]> = {};
  readonly settled: string[] = [];

  readonly boss = {
    fetch: async (_kind: string, options: { readonly minPriority: number; readonly batchSize: number }) => {
      const { batchSize: wanted, minPriority: lane } = options;
      this.looks.push({ lane, wanted });
      return (this.lanes[lane] ?? [])
        .splice(0, wanted)
        .map((key) => ({ id: key, retryCount: 0, data: { key }, expireInSeconds: 60 }));
    },
    complete: async (_kind: string, { id }: { readonly id: string }) => this.settled.push(id),
    fail: async (_kind: string, { id }: { readonly id: string }) => this.settled.push(`not ${id}`),
    touch: async () => undefined,
  } as unknown as TakerDeps["boss"];
}

describe("a taker of jobs", () => {
  const stopping = new AbortController();
  let taker: JobTaker | undefined;
  afterEach(async () => {
    stopping.abort();
    taker?.wake();
    await taker?.ended;
  });

  function open(jobs: Jobs, deps: Partial<TakerDeps>): JobTaker {
    taker = new JobTaker({
      ...{ boss: jobs.boss, kind: "run", lanes: [0], room: 16, stopping: stopping.signal },
      ...{ handler: async () => undefined, log: SILENT_LOG, pollingMs: 60_000, heartbeatMs: 60_000 },
      ...deps,
    });
    return taker;
  }

  it("looks once for all it has room for, for less while it is busy, and not at all while it is full", async () => {
    const jobs = new Jobs();
    const ends: (() => void)[] = [];
    const handler = () => new Promise<void>((resolve) => ends.push(resolve));
    const taking = open(jobs, { handler, lanes: [7, 0], room: 3 });
    await waitFor(() => jobs.looks.length === 2, { what: "the first look" });

    jobs.lanes[7] = ["a"];
    jobs.lanes[0] = ["b"];
    taking.wake();
    await waitFor(() => ends.length === 2, { what: "two jobs" });
    jobs.lanes[7] = ["c"];
    jobs.lanes[0] = ["d"];
    taking.wake();
    await waitFor(() => ends.length === 3, { what: "the third job" });
    taking.wake();
    ends[0]?.();

    await waitFor(() => ends.length === 4, { what: "the job for which room was made" });
    expect(jobs.looks).toEqual([
      ...[
        { lane: 7, wanted: 3 },
        { lane: 0, wanted: 3 },
      ],
      ...[
        { lane: 7, wanted: 3 },
        { lane: 0, wanted: 2 },
      ],
      { lane: 7, wanted: 1 },
      ...[
        { lane: 7, wanted: 1 },
        { lane: 0, wanted: 1 },
      ],
    ]);
    for (const end of ends) end();
  });
});
