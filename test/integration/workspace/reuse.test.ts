import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newId, type RunId, type TeamId } from "../../../src/core/basics/ids.ts";
import type { Preparation } from "../../../src/core/ports/workspace-provider.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import {
  aPreparation,
  aWorkspaceProvider,
  stepsOf,
  type WorkspaceProviderChanges,
} from "../../support/workspace-harness.ts";

const TOOLS = { owner: "acme", name: "tools" };
const FILE = { path: "attachments/a.txt", bytes: Buffer.from("of this run") };
const skipped = reasonToSkipGit();

describe.skipIf(skipped !== undefined)(`a prepared environment${skipped ? ` (${skipped})` : ""}`, () => {
  let repositories: GitRepositories;
  let root: string;
  let warnings: string[];

  beforeEach(async () => {
    repositories = await GitRepositories.create();
    await repositories.commit("acme/tools", { "file.txt": "first\n" });
    root = await mkdtemp(join(tmpdir(), "errand-reuse-"));
    warnings = [];
  });
  afterEach(async () => {
    expect(warnings).toEqual([]);
    await repositories.remove();
    await rm(root, { recursive: true, force: true });
  });

  const warn = (message: string) => void warnings.push(message);
  const openProvider = (changes: WorkspaceProviderChanges = {}) =>
    aWorkspaceProvider(join(root, "data"), {
      gitUrl: repositories.fileUrl,
      log: { info: () => undefined, warn, error: warn },
      ...changes,
    });
  /** Returns a setup command that counts its executions. */
  const count = () => `echo x >> ${root}/count; echo made > made.txt`;
  const countExecutions = async () => (await readFile(join(root, "count"), "utf8")).length / 2;
  const listEnvironments = async () => (await readdir(join(root, "data/environments"))).sort();

  function aRun(changes: Partial<Omit<Preparation, "plan">> & { plan?: Partial<Preparation["plan"]> } = {}) {
    const { plan, ...others } = changes;
    return aPreparation(newId<RunId>(new Date()), {
      ...others,
      plan: { repositories: [TOOLS], setupCommands: [count()], ...plan },
    });
  }

  test("a prepared environment is reused if nothing has changed, and the steps say so", async () => {
    await openProvider().prepare(aRun());
    const second = aRun();

    const { directory, workingDirectory } = await openProvider().prepare(second);

    expect(await countExecutions()).toBe(1);
    expect(workingDirectory).toBe(join(directory, "tools"));
    expect((await readdir(workingDirectory)).sort()).toEqual([".git", "file.txt", "made.txt"]);
    expect(await readdir(directory)).toEqual(["artifacts", "tools"]);
    expect(stepsOf(second.reportedSteps)).toEqual([
      ["Clone acme/tools", "completed", expect.stringMatching(/^main at [0-9a-f]{40}, reused$/)],
      [count(), "completed", "reused"],
    ]);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
  });

  test("each run has its own copy of a prepared environment", async () => {
    const first = await openProvider().prepare(aRun());
    const second = await openProvider().prepare(aRun());
    await writeFile(join(second.workingDirectory, "made.txt"), "changed by the second");

    const third = await openProvider().prepare(aRun());

    expect(await countExecutions()).toBe(1);
    for (const { workingDirectory } of [first, third]) {
      expect(await readFile(join(workingDirectory, "made.txt"), "utf8")).toBe("made\n");
    }
  });

  test("scripts, links and programs of a reused environment contain its new path", async () => {
    const setupCommands = [
      [
        'printf "#!%s/tool\\n" "$PWD" > script; chmod 555 script; ln -s "$PWD/script" link',
        'printf "\\0%s\\0\\377" "$PWD" > program; touch -d 2001-01-01 program; echo "$PWD" > "$HOME/where"',
      ].join("\n"),
    ];
    await openProvider().prepare(aRun({ plan: { setupCommands } }));

    const { home, workingDirectory } = await openProvider().prepare(aRun({ plan: { setupCommands } }));

    const pathOf = (name: string) => join(workingDirectory, name);
    expect(await readFile(pathOf("script"), "utf8")).toBe(`#!${pathOf("tool")}\n`);
    expect((await stat(pathOf("script"))).mode & 0o777).toBe(0o555);
    expect(await readFile(pathOf("link"), "utf8")).toContain(workingDirectory);
    expect((await readFile(pathOf("program"))).toString("latin1")).toBe(`\0${workingDirectory}\0\xff`);
    expect((await stat(pathOf("program"))).mtime.getUTCFullYear()).toBeLessThan(2002);
    expect(await readFile(join(home, "where"), "utf8")).toBe(`${workingDirectory}\n`);
  });

  test.each<readonly [string, () => Parameters<typeof aRun>[0]]>([
    ["another team", () => ({ teamId: "team-2" as TeamId })],
    ["other commands", () => ({ plan: { setupCommands: [count(), "true"] } })],
    ["an additional secret", () => ({ variables: { TOKEN: "theirs" } })],
    ["another repository", () => ({ plan: { repositories: [TOOLS, { owner: "acme", name: "more" }] } })],
  ])("a prepared environment is not reused for %s", async (_what, changes) => {
    await repositories.commit("acme/more", { "file.txt": "x" });
    await openProvider().prepare(aRun());

    await openProvider().prepare(aRun(changes()));

    expect(await countExecutions()).toBe(2);
  });

  test("a prepared environment is not reused for a run with another value of the same secret", async () => {
    const plan = { setupCommands: [count(), 'echo "$TOKEN" > "$HOME/.token"'] };
    await openProvider().prepare(aRun({ plan, variables: { TOKEN: "canary of the first" } }));

    const { home } = await openProvider().prepare(aRun({ plan, variables: { TOKEN: "of the second" } }));
    const again = await openProvider().prepare(aRun({ plan, variables: { TOKEN: "canary of the first" } }));

    expect(await readFile(join(home, ".token"), "utf8")).toBe("of the second\n");
    expect(await readFile(join(again.home, ".token"), "utf8")).toBe("canary of the first\n");
    expect(await countExecutions()).toBe(2);
    expect(JSON.stringify(await listEnvironments())).not.toContain("canary");
  });

  test("a prepared environment is not reused if the repository has a newer commit", async () => {
    await openProvider().prepare(aRun());
    await repositories.commit("acme/tools", { "file.txt": "second\n" });

    const { workingDirectory } = await openProvider().prepare(aRun());

    expect(await readFile(join(workingDirectory, "file.txt"), "utf8")).toBe("second\n");
    expect(await countExecutions()).toBe(2);
  });

  test("a prepared environment is not reused if its repository can no longer be read", async () => {
    await openProvider().prepare(aRun());
    await rm(repositories.pathOf("acme/tools"), { recursive: true });

    await expect(openProvider().prepare(aRun())).rejects.toMatchObject({ code: "environment_setup_failed" });
  });

  test("a prepared environment contains no input files and no skill of the run that it was made for", async () => {
    const file = { path: "SKILL.md", bytes: Buffer.from("Deploy."), isExecutable: false };
    const skills = [
      { root: "directory", directory: ".skills/deploy", files: [file] },
      { root: "home", directory: ".agent/skills/deploy", files: [file] },
    ] as const;
    const first = await openProvider().prepare(
      aRun({ initialContents: async () => ({ files: [FILE], skills: [...skills] }) }),
    );
    expect(await readFile(join(first.home, ".agent/skills/deploy/SKILL.md"), "utf8")).toBe("Deploy.");
    const other = { path: "attachments/b.txt", bytes: Buffer.from("of the second") };

    const { directory, home } = await openProvider().prepare(
      aRun({ initialContents: async () => ({ files: [other] }) }),
    );

    expect(await countExecutions()).toBe(1);
    expect((await readdir(directory)).sort()).toEqual(["artifacts", "attachments", "tools"]);
    expect(await readdir(join(directory, "attachments"))).toEqual(["b.txt"]);
    expect(await readdir(home)).not.toContain(".agent");
  });

  test("storing an environment does not follow links that its setup commands created", async () => {
    const outside = join(root, "outside");
    await writeFile(join(root, "outside-file"), "ours");
    await symlink(root, outside);
    const setupCommands = [`rm -rf ../attachments; ln -s ${root} ../attachments`];
    await openProvider().prepare(
      aRun({ plan: { setupCommands }, initialContents: async () => ({ files: [FILE] }) }),
    );

    await openProvider().prepare(
      aRun({ plan: { setupCommands }, initialContents: async () => ({ files: [FILE] }) }),
    );

    expect(await readFile(join(root, "outside-file"), "utf8")).toBe("ours");
    expect(await readdir(root)).not.toContain("a.txt");
  });

  test("no environment is stored if there are no setup commands or if they fail", async () => {
    await openProvider().prepare(aRun({ plan: { setupCommands: [] } }));
    await openProvider()
      .prepare(aRun({ plan: { setupCommands: ["exit 1"] } }))
      .catch(() => undefined);

    await expect(readdir(join(root, "data/environments"))).rejects.toThrow("ENOENT");
  });

  test("concurrent runs never see a half-finished prepared environment", async () => {
    const shared = openProvider();

    const runs = await Promise.all([1, 2, 3].map(() => shared.prepare(aRun())));

    for (const { workingDirectory } of runs) {
      expect((await readdir(workingDirectory)).sort()).toEqual([".git", "file.txt", "made.txt"]);
    }
    expect(await listEnvironments()).toHaveLength(1);
  });

  test("a prepared environment is made again if its copy is damaged or older than the maximum age", async () => {
    await openProvider().prepare(aRun());
    const [key = ""] = await listEnvironments();
    await rm(join(root, "data/environments", key, "home"), { recursive: true });
    await openProvider().prepare(aRun());
    expect(await countExecutions()).toBe(2);
    expect(warnings.splice(0)).toEqual(["prepared_environment.not_copied"]);

    await openProvider({ prepared: { maxAgeMs: -1 } }).prepare(aRun());

    expect(await countExecutions()).toBe(3);
  });

  test("the least recently used environment is removed first to make room for newer ones", async () => {
    const run = (name: string) => aRun({ plan: { setupCommands: [`echo ${name}`] } });
    const few = () => openProvider({ prepared: { maxEntries: 2 } });
    await few().prepare(run("one"));
    const [one = ""] = await listEnvironments();
    await few().prepare(run("two"));
    const two = (await listEnvironments()).find((key) => key !== one) ?? "";
    for (const [key, year] of [
      [one, 2001],
      [two, 2002],
    ] as const) {
      await utimes(
        join(root, "data/environments", key),
        new Date(`${year}-01-01`),
        new Date(`${year}-01-01`),
      );
    }
    await few().prepare(run("one"));

    await few().prepare(run("three"));

    expect(await listEnvironments()).toHaveLength(2);
    expect(await listEnvironments()).toContain(one);
    expect(await listEnvironments()).not.toContain(two);
  });

  test("an environment that is too large is not stored, and its run works without that", async () => {
    const setupCommands = ["head -c 100000 /dev/zero > large.bin"];

    await openProvider({ prepared: { maxBytes: 100_000 } }).prepare(aRun({ plan: { setupCommands } }));

    expect(await listEnvironments()).toEqual([]);
    expect(warnings.splice(0)).toEqual(["prepared_environment.not_stored"]);
  });

  test("a prepared environment may contain directories without write permission", async () => {
    const setupCommands = ["mkdir -p cache/module; echo x > cache/module/file; chmod -R a-w cache"];
    await openProvider().prepare(aRun({ plan: { setupCommands } }));

    const { workingDirectory } = await openProvider().prepare(aRun({ plan: { setupCommands } }));

    expect((await stat(join(workingDirectory, "cache/module"))).mode & 0o777).toBe(0o555);
    for (const runId of await readdir(join(root, "data/runs"))) {
      await chmod(join(root, "data/runs", runId, "workspace/tools/cache/module"), 0o700);
    }
  });
});
