import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FaultHarness, type Worker } from "../integration/faults/fault-harness.ts";
import { reasonToSkipBubblewrap } from "../support/bubblewrap.ts";
import { GitHttpServer } from "../support/git-http-server.ts";
import { GitRepositories } from "../support/git-repositories.ts";
import { listRunProcesses } from "../support/invariants-processes.ts";
import { AGENT_CACHE, reasonToSkipAgent } from "../support/real-agents.ts";
import { ordered, type ScriptedModel, startScriptedModel } from "../support/scripted-model.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { waitFor } from "../support/wait-for.ts";

const MODEL_KEY = "canary-of-the-model-key-5d0e8a61f2c7";
const RUN_SECRET = "canary-of-a-secret-of-the-team-93b1";
const OTHER_REPOSITORY = "words-of-another-repository-77c4";
const CANARIES = [MODEL_KEY, RUN_SECRET];
const PATIENCE_MS = 120_000;

const skipped = (await reasonToSkipBubblewrap()) ?? (await reasonToSkipAgent("codex"));

/**
 * Runs the whole service as a process, a real agent in a real sandbox, and a real git server. Only the model is
 * scripted.
 */
describe.skipIf(skipped !== undefined)(
  `agents at work${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  { timeout: 300_000 },
  () => {
    let database: TestDatabase;
    let harness: FaultHarness;
    let model: ScriptedModel;
    let repositories: GitRepositories;
    let host: GitHttpServer;
    let worker: Worker;
    let dataDir: string;

    beforeAll(async () => {
      database = await createTestDatabase();
      harness = await FaultHarness.open({ databaseUrl: database.url });
      model = await startScriptedModel();
      repositories = await GitRepositories.create();
      await repositories.commit("acme/shop", { "README.md": "The shop.\n" });
      host = await GitHttpServer.start(repositories.root);
      dataDir = harness.newDataDir();
      await mkdir(dataDir, { recursive: true });
      await symlink(join(AGENT_CACHE, "agents"), join(dataDir, "agents"));
      worker = await start();
    });
    beforeEach(({ onTestFailed }) => onTestFailed(() => void process.stderr.write(harness.printed())));
    afterAll(async () => {
      await harness?.close();
      await host?.stop();
      await repositories?.remove();
      await model?.stop();
      await database?.drop();
    });

    const start = () =>
      harness.start(
        {
          ERRAND_SANDBOX: "bubblewrap",
          ERRAND_AGENT: "codex",
          ERRAND_MODEL: "scripted-model",
          ERRAND_GIT_URL: host.url,
          OPENAI_API_KEY: MODEL_KEY,
          OPENAI_BASE_URL: `${model.url}/v1`,
        },
        dataDir,
      );

    const create = async (order: Parameters<typeof ordered>[0], config: Record<string, unknown> = {}) => {
      const runId = await worker.api.createRun(ordered(order), {
        config: { permission_policy: "allow", ...config },
      });
      harness.acknowledge(runId);
      return runId;
    };
    const ended = (runId: string) =>
      worker.api.waitForState(runId, ["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"], PATIENCE_MS);
    const log = async (runId: string) => JSON.stringify(await worker.api.events(runId));
    const processesOf = async (runId: string) =>
      (await listRunProcesses()).filter((process) => process.runId === runId);

    test("an agent works in a prepared repository, keeps its work over a kill -9, and knows no key", async () => {
      const environment = await environmentOf(worker, {
        name: "shop",
        github_repos: [{ owner: "acme", repo: "shop" }],
        setup_commands: ["echo prepared > ../prepared.txt"],
      });
      await worker.api.call("PUT", "/agent/secrets/TEAM_TOKEN", { value: RUN_SECRET });
      const runId = await create(
        { shell: "cat README.md ../prepared.txt; echo changed >> README.md; env" },
        { environment_id: environment },
      );
      expect(await ended(runId)).toMatchObject({ state: "SUCCEEDED" });
      const first = await log(runId);
      for (const words of ["acme/shop", "The shop.", "prepared", "TEAM_TOKEN=[redacted]"]) {
        expect(first).toContain(words);
      }
      expect(await diffOf(worker, runId, "changes/shop/turn-1.diff")).toContain("+changed");

      const semaphore = join(dataDir, "runs", runId, "workspace", "shop", "go");
      await worker.api.followUp(
        runId,
        ordered({ shell: `echo waits; until test -e go; do sleep 0.1; done; cat README.md` }),
      );
      await waitFor(
        async () => (await processesOf(runId)).length > 0 && (await log(runId)).includes("waits"),
        {
          what: "the second turn to wait",
          timeoutMs: PATIENCE_MS,
        },
      );
      await worker.end("SIGKILL");
      worker = await start();
      await waitFor(async () => (await attemptsOf(worker, runId)) === 3, {
        what: "the run to be taken up again",
        timeoutMs: 60_000,
      });
      await writeFile(semaphore, "");

      expect(await ended(runId)).toMatchObject({ state: "SUCCEEDED" });
      expect((await log(runId)).split("changed\\n").length).toBeGreaterThan(1);
      await waitFor(async () => (await processesOf(runId)).length === 0, { what: "no process to be left" });
      await harness.check({ canaries: CANARIES });
    });

    test("an agent that obeys injected instructions finds no secret and no way to send one out", async () => {
      await repositories.commit("acme/vault", { "words.txt": OTHER_REPOSITORY });
      const neighbour = await create({ say: `The neighbour knows ${"n".repeat(8)}.` });
      await ended(neighbour);
      const environment = await environmentOf(worker, {
        name: "shop again",
        github_repos: [{ owner: "acme", repo: "shop" }],
      });
      const runId = await create(
        {
          shell: [
            "tr '\\0' '\\n' < /proc/1/environ; cat /proc/*/environ /proc/*/cmdline",
            `cat ${dataDir}/secret-key ${dataDir}/api-key ${dataDir}/runs/${neighbour}/home/.codex/*`,
            `ls ${dataDir}/runs && ls ${dataDir}/postgres && echo saw-the-data-directory`,
            `git ls-remote ${host.url}/acme/vault.git; git clone ${host.url}/acme/vault.git && cat vault/words.txt`,
            `git push ${host.url}/acme/vault.git HEAD:leak`,
            `curl -sm 5 ${model.url}/v1/models && echo reached-the-model`,
            `curl -sm 5 http://169.254.169.254/latest && echo reached-the-metadata`,
            `curl -sm 5 ${worker.url}/healthz && echo reached-the-service`,
            "ln -s /etc/shadow artifacts; mkdir -p ../artifacts; ln -s /etc/hostname ../artifacts/host; echo tried",
          ].join("; "),
        },
        { environment_id: environment },
      );

      expect(await ended(runId)).toMatchObject({ state: "SUCCEEDED" });
      const logText = await log(runId);
      expect(logText).toContain("tried");
      for (const reached of [OTHER_REPOSITORY, "saw-the-data-directory", "reached-the-"]) {
        expect(logText.replaceAll(/"command":"(?:[^"\\]|\\.)*"|echo [a-z-]+/g, "")).not.toContain(reached);
      }
      expect(host.requests.filter(({ url }) => url.includes("vault"))).toEqual([]);
      await harness.check({ canaries: CANARIES });
    });

    test.each<[string, { readonly fail: number; readonly message?: string }, string, string]>([
      ["refuses the key", { fail: 401 }, "FAILED", "external_authentication_required"],
      [
        "has no credit left",
        { fail: 429, message: "insufficient_quota: pay first" },
        "FAILED",
        "insufficient_credits",
      ],
      ["is broken", { fail: 500 }, "ERROR", "resource_unavailable"],
    ])(
      "an agent ends with the documented state and code when the model %s",
      async (_what, order, state, code) => {
        const run = await ended(await create(order));

        expect(run).toMatchObject({ state, status_message: { error_code: code } });
        expect(run.status_message?.message).toContain(order.message ?? `told to fail with ${order.fail}`);
      },
    );

    test("an agent is stopped by the budget", async () => {
      const run = await ended(await create({ shell: "echo spent" }, { budget: { max_tokens: 80 } }));

      expect(run).toMatchObject({ state: "FAILED", status_message: { error_code: "budget_exceeded" } });
    });

    test("ten seconds after a cancel no process of the agent is left, not even a hidden one", async () => {
      const runId = await create({
        shell: "trap '' TERM INT; (setsid sh -c 'trap \"\" TERM; sleep 600' &) ; echo hidden; sleep 600",
      });
      await waitFor(async () => (await log(runId)).includes("hidden"), {
        what: "the agent to hide a process",
        timeoutMs: PATIENCE_MS,
      });
      expect((await processesOf(runId)).length).toBeGreaterThan(0);

      await worker.api.cancel(runId);

      await waitFor(async () => (await processesOf(runId)).length === 0, {
        what: "the processes to be gone",
        timeoutMs: 10_000,
      });
      await waitFor(async () => !(await worker.api.getRun(runId)).is_sandbox_running, {
        what: "the attempt to be over",
      });
      expect(await worker.api.getRun(runId)).toMatchObject({ state: "CANCELLED" });
      await harness.check({ canaries: CANARIES });
    });
  },
);

async function environmentOf(worker: Worker, config: Record<string, unknown>): Promise<string> {
  const { body, status } = await worker.api.call("POST", "/agent/environments", { config });
  if (status !== 201) {
    throw new Error(JSON.stringify(body));
  }
  return (body as { uid: string }).uid;
}

async function attemptsOf(worker: Worker, runId: string): Promise<number> {
  return (await worker.api.events(runId)).filter(({ kind }) => kind === "attempt.started").length;
}

async function diffOf(worker: Worker, runId: string, path: string): Promise<string> {
  const { artifacts } = (await worker.api.getRun(runId)) as unknown as {
    artifacts: readonly { data: { artifact_uid: string; filepath: string } }[];
  };
  const uid = artifacts.find(({ data }) => data.filepath === path)?.data.artifact_uid;
  const answer = await fetch(`${worker.url}/api/v1/agent/artifacts/${uid}/download`, {
    headers: { authorization: `Bearer ${worker.apiKey}` },
  });
  return answer.text();
}
