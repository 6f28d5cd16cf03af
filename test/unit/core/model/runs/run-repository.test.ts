import { beforeEach, describe, expect, test } from "vitest";
import type { RunConfig } from "../../../../../src/core/model/runs/run.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { waitFor } from "../../../../support/wait-for.ts";

const WIDGETS = { owner: "acme", name: "widgets" };
const HOME = { repository: { id: 7, full_name: "acme/widgets" }, head: { branch: "feature" } };

let harness: CoreHarness;
beforeEach(async () => {
  harness = new CoreHarness();
  await harness.start();
});

async function perform(config: RunConfig, provenance = {}) {
  const { id } = await harness.create({ config, provenance });
  const isFree = async () => {
    const { lease, state } = await harness.run(id);
    return lease === undefined && state !== "QUEUED";
  };
  await waitFor(isFree, { what: "the run to be free", everyMs: 2 });
  return harness.run(id);
}

function repositories() {
  return harness.workspaces.preparations.at(-1)?.plan.repositories;
}

describe("the repository of a run's configuration", () => {
  test("a run works in the repository that its configuration names, at the named ref", async () => {
    await perform({ repository: "acme/widgets", ref: "v1" });

    expect(repositories()).toEqual([{ ...WIDGETS, ref: "v1" }]);
    expect(harness.gateways.grants[0]?.repositories).toEqual([{ ...WIDGETS, push: true }]);
  });

  test("the repository is added once to those of the environment", async () => {
    await harness.storage.environments.add(anEnvironment("e", "acme/tools"));
    await harness.storage.environments.add(anEnvironment("same", "Acme/Widgets"));

    await perform({ environment_id: "e", repository: "acme/widgets" });
    expect(repositories()).toEqual([{ owner: "acme", name: "tools" }, WIDGETS]);

    await perform({ environment_id: "same", repository: "acme/widgets", ref: "next" });
    expect(repositories()).toEqual([{ owner: "Acme", name: "Widgets", ref: "next" }]);
  });

  test("a ref of the configuration has priority over the branch of the pull request", async () => {
    await perform({ repository: "acme/widgets" }, HOME);
    expect(repositories()).toEqual([{ ...WIDGETS, ref: "feature" }]);

    await perform({ repository: "acme/widgets", ref: "main" }, HOME);
    expect(repositories()).toEqual([{ ...WIDGETS, ref: "main" }]);
  });

  test("a run that continues a conversation inherits the ref only together with the repository", async () => {
    const before = await perform({ repository: "acme/widgets", ref: "v1", pull_request: "draft" });

    const same = await harness.create({ continues: before });
    const other = await harness.create({ continues: before, config: { repository: "acme/tools" } });
    await quiet();

    expect(same.config).toMatchObject({ repository: "acme/widgets", ref: "v1", pull_request: "draft" });
    expect(other.config).toEqual({ repository: "acme/tools" });
  });
});

describe("the pull request of a configuration", () => {
  beforeEach(() => {
    harness.changes.sinceSnapshot.set("acme/widgets", "diff");
    harness.changes.sinceClone.set("acme/widgets", "diff");
  });

  test.each([
    ["draft", true],
    ["ready", false],
  ] as const)("the work of a run with pull_request %s gets a pull request", async (setting, isDraft) => {
    const run = await perform({ repository: "acme/widgets", ref: "next", pull_request: setting });

    expect(harness.pullRequests.drafts).toMatchObject([{ repository: WIDGETS, base: "next", isDraft }]);
    expect(run.artifactTypes).toContain("PULL_REQUEST");
  });

  test("a commit is not the base of a pull request", async () => {
    await perform({ repository: "acme/widgets", ref: "0".repeat(40), pull_request: "draft" });

    expect(harness.pullRequests.drafts[0]).not.toHaveProperty("base");
  });

  test.each([
    ["without pull_request", {}, {}],
    ["with pull_request off", { pull_request: "off" }, {}],
    ["with pull_request off in its own repository", { pull_request: "off" }, HOME],
  ] as const)("the work of a run %s gets no pull request", async (_what, config, provenance) => {
    await perform({ repository: "acme/widgets", ...config }, provenance);

    expect(harness.pullRequests.drafts).toEqual([]);
    expect(harness.changes.pushes).toEqual([]);
  });

  test("a request in a repository opens its pull request there without naming it", async () => {
    const { id } = await perform({ pull_request: "ready" }, HOME);

    expect(harness.pullRequests.drafts).toMatchObject([
      { repository: WIDGETS, base: "feature", branch: expect.stringMatching(/^errand\//), isDraft: false },
    ]);
    expect((await harness.run(id)).config).toEqual({ pull_request: "ready" });
    await perform({ pull_request: "off" }, HOME);
    expect(harness.pullRequests.drafts).toHaveLength(1);
  });

  test("a run is refused if its pull request could not be opened", async () => {
    harness.pullRequests.isClosed = true;

    await expect(
      harness.create({ config: { repository: "acme/widgets", pull_request: "draft" } }),
    ).rejects.toMatchObject({
      code: "integration_not_configured",
      options: { remedy: expect.stringContaining("GITHUB_TOKEN") },
    });
    await harness.create({ config: { repository: "acme/widgets", pull_request: "off" } });
  });
});

describe("without a repository, in an environment", () => {
  const TOOLS = { owner: "acme", name: "tools" };
  const inTwo = { environment_id: "two" };
  beforeEach(async () => {
    const { changes, storage } = harness;
    for (const repository of ["acme/widgets", "acme/tools"]) {
      changes.sinceSnapshot.set(repository, "diff");
      changes.sinceClone.set(repository, "diff");
    }
    const two = anEnvironment("two", "acme/widgets");
    await storage.environments.add(anEnvironment("one", "acme/widgets"));
    await storage.environments.add({
      ...two,
      config: { ...two.config, repositories: [WIDGETS, TOOLS] },
    });
    await storage.environments.add({ ...two, id: "none", config: { ...two.config, repositories: [] } });
  });

  test("ref and pull_request count for its only repository", async () => {
    const run = await perform({ environment_id: "one", ref: "next", pull_request: "ready" });

    expect(repositories()).toEqual([{ ...WIDGETS, ref: "next" }]);
    expect(harness.pullRequests.drafts).toMatchObject([
      { repository: WIDGETS, base: "next", isDraft: false },
    ]);
    expect(run.config).toEqual({ environment_id: "one", ref: "next", pull_request: "ready" });
  });

  test("pull_request counts for each of several that changed", async () => {
    await perform({ ...inTwo, pull_request: "draft" });
    expect(harness.pullRequests.drafts).toMatchObject([{ repository: WIDGETS }, { repository: TOOLS }]);

    harness.changes.sinceSnapshot.delete("acme/widgets");
    harness.changes.sinceClone.delete("acme/widgets");
    await perform({ ...inTwo, pull_request: "draft" });
    expect(harness.pullRequests.drafts.slice(2)).toMatchObject([{ repository: TOOLS }]);
  });

  test.each([
    [{ ...inTwo, ref: "next" }, "config.ref", /acme\/widgets, acme\/tools/],
    [{ environment_id: "none", ref: "next" }, "config.ref", /needs a repository/],
    [{ environment_id: "none", pull_request: "off" }, "config.pull_request", /needs a repository/],
  ] as const)("%j is refused", async (config, path, message) => {
    await expect(harness.create({ config })).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(message),
      options: { issues: [{ path }] },
    });
  });

  test("a pull request is refused only if the team may open none in any of them", async () => {
    harness.pullRequests.isClosed = true;

    await expect(harness.create({ config: { ...inTwo, pull_request: "draft" } })).rejects.toMatchObject({
      code: "integration_not_configured",
      message: expect.stringContaining("acme/widgets, acme/tools"),
    });
  });

  test.each([
    ["what a default says beside an environment", { ref: "next", pull_request: "draft" }, "two"],
    ["what a default says without a place", { pull_request: "draft" }, "none"],
  ] as const)("%s is left out where it has no effect", async (_what, config, environment) => {
    const run = await harness.create({
      config: { environment_id: environment },
      defaults: [{ layer: "person_default", config }],
    });

    expect(run.config).not.toHaveProperty("ref");
    expect(run.config.pull_request).toBe(environment === "two" ? "draft" : undefined);
  });

  test.each([
    ["draft", {}, "draft"],
    ["off", { pull_request: "ready" }, "ready"],
  ] as const)("the setting %s of the environment with the request %j is %s", async (pullRequest, own, is) => {
    const one = anEnvironment("set", "acme/widgets");
    await harness.storage.environments.add({ ...one, config: { ...one.config, pullRequest } });

    expect((await harness.create({ config: { environment_id: "set", ...own } })).config.pull_request).toBe(
      is,
    );
  });

  test("the setting of the environment precedes the default of a person, and needs credentials", async () => {
    const one = anEnvironment("set", "acme/widgets");
    await harness.storage.environments.add({ ...one, config: { ...one.config, pullRequest: "ready" } });
    const request = {
      config: { environment_id: "set" },
      defaults: [{ layer: "person_default", config: { pull_request: "off" } }],
    } as const;

    const allowed = await harness.create(request);
    harness.pullRequests.isClosed = true;
    const closed = await harness.create(request);

    expect(allowed.config.pull_request).toBe("ready");
    expect(closed.config).not.toHaveProperty("pull_request");
  });

  test("a conversation keeps neither for another environment", async () => {
    const before = await perform({ environment_id: "one", ref: "next", pull_request: "draft" });

    const same = await harness.create({ continues: before });
    const other = await harness.create({ continues: before, config: { environment_id: "two" } });

    expect(same.config).toMatchObject({ ref: "next", pull_request: "draft" });
    expect(other.config).toEqual({ environment_id: "two" });
  });
});

test.each([
  [{ pull_request: "draft" }, "config.pull_request"],
  [{ ref: "main" }, "config.ref"],
  [{ repository: "widgets" }, "config.repository"],
  [{ repository: "https://host/acme/widgets" }, "config.repository"],
  [{ repository: "acme/../x" }, "config.repository"],
  [{ repository: "acme/widgets", ref: "--upload-pack=x" }, "config.ref"],
  [{ repository: "acme/widgets", ref: "a..b" }, "config.ref"],
] as const)("a configuration with %j is refused", async (config, path) => {
  await expect(harness.create({ config })).rejects.toMatchObject({
    code: "invalid_request",
    options: { issues: [{ path }] },
  });
});
