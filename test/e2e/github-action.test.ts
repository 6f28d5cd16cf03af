import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Errand } from "../../clients/typescript/src/index.ts";
import { makeFolder, removeFolder } from "../support/data-dir.ts";
import { type OidcIssuer, startOidcIssuer } from "../support/oidc-issuer.ts";
import { type Service, startService } from "../support/service.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { waitFor } from "../support/wait-for.ts";

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../..");
const REQUEST_TOKEN = "the runner's own token";
const WORKFLOW = {
  repository: "acme/app",
  repository_id: "812345678",
  ref: "refs/heads/main",
  event_name: "push",
};

test("the committed bundle is the one of the sources", async () => {
  const folder = await mkdtemp(join(tmpdir(), "errand-action-"));
  try {
    await run(process.execPath, [join(ROOT, "action/build.js"), folder]);

    const [built, committed] = await Promise.all(
      [join(folder, "index.js"), join(ROOT, "action/dist/index.js")].map((file) => readFile(file, "utf8")),
    );
    expect(committed, "Run: node action/build.js").toBe(built);
  } finally {
    await rm(folder, { recursive: true });
  }
});

describe("the action", () => {
  let database: TestDatabase;
  let folder: string;
  let service: Service;
  let issuer: OidcIssuer;
  let runner: Server;
  let client: Errand;
  let requestUrl: string;
  const audiences: (string | null)[] = [];

  beforeAll(async () => {
    [database, folder] = await Promise.all([createTestDatabase(), makeFolder()]);
    issuer = await startOidcIssuer("http://127.0.0.1/callback");
    service = await startService(join(folder, "data"), {
      DATABASE_URL: database.url,
      ERRAND_SECRET_KEY: "the secret key of a test, 32 characters and more",
      ERRAND_WEBHOOK_ALLOW: "127.0.0.1",
    });
    client = new Errand({ baseUrl: service.url, apiKey: service.apiKey });
    runner = createServer(async (request, response) => {
      const audience = new URL(request.url ?? "", "http://runner").searchParams.get("audience");
      audiences.push(audience);
      const isKnown = request.headers.authorization === `Bearer ${REQUEST_TOKEN}`;
      const value = await issuer.sign({ ...WORKFLOW, aud: audience ?? "" });
      response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" });
      response.end(JSON.stringify({ count: value.length, value }));
    });
    runner.listen(0, "127.0.0.1");
    await once(runner, "listening");
    requestUrl = `http://127.0.0.1:${(runner.address() as AddressInfo).port}/token?api-version=2.0`;
    const { uid } = await client.principals.create({ type: "service_account", display_name: "CI" });
    const workflow = {
      issuer: issuer.url,
      repository_ids: [WORKFLOW.repository_id],
      refs: ["refs/heads/main"],
      events: ["push"],
    };
    const match = { workflow, principals: [uid] };
    await client.policies.create({ name: "CI of acme/app", effect: "allow", match });
  });
  afterAll(async () => {
    await service.end("SIGTERM");
    runner.close();
    await issuer.stop();
    await database.drop();
    await removeFolder(folder);
  });

  let files: { readonly output: string; readonly summary: string };
  beforeEach(async () => {
    files = { output: join(folder, "output"), summary: join(folder, "summary") };
    await Promise.all(Object.values(files).map((file) => writeFile(file, "")));
  });

  /** Starts the entry as a runner does, with nothing else in the environment. */
  function start(inputs: Record<string, string>, variables: Record<string, string> = {}) {
    const given = { server: service.url, repository: "none", wait: "true", ...inputs };
    const env = {
      ...Object.fromEntries(
        Object.entries(given).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]),
      ),
      GITHUB_ACTIONS: "true",
      GITHUB_OUTPUT: files.output,
      GITHUB_STEP_SUMMARY: files.summary,
      GITHUB_REPOSITORY: WORKFLOW.repository,
      GITHUB_RUN_ID: "42",
      GITHUB_SERVER_URL: "https://github.example.com",
      ACTIONS_ID_TOKEN_REQUEST_URL: requestUrl,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: REQUEST_TOKEN,
      ...variables,
    };
    return run(process.execPath, [join(ROOT, "action/dist/index.js")], { env, cwd: folder });
  }

  /** The output of a step that fails. */
  async function failed(...args: Parameters<typeof start>): Promise<string> {
    const result = await start(...args).catch((error: { code: number; stdout: string }) => error);
    expect(result).toMatchObject({ code: 1 });
    return result.stdout;
  }

  /** The outputs as the runner reads them. */
  async function outputs(): Promise<Record<string, string>> {
    const text = await readFile(files.output, "utf8");
    const found = text.matchAll(/^([\w-]+)<<(\S+)\n([\s\S]*?)\n\2$/gm);
    return Object.fromEntries(Array.from(found, ([, name, , value]) => [name, value]));
  }

  test("exchanges the token of the job for a key, waits, and hands over outputs and a summary", async () => {
    audiences.length = 0;

    const { stdout } = await start({ prompt: "say The build is fixed." });

    const { "run-id": id = "", ...others } = await outputs();
    const stored = await client.runs.retrieve(id);
    expect(others).toEqual({
      "session-link": stored.session_link,
      state: "SUCCEEDED",
      answer: expect.stringMatching(/^The build is fixed\.$/m),
      "pull-request": "",
    });
    expect(stored).toMatchObject({
      source: "GITHUB_ACTION",
      creator: { type: "service_account", display_name: "CI" },
      metadata: { workflow_run: "https://github.example.com/acme/app/actions/runs/42" },
    });
    expect(audiences).toEqual([service.url]);
    const summary = await readFile(files.summary, "utf8");
    expect(summary).toContain(`[The run](${stored.session_link})`);
    expect(summary).toContain("The build is fixed.");
    expect(stdout).toContain("Run is SUCCEEDED.");
    expect(stdout).toMatch(/^::add-mask::errand_/m);
  });

  test("works with a key from a secret, without any token", async () => {
    const variables = { ACTIONS_ID_TOKEN_REQUEST_URL: "", ACTIONS_ID_TOKEN_REQUEST_TOKEN: "" };

    await start({ prompt: "say x", "api-key": service.apiKey }, variables);

    expect(await outputs()).toMatchObject({ state: "SUCCEEDED", answer: expect.stringMatching(/^x$/m) });
  });

  test("does not let the agent's answer give commands to the runner", async () => {
    const answer = "::error::not the action's";

    const { stdout } = await start({ prompt: `say ${answer}` });

    const [, mark] = /::stop-commands::(\S+)\n(?:(?!::).*\n)*::error::not the action's\n/.exec(stdout) ?? [];
    expect(mark).toBeDefined();
    expect(stdout).toContain(`\n::${mark}::\n`);
    expect((await outputs()).answer).toContain(answer);
  });

  test("does not wait when it is told so", async () => {
    await start({ prompt: "sleep 600", wait: "false" });

    const { "run-id": id = "", answer, state } = await outputs();
    expect([answer, state === "SUCCEEDED"]).toEqual(["", false]);
    await client.runs.cancel(id);
  });

  test.each([
    ["a run that fails", { prompt: "fail" }, {}, /^::error::The run is (FAILED|ERROR)\./m],
    ["no prompt", { prompt: " " }, {}, /^::error::The input "prompt" is missing\. Add it to the step/m],
    ["an unknown environment", { prompt: "say x", environment: "web" }, {}, /no environment "web"/],
    [
      "a wrong word for pull requests",
      { prompt: "say x", "pull-request": "yes" },
      {},
      /must be off, draft or ready/,
    ],
    ["a wrong key", { prompt: "say x", "api-key": "errand_wrong" }, {}, /A valid API key is required/],
    [
      "a job without permission",
      { prompt: "say x" },
      { ACTIONS_ID_TOKEN_REQUEST_URL: "" },
      /"id-token: write"/,
    ],
    ["a refusal of the runner", { prompt: "say x" }, { ACTIONS_ID_TOKEN_REQUEST_TOKEN: "x" }, /status 401/],
    [
      "an audience that no policy names",
      { prompt: "say x", audience: "me" },
      {},
      /No policy gives workflows with/,
    ],
  ])("fails the step with a reason for %s", async (_, inputs, variables, reason) => {
    expect(await failed(inputs, variables)).toMatch(reason);
  });

  test("cancels the run when the workflow is cancelled, and when the time is over", async () => {
    const step = start({ prompt: "sleep 600" });
    await waitFor(
      async () =>
        step.child.stdout?.readableDidRead && (await client.runs.list({ state: ["INPROGRESS"] })).runs[0],
      {
        what: "a run at work",
      },
    );
    step.child.kill("SIGINT");
    const cancelled = await step.catch((error: { stdout: string }) => error);
    expect(cancelled.stdout).toContain("::error::The workflow was cancelled, and the run with it.");

    expect(await failed({ prompt: "sleep 600", "timeout-minutes": "0.05" })).toContain("was cancelled.");

    const open = async () => (await client.runs.list({ state: ["INPROGRESS"] })).runs.length === 0;
    await waitFor(open, { what: "both runs to be cancelled" });
  });
});
