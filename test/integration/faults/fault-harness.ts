import { chmod, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { QueryResultRow } from "pg";
import { expect } from "vitest";
import { withConnection } from "../../../src/storage/connection.ts";
import { type ApiClient, createApiClient } from "../../support/api-client.ts";
import { type EmulatedSlack, startEmulatedSlack } from "../../support/emulated-slack.ts";
import { type CheckedSystem, checkInvariants, slackThreads } from "../../support/invariants.ts";
import { listRunProcesses } from "../../support/invariants-processes.ts";
import { type Service, slackEnvironment, startService } from "../../support/service.ts";
import { createEmptyDatabase, createTestDatabase } from "../../support/test-database.ts";
import { waitFor } from "../../support/wait-for.ts";

const SECRET_KEY = "canary-of-the-secret-key-8c1f0d7a6b5e";
const API_KEY = "canary-of-the-api-key-4e2b9c7d1f3a";

const ENTERABLE = 0o711;
const SESSION = { applicationName: "errand tests", queryLimitMs: 30_000 };

/** A process of the service, with a data directory of its own unless it shares one. */
export interface Worker extends Service {
  readonly dataDir: string;
  readonly api: ApiClient;
}

export interface FaultHarnessOptions {
  readonly databaseUrl: string;
  readonly withSlack?: boolean;
}

/** Runs `work` with a harness on a database of its own, so that tests of one file can run concurrently. */
export async function withFaultHarness(
  work: (harness: FaultHarness) => Promise<void>,
  { withSlack = false, isEmpty = false } = {},
): Promise<void> {
  const database = await (isEmpty ? createEmptyDatabase() : createTestDatabase());
  const harness = await FaultHarness.open({ databaseUrl: database.url, withSlack });
  try {
    await work(harness);
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${harness.printed()}`, {
      cause: error,
    });
  } finally {
    await harness.close();
    await database.drop();
  }
}

/** Processes of the service on one database, the Slack that they use, and the requests that they acknowledged. */
export class FaultHarness {
  readonly databaseUrl: string;
  readonly #slack: EmulatedSlack | undefined;
  readonly #folder: string;
  readonly #workers: Worker[] = [];
  readonly #starting: Promise<Worker>[] = [];
  readonly #runIds: string[] = [];
  readonly #deliveries: { adapter: string; deliveryId: string }[] = [];

  static async open({ databaseUrl, withSlack = false }: FaultHarnessOptions): Promise<FaultHarness> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "errand-fault-")));
    await chmod(folder, ENTERABLE);
    return new FaultHarness(databaseUrl, folder, withSlack ? await startEmulatedSlack() : undefined);
  }

  private constructor(databaseUrl: string, folder: string, slack: EmulatedSlack | undefined) {
    this.databaseUrl = databaseUrl;
    this.#folder = folder;
    this.#slack = slack;
  }

  get slack(): EmulatedSlack {
    if (this.#slack === undefined) {
      throw new Error("This harness has no Slack.");
    }
    return this.#slack;
  }

  start(env: Record<string, string> = {}, dataDir = this.newDataDir()): Promise<Worker> {
    const starting = this.#start(env, dataDir);
    this.#starting.push(starting);
    return starting;
  }

  async #start(env: Record<string, string>, dataDir: string): Promise<Worker> {
    const service = await startService(dataDir, { ...this.environment(), ...env });
    const worker = { ...service, dataDir, api: createApiClient(service) };
    this.#workers.push(worker);
    return worker;
  }

  environment(): Record<string, string> {
    return {
      DATABASE_URL: this.databaseUrl,
      ERRAND_SECRET_KEY: SECRET_KEY,
      ERRAND_ADMIN_KEY: API_KEY,
      ERRAND_SANDBOX: "local",
      // Many processes share the server of the test run, which allows a hundred connections.
      ERRAND_DATABASE_CONNECTIONS: "2",
      ...(this.#slack === undefined ? {} : slackEnvironment(this.#slack)),
    };
  }

  /**
   * A step of the demo agent that lasts until `open` is called. It prints numbered lines, so that no two parts are
   * equal.
   */
  semaphore(): { readonly step: string; open(): Promise<void> } {
    const file = join(this.#folder, `open-${crypto.randomUUID()}`);
    const step = `shell n=0; until test -e ${file}; do n=$((n + 1)); echo "wait $n in $PWD"; sleep 0.1; done`;
    return { step, open: () => writeFile(file, "") };
  }

  /** A step that appends to a file outside the workspace, and a function that counts how often it ran. */
  mark(): { readonly step: string; count(): Promise<number> } {
    const file = join(this.#folder, `marks-${crypto.randomUUID()}`);
    const read = () => readFile(file, "utf8").catch(() => "");
    return { step: `shell echo mark >> ${file}`, count: async () => (await read()).split("mark").length - 1 };
  }

  newDataDir(): string {
    return join(this.#folder, crypto.randomUUID());
  }

  async createRun(at: Worker, prompt: string): Promise<string> {
    const runId = await at.api.createRun(prompt);
    this.acknowledge(runId);
    return runId;
  }

  acknowledge(...runIds: readonly string[]): void {
    this.#runIds.push(...runIds);
  }

  /** Sends a mention in Slack, waits for the acknowledgement, and returns the run that it created. */
  async mention(at: Worker, text: string): Promise<string> {
    return this.runOf(await this.sendMention(at, text));
  }

  /** Resolves with the delivery's id as soon as it is acknowledged. */
  async sendMention(at: Worker, text: string): Promise<string> {
    const deliveryId = `Ev${crypto.randomUUID()}`;
    const { appMention } = await this.slack.mention(this.slack.alice, { channel: "work", text });
    const answer = await this.slack.sendEvent(`${at.url}/webhooks/slack`, appMention, {
      eventId: deliveryId,
    });
    if (answer.status !== 200) {
      throw new Error(`The mention was answered ${answer.status}`);
    }
    this.#deliveries.push({ adapter: "slack", deliveryId });
    return deliveryId;
  }

  async runOf(deliveryId: string): Promise<string> {
    const sql = "SELECT run_id::text FROM inbox_events WHERE delivery_id = $1 AND run_id IS NOT NULL";
    return (await this.waitForRow<{ run_id: string }>(sql, deliveryId)).run_id;
  }

  rows<Row extends QueryResultRow>(sql: string, ...values: readonly unknown[]): Promise<Row[]> {
    return withConnection(
      this.databaseUrl,
      SESSION,
      async (client) => (await client.query<Row>(sql, [...values])).rows,
    );
  }

  /** Waits until `sql` returns a row. It polls often, because the row may exist only for a moment. */
  waitForRow<Row extends QueryResultRow>(sql: string, ...values: readonly unknown[]): Promise<Row> {
    return withConnection(this.databaseUrl, SESSION, (client) =>
      waitFor(async () => (await client.query<Row>(sql, [...values])).rows[0], {
        what: sql,
        timeoutMs: 30_000,
        everyMs: 5,
      }),
    );
  }

  /** Locks the run's row during `work`, so that nothing can write to the run. */
  whileLocked(runId: string, work: () => Promise<void>): Promise<void> {
    return withConnection(this.databaseUrl, SESSION, async (client) => {
      await client.query("BEGIN");
      await client.query("SELECT 1 FROM runs WHERE id = $1 FOR UPDATE", [runId]);
      try {
        await work();
      } finally {
        await client.query("ROLLBACK");
      }
    });
  }

  /** Locks a table during `work`, so that its statements get no answer. */
  whileTableLocked(table: string, work: () => Promise<void>): Promise<void> {
    return withConnection(this.databaseUrl, SESSION, async (client) => {
      await client.query("BEGIN");
      await client.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
      try {
        await work();
      } finally {
        await client.query("ROLLBACK");
      }
    });
  }

  /** The output of all processes, for error messages. */
  printed(): string {
    const lines = (worker: Worker) =>
      worker
        .output()
        .split("\n")
        .filter((line) => !line.includes("request.answered"));
    return this.#workers.flatMap((worker) => [`--- ${worker.dataDir}`, ...lines(worker)]).join("\n");
  }

  check(more: Partial<CheckedSystem> = {}): Promise<void> {
    const slack = this.#slack;
    expect(slack?.overLimits ?? []).toEqual([]);
    return checkInvariants({
      databaseUrl: this.databaseUrl,
      acknowledged: { runIds: this.#runIds, deliveries: this.#deliveries },
      threads: slack === undefined ? [] : [slackThreads(slack)],
      canaries: [SECRET_KEY, API_KEY, ...(slack === undefined ? [] : [slack.botToken, slack.signingSecret])],
      responses: this.#workers.map((worker) => worker.output()),
      ...more,
    });
  }

  /** Kills all remaining processes. A test must wait itself for processes that should end on their own. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#starting);
    for (const worker of this.#workers) {
      await worker.end("SIGKILL");
    }
    const ours = (await listRunProcesses()).filter(({ environment }) => environment.includes(this.#folder));
    for (const { pid } of ours) {
      killNow(pid);
    }
    await this.#slack?.stop();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

function killNow(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) {
      throw error;
    }
  }
}
