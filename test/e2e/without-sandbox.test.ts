import { mkdir, readdir, readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { makeDataDirPath } from "../support/data-dir.ts";
import { type Service, startService } from "../support/service.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { waitFor } from "../support/wait-for.ts";

/** The timeout is generous because other tests may run at the same time. */
vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

const SANDBOXES: ReadonlySet<string> = new Set(["bwrap", "docker", "podman"]);
const SYSTEM_FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
const MODEL_KEY = {
  ERRAND_ADMIN_KEY: "an-administrators-key",
  ERRAND_SECRET_KEY: "canary-secret-key-0123456789abcdef",
  ANTHROPIC_API_KEY: "canary-model-key",
};

interface Stage {
  readonly folder: string;
  readonly dataDir: string;
  readonly service: Service;
  readonly api: ApiClient;
}

/** A folder with links to all programs of the system except those that isolate. */
async function makePath(folder: string): Promise<string> {
  await mkdir(folder);
  for (const directory of SYSTEM_FOLDERS) {
    for (const name of await readdir(directory).catch(() => [])) {
      if (!SANDBOXES.has(name)) {
        await symlink(join(directory, name), join(folder, name)).catch(() => undefined);
      }
    }
  }
  return folder;
}

/** The whole service on a machine without bubblewrap and docker, with its keys and its database in its data directory. */
async function startWithoutSandbox(env: Record<string, string> = {}): Promise<Stage> {
  const dataDir = await makeDataDirPath();
  const folder = dirname(dataDir);
  const path = await makePath(join(folder, "bin"));
  const service = await startService(dataDir, { PATH: path, ...env });
  onTestFinished(async () => void (await service.end("SIGTERM")));
  return { folder, dataDir, service, api: createApiClient(service) };
}

/** The run's state and everything that its agent said. */
async function perform(api: ApiClient, prompt: string, members: Record<string, unknown> = {}) {
  const runId = await api.createRun(prompt, members);
  const run = await api.waitForState(runId, ["SUCCEEDED", "FAILED", "ERROR"]);
  await waitFor(async () => !(await api.getRun(runId)).is_sandbox_running, { what: "the run to be free" });
  return { ...run, log: JSON.stringify(await api.events(runId)) };
}

/** Dropped after the services of the test have ended. */
async function makeDatabase(): Promise<string> {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  return database.url;
}

describe("a worker without bubblewrap and docker", () => {
  test("a run cannot read the administrator's key, the secret key or the database", async () => {
    const { api, dataDir, folder, service } = await startWithoutSandbox();
    const secretKey = (await readFile(join(dataDir, "secret-key"), "utf8")).trim();
    const up = "../../../../../../../..";
    const files = ["api-key", "secret-key", "postgres/data/PG_VERSION"].flatMap((name) => [
      join(dataDir, name),
      `${up}${join(dataDir, name)}`,
    ]);

    const shell = await perform(api, `shell cat ${join(dataDir, "api-key")} > stolen; touch ${folder}/ran`);
    const reads = await perform(
      api,
      [...files, "/proc/self/environ"].map((file) => `read ${file}`).join("\n"),
    );
    const writes = await perform(api, `write ${folder}/written.txt x\nwrite ${up}${folder}/written.txt x`);

    expect([shell, reads, writes].map(({ state }) => state)).toEqual(["SUCCEEDED", "SUCCEEDED", "SUCCEEDED"]);
    expect(shell.log).toMatch(/no sandbox.*Install bubblewrap or Docker/);
    expect(reads.log.match(/is outside the workspace/g)?.length).toBeGreaterThanOrEqual(files.length + 1);
    for (const { log } of [shell, reads, writes]) {
      expect(log).not.toContain(service.apiKey);
      expect(log).not.toContain(secretKey);
    }
    expect((await readdir(folder)).sort()).toEqual(["bin", "data"]);
  });

  test("a setup command is refused with the remedy", async () => {
    const { api, folder } = await startWithoutSandbox();
    const { body } = await api.call("POST", "/agent/environments", {
      config: { name: "Hostile", setup_commands: [`touch ${folder}/ran`] },
    });
    const { uid } = body as { uid: string };

    const setUp = await perform(api, "say done", { config: { environment_id: uid } });

    expect(setUp).toMatchObject({
      state: "FAILED",
      status_message: {
        error_code: "environment_setup_failed",
        message: expect.stringMatching(/no sandbox/),
        remedy: expect.stringMatching(/Install bubblewrap or docker/),
      },
    });
    expect((await readdir(folder)).sort()).toEqual(["bin", "data"]);
  });
});

describe("a worker without a sandbox and with a model key", () => {
  test("a worker without a sandbox starts, says what is missing, and refuses a real agent with the remedy", async () => {
    const { api, service } = await startWithoutSandbox({
      ...MODEL_KEY,
      DATABASE_URL: await makeDatabase(),
    });

    const refused = await api.call("POST", "/agent/runs", { prompt: "work" });
    const demo = await perform(api, "say done", { config: { harness: { type: "demo" } } });
    const { body: report } = await api.call("GET", "/agent/doctor");

    expect(refused).toMatchObject({
      status: 400,
      body: {
        error: expect.stringMatching(/The agent claude needs a sandbox, and no worker has one/),
        remedy: expect.stringMatching(/Install bubblewrap or docker/),
      },
    });
    expect(demo.state).toBe("SUCCEEDED");
    expect(JSON.stringify(report)).toMatch(/1 of 1 workers have no sandbox/);
    expect(service.output()).toMatch(
      /^WARNING: there is no sandbox, .*Runs of claude are refused\. .*bwrap is not installed\. .*apt-get install bubblewrap/m,
    );
  });

  test("a run that was created before the worker started ends with the remedy, and the worker continues", async () => {
    const shared = { ...MODEL_KEY, DATABASE_URL: await makeDatabase() };
    const { api } = await startWithoutSandbox({ ...shared, ERRAND_ROLE: "api" });
    const runId = await api.createRun("work");

    const { service: worker } = await startWithoutSandbox({ ...shared, ERRAND_ROLE: "worker" });
    const run = await api.waitForState(runId, ["SUCCEEDED", "FAILED", "ERROR"]);
    const next = await api.call("POST", "/agent/runs", { prompt: "work" });

    expect(run).toMatchObject({
      state: "FAILED",
      status_message: {
        error_code: "environment_setup_failed",
        message: expect.stringMatching(/The agent claude is not run without a sandbox/),
        remedy: expect.stringMatching(/Install bubblewrap or docker/),
      },
    });
    expect(next.status).toBe(400);
    expect(await worker.end("SIGTERM")).toBe(0);
  });
});

test("ERRAND_SANDBOX=local runs commands without isolation, and the start says what it does not protect", async () => {
  const { api, dataDir, service } = await startWithoutSandbox({ ERRAND_SANDBOX: "local" });

  const { log } = await perform(api, `shell wc -c ${join(dataDir, "api-key")}`);

  expect(log).toMatch(/ended with exit code 0/);
  expect(service.output()).toMatch(
    /^WARNING: ERRAND_SANDBOX=local protects nothing: .*secret key and the database\.$/m,
  );
});
