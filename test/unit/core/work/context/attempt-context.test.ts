import { beforeEach, describe, expect, test, vi } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import type { WorkspaceStep } from "../../../../../src/core/model/workspaces/workspace.ts";
import type { NewRun } from "../../../../../src/core/requests/prepare/new-run.ts";
import { retryOf } from "../../../../../src/core/requests/prepare/retry-of.ts";
import { storeInputFiles } from "../../../../../src/core/requests/prepare/store-input-files.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";
import { quiet } from "../../../../support/manual-clock.ts";

const HOME = { provenance: { repository: { id: 7, full_name: "acme/widgets" } } } as const;
const FROM_PULL = { provenance: { ...HOME.provenance, head: { branch: "feature" } } } as const;

let harness: CoreHarness;
beforeEach(async () => {
  harness = new CoreHarness();
});

async function perform(request: Partial<NewRun> = {}): Promise<RunId> {
  await harness.start();
  const { id } = await harness.create(request);
  await quiet();
  return id;
}

async function anEnvironmentOf(
  changes: Partial<ReturnType<typeof anEnvironment>["config"]> = {},
): Promise<Partial<NewRun>> {
  const environment = anEnvironment("e", "acme/tools", "acme/widgets");
  await harness.storage.environments.add({ ...environment, config: { ...environment.config, ...changes } });
  return { config: { environment_id: "e" } };
}

async function isMarkedFailed(): Promise<boolean | undefined> {
  const [environment] = await harness.storage.environments.list(anEnvironment("e").teamId);
  return environment?.setupFailed;
}

describe("the attempt context", () => {
  test("a run without an environment gets an empty workspace and no access to repositories", async () => {
    await perform();

    const [{ plan } = {}] = harness.workspaces.preparations;
    expect(plan).toEqual({ repositories: [], setupCommands: [] });
    expect(harness.gateways.grants).toMatchObject([{ repositories: [], mcpServers: {}, network: "none" }]);
    expect(harness.changes.marks).toBe(0);
  });

  test("a run uses its environment as it is when the run begins", async () => {
    const request = await anEnvironmentOf({
      image: "debian:12",
      setupCommands: ["npm ci"],
      network: "internet",
    });
    await perform(request);

    const repositories = [
      { owner: "acme", name: "tools" },
      { owner: "acme", name: "widgets" },
    ];
    expect(harness.workspaces.preparations).toMatchObject([
      {
        plan: { repositories, setupCommands: ["npm ci"], image: "debian:12" },
        gateway: harness.gateways.last,
      },
    ]);
    expect(harness.gateways.grants).toMatchObject([
      { repositories: repositories.map((each) => ({ ...each, push: true })), network: "internet" },
    ]);
    expect(harness.agents.starts).toMatchObject([{ image: "debian:12", gateway: harness.gateways.last }]);
  });

  test("a run without an environment uses the repository in which it was requested", async () => {
    await perform(HOME);

    const home = { owner: "acme", name: "widgets" };
    expect(harness.workspaces.preparations).toMatchObject([{ plan: { repositories: [home] } }]);
    expect(harness.workspaces.preparations[0]?.plan.repositories[0]).toEqual(home);
    expect(harness.gateways.grants).toMatchObject([{ repositories: [{ ...home, push: true }] }]);
    expect(harness.agents.starts[0]?.workspace.workingDirectory).toMatch(/\/workspace\/widgets$/);
  });

  test("a run requested in a pull request uses its branch, also in an environment", async () => {
    await perform({ ...FROM_PULL, ...(await anEnvironmentOf()) });

    expect(harness.workspaces.preparations[0]?.plan.repositories).toEqual([
      { owner: "acme", name: "tools" },
      { owner: "acme", name: "widgets", ref: "feature" },
    ]);
  });

  test.each([{ full_name: "widgets" }, { full_name: "a/b/c" }, { full_name: 7 }, "acme/widgets", null])(
    "a run whose provenance names no repository uses none: %j",
    async (repository) => {
      await perform({ provenance: { repository } });

      expect(harness.gateways.grants[0]?.repositories).toEqual([]);
    },
  );

  test("the repository of the skill is readable, and writable if it is the run's own", async () => {
    harness.skills.put("acme/skills", { ".agents/skills/go/SKILL.md": "Go." });
    harness.skills.put("Acme/Widgets", { ".agents/skills/go/SKILL.md": "Go." });

    await perform({ ...HOME, config: { skill_spec: "acme/skills:go" } });
    await harness.create({ ...HOME, config: { skill_spec: "Acme/Widgets:go" } });
    await quiet();

    expect(harness.gateways.grants.map(({ repositories }) => repositories)).toEqual([
      [
        { owner: "acme", name: "widgets", push: true },
        { owner: "acme", name: "skills", push: false },
      ],
      [{ owner: "acme", name: "widgets", push: true }],
    ]);
  });

  test("the attempt context is closed after everything else, whatever happened", async () => {
    harness.agents.scripts.push(async () => {
      throw new AppError("internal_error", "It died.", { reason: "agent_process_failed" });
    });
    await perform(HOME);
    harness.workspaces.prepareFaults.push(new AppError("environment_setup_failed", "No."));
    await harness.create();
    await quiet();

    expect(harness.journal).toEqual([
      "agent closed",
      "diff since clone",
      "gateway closed",
      "workspace stored",
      "gateway closed",
    ]);
    expect(harness.gateways.opened.map(({ isOpen }) => isOpen)).toEqual([false, false]);
  });

  test("an attempt context that cannot be opened ends the run and frees its lease", async () => {
    harness.gateways.faults.push(
      new AppError("resource_unavailable", "No more sockets.", { retryable: false }),
    );

    const id = await perform();

    expect(await harness.run(id)).toMatchObject({
      state: "ERROR",
      statusMessage: { message: "No more sockets.", errorCode: "resource_unavailable" },
    });
    expect(await harness.run(id)).not.toHaveProperty("lease");
    expect(harness.workspaces.preparations).toEqual([]);
  });
});

describe("the environment of a run", () => {
  test("a run whose environment was deleted meanwhile ends with a readable message", async () => {
    const request = await anEnvironmentOf();
    const { id, teamId } = await harness.create(request);
    await harness.storage.environments.remove(teamId, "e");

    await harness.start();
    await quiet();

    expect(await harness.run(id)).toMatchObject({
      state: "FAILED",
      statusMessage: { errorCode: "resource_not_found", message: expect.stringContaining("deleted") },
    });
    expect(harness.gateways.opened).toEqual([]);
  });

  const failed = () => new AppError("environment_setup_failed", "npm ci failed: no network");

  test("an environment whose commands fail is marked as failing until they succeed again", async () => {
    const request = await anEnvironmentOf();
    harness.workspaces.prepareFaults.push(failed());
    harness.workspaces.steps.push(step("running"));

    const id = await perform(request);
    expect(await harness.run(id)).toMatchObject({
      state: "FAILED",
      statusMessage: { errorCode: "environment_setup_failed", message: "npm ci failed: no network" },
    });
    expect(await isMarkedFailed()).toBe(true);
    const [marked] = await harness.storage.environments.list(anEnvironment("e").teamId);
    expect(marked).toMatchObject({ updatedAt: anEnvironment("e").updatedAt });

    await harness.create(request);
    await quiet();
    expect(await isMarkedFailed()).toBe(false);
  });

  test("an environment is not marked as failing because of the run's own configuration", async () => {
    harness.skills.put("acme/skills", { ".agents/skills/go/SKILL.md": "Go." });
    const request = await anEnvironmentOf();
    await harness.start(harness.worker({ skills: { readFiles: () => Promise.reject(failed()) } }));
    await harness.create({ ...request, config: { ...request.config, skill_spec: "acme/skills:go" } });
    await quiet();

    expect(await isMarkedFailed()).toBe(false);
  });

  test("an environment that changes during its check is not marked as failing", async () => {
    const request = await anEnvironmentOf();
    harness.workspaces.gates.push(async () => {
      const [environment] = await harness.storage.environments.list(anEnvironment("e").teamId);
      if (environment === undefined) {
        throw new Error("It is gone.");
      }
      await harness.storage.environments.replace({ ...environment, updatedAt: new Date(0) });
    });
    harness.workspaces.prepareFaults.push(failed());

    await perform(request);

    expect(await isMarkedFailed()).toBe(false);
  });

  test("an environment that changes while it is marked keeps the change", async () => {
    const request = await anEnvironmentOf();
    const { environments } = harness.storage;
    const replace = environments.replace.bind(environments);
    const edited = { ...anEnvironment("e"), updatedAt: new Date(0) };
    vi.spyOn(environments, "replace").mockImplementationOnce(async (...marked) => {
      await replace(edited);
      return replace(...marked);
    });
    harness.workspaces.prepareFaults.push(failed());

    await perform(request);

    expect(await environments.list(edited.teamId)).toEqual([edited]);
  });

  test("a workspace without setup commands does not unmark its environment", async () => {
    const request = await anEnvironmentOf();
    const [environment] = await harness.storage.environments.list(anEnvironment("e").teamId);
    if (environment === undefined) {
      throw new Error("It is gone.");
    }
    await harness.storage.environments.replace({ ...environment, setupFailed: true });

    await perform(request);

    expect(await isMarkedFailed()).toBe(true);
  });
});

describe("the log of the preparation", () => {
  async function stepsOf(id: RunId): Promise<readonly WorkspaceStep[]> {
    const bodies = (await harness.events(id)).map(({ body }) => body);
    return bodies.filter((body) => body.kind === "workspace.step");
  }

  test("preparation steps are logged before the workspace, also when the preparation fails", async () => {
    harness.workspaces.steps.push(step("running", "cloning…"), step("completed", " done"));
    const good = await perform();
    harness.workspaces.prepareFaults.push(new AppError("environment_setup_failed", "No."));
    const bad = await harness.create();
    await quiet();

    expect(await stepsOf(good)).toEqual([step("completed", "cloning… done")]);
    expect(await stepsOf(bad.id)).toEqual([step("completed", "cloning… done")]);
    const kinds = (await harness.events(good)).map(({ body }) => body.kind);
    expect(kinds.indexOf("workspace.step")).toBeLessThan(kinds.indexOf("workspace.ready"));
  });

  test("preparation steps are logged while they run", async () => {
    harness.workspaces.steps.push(step("running", "half"));
    harness.workspaces.gates.push(() => new Promise(() => undefined));
    const id = await perform();

    await harness.clock.advance(100);

    expect(await stepsOf(id)).toEqual([step("running", "half")]);
  });

  test("preparation steps reveal no secret, not even one divided over two chunks", async () => {
    await harness.storage.secrets.add({
      ...anEnvironment("s"),
      name: "KEY",
      sealed: harness.secretBox.seal(
        "very-secret-value",
        `secret:${anEnvironment("s").teamId}:${anEnvironment("s").teamId}:KEY`,
      ),
      editorId: anEnvironment("s").creatorId,
    });
    harness.workspaces.steps.push(step("running", "the key is very-sec"), step("running", "ret-value\n"));

    const id = await perform();

    expect(await stepsOf(id)).toEqual([step("running", "the key is [redacted]\n")]);
  });
});

describe("an agent in a repository", () => {
  test("an agent in a repository is told where its files are and where artifacts belong", async () => {
    harness.skills.put("acme/skills", { ".agents/skills/go/SKILL.md": "Go." });
    const files = [
      { kind: "attachment", fileName: "a.txt", mimeType: "text/plain", bytes: Buffer.from("a") },
    ] as const;
    await perform({
      ...HOME,
      config: { skill_spec: "acme/skills:go" },
      inputs: await storeInputFiles(harness.blobs, files),
    });

    const [{ basePrompt = "", variables, workspace } = {}] = harness.agents.starts;
    expect(harness.agents.prompts[0]).toContain("- ../attachments/a.txt (text/plain");
    expect(basePrompt).toContain("are in ../.skills/go, from the working directory");
    expect(basePrompt).toContain("$ERRAND_ARTIFACTS_DIR");
    expect(variables?.ERRAND_ARTIFACTS_DIR).toBe(`${workspace?.directory}/artifacts`);
  });

  test("an agent without a repository is not told about files and artifacts", async () => {
    await perform();

    expect(harness.agents.starts[0]).not.toHaveProperty("basePrompt");
  });
});

test("a retried run keeps its repository and takes no other text from the first run", async () => {
  const run = await harness.run(
    await perform({ provenance: { ...FROM_PULL.provenance, actor: { id: 1 }, permission: "admin" } }),
  );
  const creator = await harness.person();

  const again = retryOf(run, { creator, source: "API", inputs: [] });

  expect(again.provenance).toEqual({ ...FROM_PULL.provenance, config_layers: { harness: "default" } });
});

test("an attempt that is aborted during preparation waits for nothing", async () => {
  const signals: AbortSignal[] = [];
  harness.workspaces.gates.push(
    (signal) =>
      new Promise((_resolve, reject) => {
        signals.push(signal);
        signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
      }),
  );
  const id = await perform();

  await harness.cancel(id);

  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  expect(await harness.run(id)).toMatchObject({ state: "CANCELLED" });
  expect(await harness.run(id)).not.toHaveProperty("lease");
  expect(harness.gateways.last.isOpen).toBe(false);
  expect(harness.agents.starts).toEqual([]);
  expect(harness.clock.pending).toBe(0);
});

function step(status: WorkspaceStep["status"], output?: string): WorkspaceStep {
  return {
    kind: "workspace.step",
    stepId: "1",
    title: "npm ci",
    status,
    ...(output === undefined ? {} : { output }),
  };
}
