import { afterAll, beforeAll, expect, test } from "vitest";
import { GitHttpServer } from "../../support/git-http-server.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { pushLargeRepository } from "../../support/large-repository.ts";
import { mountSmallDisk, reasonToSkipSmallDisk } from "../../support/small-disk.ts";
import { type FaultHarness, type Worker, withFaultHarness } from "./fault-harness.ts";

/** Cloning, packing and restoring 150 MiB takes long on a slow machine. */
const PROMISE_MS = 240_000;
const OPTIONS = { timeout: 600_000 };
/** For a mirror and a clone of the repository. */
const DISK_MB = 640;
const LARGE = { config: { repository: "acme/large" } };
/** Each attempt adds a commit and a line to a new file. */
const WORK = "shell git commit --quiet --allow-empty -m work; echo x >> new.txt";
const REPORT =
  'shell echo "has $(git rev-list --count origin/main..HEAD) commits, $(grep -c x new.txt) lines and $(git ls-files | wc -l) files"';
const INPROGRESS_WITH_LINE = "SELECT 1 FROM run_events WHERE run_id = $1 AND body::text LIKE '%wait 1 in%'";
const STORED = `
  SELECT 1 FROM runs WHERE id = $1 AND checkpoint_at > (
    SELECT max(at) FROM run_events WHERE run_id = runs.id AND body::text LIKE '%wait 1 in%')`;
/** What a worker has left of a run that ended. */
const LEFT = `
  SELECT lease_token IS NOT NULL AS "isHeld", checkpoint IS NOT NULL AS "hasFiles", work_checkpoint IS NOT NULL AS "hasWork"
  FROM runs WHERE id = $1`;
const ENDED = "SELECT 1 FROM runs WHERE id = $1 AND state = 'SUCCEEDED'";
const SECOND_TURN = "SELECT 1 FROM run_events WHERE run_id = $1 AND kind = 'turn.started' AND turn = 2";
const NOT_STORED =
  "The workspace could not be stored: The disk of the worker is full. An operator must make room on it.";

const skipped = reasonToSkipGit() ?? (await reasonToSkipSmallDisk());
let repositories: GitRepositories;
let gitServer: GitHttpServer;

beforeAll(async () => {
  repositories = await GitRepositories.create();
  if (skipped === undefined) {
    await pushLargeRepository(repositories);
    await pushLargeRepository(repositories, "acme/small-enough", 2);
  }
  gitServer = await GitHttpServer.start(repositories.root);
}, PROMISE_MS);
afterAll(async () => {
  await gitServer.stop();
  await repositories.remove();
});

const start = (harness: FaultHarness, env: Record<string, string> = {}, dataDir?: string) =>
  harness.start({ ERRAND_GIT_URL: gitServer.url, ...env }, dataDir);

async function createRun(harness: FaultHarness, { api }: Worker, ...steps: readonly string[]) {
  const runId = await api.createRun(steps.join("\n"), LARGE);
  harness.acknowledge(runId);
  return runId;
}

const endOf = async ({ api }: Worker, runId: string, state = "SUCCEEDED") => {
  const { warnings = [] } = await api.waitForState(runId, state, PROMISE_MS);
  return { log: JSON.stringify(await api.events(runId)), warnings: String(warnings) };
};

test.skipIf(skipped !== undefined)(
  "a worker with a repository of 150 MiB is killed in its turn, and another one continues with the work",
  OPTIONS,
  () =>
    withFaultHarness(async (harness) => {
      const semaphore = harness.semaphore();
      const killed = await start(harness, { ERRAND_CHECKPOINT_MINUTES: "0.05" });
      const runId = await createRun(harness, killed, WORK, semaphore.step, REPORT);
      await harness.waitForRow(STORED, runId);

      await killed.end("SIGKILL");
      await semaphore.open();
      const { log, warnings } = await endOf(await start(harness), runId);

      expect(log).toContain("has 2 commits, 2 lines and 15 files");
      expect(warnings).toMatch(
        /The worker was lost during turn 1\. What it changed after .* was not stored\./,
      );
      await harness.check();
    }),
);

test.skipIf(skipped !== undefined)(
  "a worker with a large repository is killed after the end of a turn, before it has stored the whole, and nothing is lost",
  OPTIONS,
  () =>
    withFaultHarness(async (harness) => {
      const killed = await start(harness);
      const runId = await killed.api.createRun(WORK, { config: { repository: "acme/small-enough" } });
      harness.acknowledge(runId);
      await harness.waitForRow(ENDED, runId);
      await killed.end("SIGKILL");
      const [left] = await harness.rows(LEFT, runId);

      const next = await start(harness);
      await next.api.followUp(runId, [WORK, REPORT].join("\n"));
      await harness.waitForRow(SECOND_TURN, runId);
      const { log, warnings } = await endOf(next, runId);

      expect(left).toEqual({ isHeld: true, hasFiles: true, hasWork: false });
      expect(log).toContain("has 2 commits, 2 lines and 2 files");
      expect(warnings).toBe("");
      await harness.check();
    }),
);

test.skipIf(skipped !== undefined)(
  "a worker with a repository of 150 MiB is stopped in its turn, and another one continues with all of its work",
  OPTIONS,
  () =>
    withFaultHarness(async (harness) => {
      const semaphore = harness.semaphore();
      const stopped = await start(harness);
      const runId = await createRun(harness, stopped, WORK, semaphore.step, REPORT);
      await harness.waitForRow(INPROGRESS_WITH_LINE, runId);

      expect(await stopped.end("SIGTERM")).toBe(0);
      await semaphore.open();
      const { log, warnings } = await endOf(await start(harness), runId);

      expect(log).toContain("has 2 commits, 2 lines and 15 files");
      expect(warnings).toBe("");
      await harness.check();
    }),
);

test.skipIf(skipped !== undefined)(
  "a worker whose disk is full says that the files are not stored and takes no run, and another one says what is missing",
  OPTIONS,
  async () => {
    const disk = await mountSmallDisk(DISK_MB);
    try {
      await withFaultHarness(async (harness) => {
        const semaphore = harness.semaphore();
        const full = await start(harness, { ERRAND_MIN_FREE_DISK_GIB: "0.02" }, `${disk.path}/data`);
        const runId = await createRun(harness, full, WORK);
        await endOf(full, runId);
        await full.api.followUp(runId, [WORK, semaphore.step].join("\n"));
        await harness.waitForRow(INPROGRESS_WITH_LINE, runId);

        await disk.fill();
        await semaphore.open();
        // The agent cannot write its session either.
        expect((await endOf(full, runId, "ERROR")).warnings).toContain(NOT_STORED);
        await full.api.followUp(runId, REPORT);
        const { log, warnings } = await endOf(await start(harness), runId);

        expect(log).toContain("has 1 commits, 1 lines and 15 files");
        expect(warnings).toMatch(/The run continues with the files as they were stored at .* UTC\./);
        await harness.check();
      });
    } finally {
      await disk.unmount();
    }
  },
);
