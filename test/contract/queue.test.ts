import type { Job } from "../../src/core/ports/queue.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { InMemoryQueue } from "../support/memory/in-memory-queue.ts";
import { waitFor } from "../support/wait-for.ts";
import { openPgBoss } from "./pg-boss-harness.ts";
import { describeQueue } from "./queue-contract.ts";

async function openMemory() {
  const clock = new ManualClock();
  const queue = new InMemoryQueue(clock);
  const until = async (check: () => boolean, what: string) => {
    const isSo = async () => {
      await clock.advance(100);
      return check();
    };
    await waitFor(isSo, { what, everyMs: 1 });
  };
  const send = async (...jobs: readonly Job[]) => queue.sendJobs(jobs);
  return { queue, send, until, close: async () => undefined };
}

describeQueue("memory", openMemory);

describeQueue("pg-boss", openPgBoss);
