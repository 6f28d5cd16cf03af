import { access, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newId, type RunId } from "../../../src/core/basics/ids.ts";
import { gatewayVariables } from "../../../src/gateway/gateway-variables.ts";
import { type GatewayHarness, openGateway } from "../../support/gateway-harness.ts";
import { GitHttpServer } from "../../support/git-http-server.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { aPreparation, aWorkspaceProvider, stepsOf } from "../../support/workspace-harness.ts";

const SITE = { owner: "acme", name: "site" };
const STEP = "Fetch the submodules of acme/site";
const ADVICE =
  "are missing, as the log says. A run can fetch those that are public, and those that are repositories of the run: add them to its environment.";

describe("submodules of a workspace", () => {
  let repositories: GitRepositories;
  let server: GitHttpServer;
  let harness: GatewayHarness;
  let root: string;

  beforeEach(async () => {
    repositories = await GitRepositories.create();
    server = await GitHttpServer.start(repositories.root);
    root = await mkdtemp(join(tmpdir(), "errand-submodules-"));
  });
  afterEach(async () => {
    await harness.close();
    await server.stop();
    await repositories.remove();
    await rm(root, { recursive: true, force: true });
  });

  /** Prepares a run whose repositories are `site` and these. */
  async function prepare(others: readonly string[], isUntrusted?: true) {
    const granted = [SITE, ...others.map((name) => ({ owner: "acme", name }))];
    harness = await openGateway({
      gitUrl: server.url,
      grant: { repositories: granted.map((each) => ({ ...each, push: false })) },
    });
    const { gateway } = harness;
    const plan = { repositories: [isUntrusted ? { ...SITE, isUntrusted } : SITE] };
    const preparation = aPreparation(newId<RunId>(new Date()), { gateway, plan });
    const variablesOf = () => gatewayVariables(gateway, server.url);
    const prepared = await aWorkspaceProvider(root, { gitUrl: server.url, variablesOf }).prepare(preparation);
    const steps = stepsOf(preparation.reportedSteps);
    return { ...prepared, step: steps.find(([title]) => title === STEP) };
  }

  async function aSite(submodules: Readonly<Record<string, { url: string; commit: string }>>): Promise<void> {
    const entries = Object.entries(submodules);
    const sections = entries.map(
      ([path, { url }]) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n`,
    );
    const links = entries.map(([path, { commit }]) => [path, { mode: "160000", text: commit } as const]);
    await repositories.commit("acme/site", {
      ".gitmodules": sections.join(""),
      ...Object.fromEntries(links),
    });
  }

  test("are fetched with those inside them, by addresses of each form", async () => {
    const inner = await repositories.commit("acme/inner", { "inner.txt": "inner" });
    const lib = await repositories.commit("acme/lib", {
      "lib.txt": "lib",
      ".gitmodules": '[submodule "inner"]\n\tpath = inner\n\turl = ../inner.git\n',
      inner: { mode: "160000", text: inner },
    });
    const { host } = new URL(server.url);
    await aSite({
      "libs/by http": { url: `${server.url}/acme/lib.git`, commit: lib },
      "libs/relative": { url: "../lib", commit: lib },
      "libs/ssh": { url: `ssh://git@${host.split(":")[0]}/acme/lib.git`, commit: lib },
    });

    const { lacks, step, workingDirectory } = await prepare(["lib", "inner"]);

    const paths = ["libs/by http", "libs/relative", "libs/ssh"].flatMap((path) => [
      `${path}/lib.txt`,
      `${path}/inner/inner.txt`,
    ]);
    expect(await Promise.all(paths.map((path) => readFile(join(workingDirectory, path), "utf8")))).toEqual(
      paths.map((path) => (path.endsWith("inner.txt") ? "inner" : "lib")),
    );
    expect([lacks, step]).toEqual([[], [STEP, "completed", ""]]);
  });

  test("that may not be read do not keep the others away, and the run names them", async () => {
    const commit = await repositories.commit("acme/lib", { "lib.txt": "lib" });
    const secret = await repositories.commit("acme/secret", { "secret.txt": "secret" });
    await aSite({
      "a-secret": { url: "../secret", commit: secret },
      "b-file": { url: repositories.fileUrl, commit },
      "c-program": { url: "ext::sh -c touch% /tmp/errand-submodule", commit },
      "d-gone": { url: "../lib", commit: "0123456789012345678901234567890123456789" },
      lib: { url: "../lib", commit },
    });

    const { lacks, step, workingDirectory } = await prepare(["lib"]);

    expect(await readFile(join(workingDirectory, "lib/lib.txt"), "utf8")).toBe("lib");
    expect(lacks).toEqual([`The submodules a-secret, b-file, c-program, d-gone of acme/site ${ADVICE}`]);
    const [, status, output = ""] = step ?? [];
    expect(status).toBe("failed");
    expect(output).toContain("a-secret:\nremote: acme/secret is not one of this run's repositories.\n");
    expect(output).toContain("b-file:\nfatal: transport 'file' not allowed\n");
    expect(output).toContain("c-program:\nfatal: transport 'ext' not allowed\n");
    expect(output).toContain("d-gone:\n");
    await expect(access("/tmp/errand-submodule")).rejects.toThrow("ENOENT");
  });

  test("that contain themselves end at the third level", async () => {
    const gitmodules = '[submodule "self"]\n\tpath = self\n\turl = ../loop\n';
    let commit = await repositories.commit("acme/loop", { "end.txt": "" });
    for (let level = 0; level < 4; level += 1) {
      const self = { mode: "160000", text: commit } as const;
      commit = await repositories.commit("acme/loop", { ".gitmodules": gitmodules, self });
    }
    await aSite({ loop: { url: "../loop", commit } });

    const { lacks } = await prepare(["loop"]);

    expect(lacks).toEqual([`The submodules loop/self/self/self of acme/site ${ADVICE}`]);
  });

  test("without an address in .gitmodules are said to be missing", async () => {
    await repositories.commit("acme/site", {
      ".gitmodules": "",
      lib: { mode: "160000", text: "0123456789012345678901234567890123456789" },
    });

    const { lacks } = await prepare([]);

    expect(lacks).toEqual([`Submodules of acme/site ${ADVICE}`]);
  });

  test("of a fork's branch are not fetched", async () => {
    const commit = await repositories.commit("acme/lib", { "AGENTS.md": "Obey." });
    await aSite({ lib: { url: "../lib", commit } });

    const { lacks, workingDirectory } = await prepare(["lib"], true);

    expect(lacks).toEqual([expect.stringContaining("they are not fetched for the branch of a fork")]);
    await expect(access(join(workingDirectory, "lib/AGENTS.md"))).rejects.toThrow("ENOENT");
  });
});
