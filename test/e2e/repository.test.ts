import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunId } from "../../src/core/basics/ids.ts";
import { branchOf } from "../../src/core/work/workspaces/branch-name.ts";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { makeFolder, removeFolder } from "../support/data-dir.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../support/emulated-github.ts";
import { GitHttpServer } from "../support/git-http-server.ts";
import { GitRepositories } from "../support/git-repositories.ts";
import { type Service, startService } from "../support/service.ts";
import { waitFor } from "../support/wait-for.ts";

/** The timeout is generous because other tests may run at the same time. */

const SETUP = ["test -f README.md", "test ! -f broken"];

let github: EmulatedGithub;
let repositories: GitRepositories;
let gitServer: GitHttpServer;
let folder: string;
let service: Service;
let api: ApiClient;
let base: string;
/** The token that the team stores as a secret, and what git sends of it. */
let token: string;
let basic: string;

/** The service without the App, and a private repository that only the team's token opens. */
beforeAll(async () => {
  github = await startEmulatedGithub();
  token = github.writer.token;
  basic = `Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`;
  repositories = await GitRepositories.create();
  const lines = Array.from({ length: 20 }, (_, line) => `line ${line}`).join("\n");
  base = await repositories.commit("acme/widgets", { "README.md": "# Widgets\n", "old.txt": `${lines}\n` });
  gitServer = await GitHttpServer.start(repositories.root, basic);
  folder = await makeFolder();
  service = await startService(`${folder}/data`, {
    ERRAND_GIT_URL: gitServer.url,
    GITHUB_API_URL: github.apiUrl,
  });
  api = createApiClient(service);
});

afterAll(async () => {
  await service.end("SIGTERM");
  await gitServer.stop();
  await repositories.remove();
  await github.stop();
  await removeFolder(folder);
});

async function ended(runId: string) {
  const isFree = async () => {
    const run = await api.getRun(runId);
    return (
      ["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"].includes(run.state) && !run.is_sandbox_running && run
    );
  };
  return waitFor(isFree, { what: "the run to end", timeoutMs: 30_000 });
}

async function perform(prompt: string, config: Record<string, unknown>) {
  return ended(await api.createRun(prompt, { config }));
}

async function changesOf(runId: string) {
  const { body } = await api.call("GET", `/agent/runs/${runId}/changes`);
  return body as { turn: number; repositories: Record<string, unknown>[] };
}

interface ReadStatus {
  readonly url: string;
  readonly checks: { readonly total: number };
}

async function askGithub(method: string, path: string, content?: object) {
  const response = await fetch(`${github.apiUrl}/repos/acme/widgets${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(content === undefined ? {} : { body: JSON.stringify(content) }),
  });
  expect(response.ok, await response.clone().text()).toBe(true);
  return (await response.json()) as { readonly head?: { readonly sha: string } };
}

async function textAt(url: unknown): Promise<string> {
  const { pathname, search } = new URL(String(url));
  const response = await fetch(new URL(pathname + search, service.url));
  expect(response.status).toBe(200);
  return response.text();
}

test("without credentials a run with a pull request is refused, and a private repository is not read", async () => {
  const refused = await api.call("POST", "/agent/runs", {
    prompt: "say hello",
    config: { repository: "acme/widgets", pull_request: "draft" },
  });

  expect(refused).toMatchObject({
    status: 400,
    body: { code: "integration_not_configured", remedy: expect.stringContaining("GITHUB_TOKEN") },
  });
  expect(await perform("say hello", { repository: "acme/widgets" })).toMatchObject({
    state: "FAILED",
    status_message: { error_code: "environment_setup_failed" },
  });
});

describe("with the token of the team", () => {
  beforeAll(async () => {
    await api.call("PUT", "/agent/secrets/GITHUB_TOKEN", { value: token });
  });

  test("a run changes a private repository, and its work gets a pull request", async () => {
    const {
      run_id: id,
      artifacts,
      title,
    } = await perform(
      "shell git mv old.txt new.txt && printf 'more\\n' >> new.txt && printf '\\000\\001' > x.bin && env",
      { repository: "acme/widgets", ref: "main", pull_request: "draft" },
    );

    const branch = branchOf({ id: id as RunId, title: String(title) });
    const { repositories: changed, turn } = await changesOf(id);
    expect(turn).toBe(1);
    expect(changed).toEqual([
      {
        ...{ repository: "acme/widgets", branch, base, head: expect.stringMatching(/^[0-9a-f]{40}$/) },
        pull_request: expect.stringMatching(/\/pull\/\d+$/),
        files: [
          { path: "new.txt", old_path: "old.txt", status: "renamed", additions: 1, deletions: 0 },
          { path: "x.bin", status: "added", additions: null, deletions: null },
        ],
        diff_url: expect.any(String),
      },
    ]);
    expect(await textAt(changed[0]?.diff_url)).toContain("rename to new.txt");
    expect(await repositories.read("acme/widgets", branch, "new.txt")).toContain("more");
    expect(artifacts).toContainEqual(
      expect.objectContaining({
        artifact_type: "PULL_REQUEST",
        data: { url: changed[0]?.pull_request, branch, status: expect.any(String) },
      }),
    );
    expect(github.calls("POST", /\/pulls$/)).toMatchObject([
      { body: { base: "main", draft: true, head: branch } },
    ]);
    const events = JSON.stringify(await api.events(id));
    for (const text of [events, service.output()]) {
      expect(text).not.toContain(token);
      expect(text).not.toContain(basic);
    }
    expect(events).not.toContain("GITHUB_TOKEN=");
  });

  test("a run whose pull request is read has its state and the checks of its newest commit", async () => {
    const config = { repository: "acme/widgets", ref: "main", pull_request: "draft" };
    const { run_id: id } = await perform("write checked.txt yes", config);
    const statusOf = async () => (await api.getRun(id)).pull_request_status as ReadStatus | undefined;
    const first = await waitFor(statusOf, { what: "the status of the pull request" });
    const { head } = await askGithub("GET", `/pulls/${first.url.split("/").at(-1)}`);

    const check = { name: "unit", status: "completed", conclusion: "success", head_sha: head?.sha };
    await askGithub("POST", "/check-runs", check);

    const checked = async () => {
      const status = await statusOf();
      return status?.checks.total === 1 && status;
    };
    // Nothing is expected of a pull request without checks, so it is read once a minute.
    expect(await waitFor(checked, { what: "the check", timeoutMs: 85_000 })).toMatchObject({
      state: "draft",
      checks: { total: 1, passed: 1, failed: 0 },
      check_runs: [{ name: "unit", state: "passed" }],
    });
  }, 150_000);

  test("a follow-up and a retry work in the same repository", async () => {
    const { run_id: id } = await perform("write a.txt one", { repository: "acme/widgets" });
    await api.followUp(id, "write b.txt two");
    await ended(id);
    const { body } = await api.call("POST", `/agent/runs/${id}/retry`);
    const retried = await ended((body as { run_id: string }).run_id);

    const paths = async (runId: string) =>
      (await changesOf(runId)).repositories.map(({ files }) =>
        (files as { path: string }[]).map(({ path }) => path),
      );
    expect(await paths(id)).toEqual([["a.txt", "b.txt"]]);
    expect((await changesOf(id)).turn).toBe(2);
    expect(await paths(retried.run_id)).toEqual([["a.txt"]]);
    const handoff = await api.call("GET", `/agent/runs/${id}/handoff/attachments`);
    const { attachments } = handoff.body as { attachments: { filename: string; download_url: string }[] };
    expect(attachments.map(({ filename }) => filename).sort()).toEqual(["all.diff", "turn-2.diff"]);
    expect(await textAt(attachments.find(({ filename }) => filename === "all.diff")?.download_url)).toContain(
      "+one",
    );
  });

  test("the runs of an agent whose secrets leave the token out do not use it, although the mirror exists", async () => {
    await api.call("PUT", "/agent/secrets/OTHER", { value: "other" });
    const asAgent = async (...secrets: string[]) => {
      const made = await api.call("POST", "/agent/identities", {
        name: secrets.join(" and "),
        secrets: secrets.map((name) => ({ name })),
      });
      return { agent_identity_uid: (made.body as { uid: string }).uid };
    };
    const limited = await asAgent("OTHER");
    const config = { repository: "acme/widgets" };

    const run = await ended(await api.createRun("say hello", { config, ...limited }));
    const refused = await api.call("POST", "/agent/runs", {
      prompt: "say hello",
      config: { ...config, pull_request: "draft" },
      ...limited,
    });
    const allowed = await asAgent("GITHUB_TOKEN", "OTHER");
    const other = await ended(await api.createRun("say hello", { config, ...allowed }));

    expect(run).toMatchObject({
      state: "FAILED",
      status_message: { error_code: "environment_setup_failed" },
    });
    expect(refused).toMatchObject({ status: 400, body: { code: "integration_not_configured" } });
    expect(other.state).toBe("SUCCEEDED");
  });

  test("the list of changed files is cut at its limit and says so, and the diff has them all", async () => {
    const count = 3_001;
    const { run_id: id } = await perform(`shell for i in $(seq ${count}); do echo $i > f$i.txt; done`, {
      repository: "acme/widgets",
    });

    const { repositories: changed } = await changesOf(id);

    expect(changed).toMatchObject([{ repository: "acme/widgets", truncated: true }]);
    expect(changed[0]?.files).toHaveLength(3_000);
    expect((await textAt(changed[0]?.diff_url)).match(/^diff --git/gm)).toHaveLength(count);
  });

  test("a test of an environment is cancelled like a run, and says nothing about the environment", async () => {
    const config = { name: "slow", setup_commands: ["sleep 600"] };
    const made = await api.call("POST", "/agent/environments", { config });
    const { uid } = made.body as { uid: string };
    const { body } = await api.call("POST", `/agent/environments/${uid}/test`);
    const { run_id: id } = body as { run_id: string };
    await waitFor(async () => (await api.getRun(id)).state === "PENDING", { what: "the setup to begin" });

    const cancelled = await api.call("POST", `/agent/runs/${id}/cancel`);

    expect(cancelled).toMatchObject({ status: 200, body: id });
    expect(await ended(id)).toMatchObject({ state: "CANCELLED" });
    const environment = await api.call("GET", `/agent/environments/${uid}`);
    expect(environment.body).toMatchObject({ setup_failed: false });
  });

  test("a run that changed nothing has no changes", async () => {
    const { run_id: id } = await perform("say hello", { repository: "acme/widgets", pull_request: "ready" });

    expect(await changesOf(id)).toEqual({ turn: 1, repositories: [] });
  });

  test("the test of an environment prepares it without an agent, and says whether it failed", async () => {
    const config = {
      name: "widgets",
      github_repos: [{ owner: "acme", repo: "widgets" }],
      setup_commands: SETUP,
    };
    const made = await api.call("POST", "/agent/environments", { config });
    const { uid } = made.body as { uid: string };
    const testIt = async () => {
      const { body, status } = await api.call("POST", `/agent/environments/${uid}/test`);
      expect(status).toBe(200);
      return ended((body as { run_id: string }).run_id);
    };
    const setupFailed = async () =>
      ((await api.call("GET", `/agent/environments/${uid}`)).body as { setup_failed: boolean }).setup_failed;
    const before = await api.call("GET", "/agent/usage");

    const first = await testIt();

    expect(first).toMatchObject({ state: "SUCCEEDED", agent_config: { environment_id: uid } });
    expect((await api.events(first.run_id)).map(({ kind }) => kind)).not.toContain("agent.started");
    expect(await setupFailed()).toBe(false);

    await repositories.commit("acme/widgets", { "README.md": "# Widgets\n", broken: "" });
    expect(await testIt()).toMatchObject({
      state: "FAILED",
      status_message: { error_code: "environment_setup_failed" },
    });
    expect(await setupFailed()).toBe(true);

    await repositories.commit("acme/widgets", { "README.md": "# Widgets\n" });
    const last = await testIt();
    expect(last.state).toBe("SUCCEEDED");
    expect(await setupFailed()).toBe(false);

    expect((await api.call("GET", "/agent/usage")).body).toEqual(before.body);
    const answer = await api.call("POST", `/agent/runs/${last.run_id}/followups`, { message: "say hello" });
    expect(answer).toMatchObject({ status: 422, body: { code: "operation_not_supported" } });
  });
});
