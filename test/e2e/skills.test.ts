import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ApiClient, createApiClient } from "../support/api-client.ts";
import { reasonToSkipGit } from "../support/git-program.ts";
import { GitRepositories } from "../support/git-repositories.ts";
import { GitServer } from "../support/git-server.ts";
import { type Service, startService } from "../support/service.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { waitFor } from "../support/wait-for.ts";

const PATH = ".claude/skills/deploy/SKILL.md";

const skipped = reasonToSkipGit();
describe.skipIf(skipped !== undefined)(`skills${skipped === undefined ? "" : ` (${skipped})`}`, () => {
  let repositories: GitRepositories;
  let server: GitServer;
  let dataDir: string;
  let database: TestDatabase;
  let service: Service;
  let api: ApiClient;

  beforeAll(async () => {
    repositories = await GitRepositories.create();
    await repositories.commit("acme/tools", {
      [PATH]: "---\nname: deploy\ndescription: Deploys: all of it.\n---\nFollow the checklist.",
      ".claude/skills/deploy/checklist.sh": { mode: "100755", text: "#!/bin/sh" },
    });
    server = await GitServer.start(repositories.root);
    dataDir = await mkdtemp(join(tmpdir(), "errand-skills-"));
    database = await createTestDatabase();
    service = await startService(dataDir, {
      DATABASE_URL: database.url,
      ERRAND_SECRET_KEY: "k".repeat(32),
      ERRAND_GIT_URL: server.url,
    });
    api = createApiClient(service);
  });
  afterAll(async () => {
    await service?.end("SIGTERM");
    await database?.drop();
    await server?.stop();
    await repositories?.remove();
    await rm(dataDir, { recursive: true, force: true });
  });

  test("skills are listed from their repository, and an agent receives their instructions and files", async () => {
    const listed = await api.call("GET", "/agent?repo=acme/tools");
    const [agent] = (listed.body as { agents: { name: string; variants: { id: string }[] }[] }).agents;
    expect(agent).toMatchObject({ name: "deploy", variants: [{ description: "Deploys: all of it." }] });

    const runId = await api.createRun("Deploy the blue one", { skill: agent?.variants[0]?.id });
    const run = await api.waitForState(runId, "SUCCEEDED");

    expect(run).toMatchObject({ agent_skill: { name: "deploy", full_path: PATH } });
    const workspace = join(dataDir, "runs", runId, "workspace");
    expect(await readFile(join(workspace, "ERRAND-REPORT.md"), "utf8")).toContain("Follow the checklist.");
    expect((await stat(join(workspace, ".skills/deploy/checklist.sh"))).mode & 0o100).toBe(0o100);
  });

  test("an unknown skill is refused at once", async () => {
    const [skill, repository] = await Promise.all([
      api.call("POST", "/agent/runs", { skill: "acme/tools:nothing" }),
      api.call("POST", "/agent/runs", { skill: "acme/nowhere:deploy" }),
    ]);

    expect([skill.status, repository.status]).toEqual([404, 404]);
  });

  test("a skill that is still being fetched does not keep the service from stopping", async () => {
    let isAsked = false;
    server.intercept = () => {
      isAsked = true;
      return true;
    };
    const answer = api.call("POST", "/agent/runs", { skill: "acme/other:deploy" });
    await waitFor(() => isAsked, { what: "git to ask" });

    const [code, { status }] = await Promise.all([service.end("SIGTERM"), answer]);

    expect([code, status]).toEqual([0, 503]);
  });
});
