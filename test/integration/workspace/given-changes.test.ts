import { chmod, mkdir, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { ChangeHarness, type ChangeHarnessOptions, runGit } from "../../support/change-harness.ts";
import { type GatewayHarness, openGateway } from "../../support/gateway-harness.ts";
import { GitHttpServer } from "../../support/git-http-server.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";

const TOOLS = { owner: "acme", name: "tools" };
const PUSH = { repository: TOOLS, branch: "errand/abc", message: "m" };
const IDENTITY = ["-c", "user.name=Agent", "-c", "user.email=agent@example.com"];
const ATTRIBUTES = [
  "*.txt text",
  "*.txt text eol=crlf",
  "*.txt text eol=lf",
  "*.txt text=auto",
  "*.txt ident",
  "*.txt text ident",
  "*.txt text working-tree-encoding=UTF-16",
  "*.txt -text",
];
const CONTENTS = {
  "crlf.txt": "a\r\nb\r\n",
  "lf.txt": "a\nb\n",
  "mixed.txt": "a\r\nb\n",
  "ident.txt": "$Id: 1234 $\n",
  'größe "1".txt': "a\r\n",
};
/** One folder for each kind of attributes. */
const FILES = Object.fromEntries(
  ATTRIBUTES.flatMap((attributes, number) => [
    [`${number}/.gitattributes`, `${attributes}\n`] as const,
    ...Object.entries(CONTENTS).map(([name, content]) => [`${number}/${name}`, content] as const),
    [`${number}/script.sh`, { mode: "100755", text: "true\n" }] as const,
  ]),
);

const noGit = reasonToSkipGit();

describe.skipIf(noGit !== undefined)(`what an agent changed ${noGit ?? ""}`, () => {
  let repositories: GitRepositories;
  let server: GitHttpServer;
  const open: (ChangeHarness | GatewayHarness)[] = [];

  beforeAll(async () => {
    repositories = await GitRepositories.create();
    server = await GitHttpServer.start(repositories.root);
  });
  afterAll(async () => {
    await server.stop();
    await repositories.remove();
  });
  afterEach(async () => {
    for (const each of open.splice(0)) {
      await each.close();
    }
    await rm(join(repositories.pathOf("acme/tools"), "hooks"), { recursive: true, force: true });
  });

  async function openHarness(
    files: Parameters<GitRepositories["commit"]>[1],
    options: Partial<ChangeHarnessOptions> = {},
  ): Promise<ChangeHarness> {
    await repositories.commit("acme/tools", files);
    const grant = { repositories: [{ ...TOOLS, push: true }] };
    const gatewayHarness = await openGateway({ isolated: false, gitUrl: server.url, grant });
    const harness = await ChangeHarness.open({
      ...{ gitUrl: server.url, sandbox: createLocalSandbox(tmpdir()), repositories: [TOOLS] },
      ...{ gateway: gatewayHarness.gateway, ...options },
    });
    open.push(harness, gatewayHarness);
    return harness;
  }

  async function pathsIn(harness: ChangeHarness): Promise<readonly string[]> {
    const { diffs } = await harness.changes.diff(harness.runWorkspace, "clone");
    return diffs.flatMap(({ files }) => files.map(({ path }) => path)).sort();
  }

  /** Pushes, and returns the files of the pushed commit with their modes. */
  async function pushedFiles(harness: ChangeHarness): Promise<readonly string[]> {
    await harness.changes.push(harness.runWorkspace, PUSH);
    const args = ["-c", "core.quotePath=false", "ls-tree", "-r", "--format=%(objectmode) %(path)"];
    return (await runGit(repositories.pathOf("acme/tools"), [...args, PUSH.branch])).trim().split("\n");
  }

  async function commit(directory: string): Promise<void> {
    await runGit(directory, ["add", "-A"]);
    await runGit(directory, [...IDENTITY, "commit", "--quiet", "-m", "mine"]);
  }

  /** Makes git read all files again, as after a checkpoint was unpacked. */
  async function touch(directory: string): Promise<void> {
    for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && !entry.parentPath.includes(".git")) {
        await utimes(join(entry.parentPath, entry.name), 1, 1);
      }
    }
  }

  test("a run that changes nothing has no changes and pushes nothing, whatever git attributes say", async () => {
    const harness = await openHarness(FILES);
    await harness.changes.takeSnapshot(harness.runWorkspace);
    await touch(harness.workspace.workingDirectory);

    expect(await harness.changes.diff(harness.runWorkspace, "clone")).toEqual({ diffs: [], leftOut: [] });
    expect(await harness.changes.diff(harness.runWorkspace, "snapshot")).toEqual({ diffs: [], leftOut: [] });
    expect(await harness.changes.push(harness.runWorkspace, PUSH)).toBeUndefined();
    expect(await harness.git("rev-list", "--count", "refs/errand/base..HEAD")).toBe("0\n");
  });

  test("a run that changes one file of each kind changes only those", async () => {
    const harness = await openHarness(FILES);
    const directory = harness.workspace.workingDirectory;
    await touch(directory);
    for (const number of ATTRIBUTES.keys()) {
      const file = join(directory, String(number), "crlf.txt");
      const text = await readFile(file, "latin1");
      await writeFile(file, text.replace("b", "c"), "latin1");
      await chmod(join(directory, String(number), "script.sh"), 0o644);
    }

    const expected = [...ATTRIBUTES.keys()].flatMap((number) => [
      `${number}/crlf.txt`,
      `${number}/script.sh`,
    ]);
    expect(await pathsIn(harness)).toEqual(expected);
    await harness.changes.push(harness.runWorkspace, PUSH);
    const pushed = await harness.git("diff", "--name-only", "refs/errand/base", "HEAD");
    expect(pushed.trim().split("\n")).toEqual(expected);
  });

  test("line endings that the agent converts are changes, in the files and in the index", async () => {
    const harness = await openHarness({
      ".gitattributes": "*.txt text\n",
      "a.txt": "a\r\n",
      "b.txt": "b\r\n",
      "c.txt": "c\r\n",
    });
    const directory = harness.workspace.workingDirectory;
    await touch(directory);
    await writeFile(join(directory, "a.txt"), "a\n");
    await harness.git("add", "--renormalize", "b.txt");

    expect(await pathsIn(harness)).toEqual(["a.txt", "b.txt"]);
    await pushedFiles(harness);
    expect(await repositories.read("acme/tools", PUSH.branch, "b.txt")).toBe("b\n");
    expect(await repositories.read("acme/tools", PUSH.branch, "c.txt")).toBe("c\r\n");
  });

  test("what setup commands leave in a repository is no change of the run until the agent changes it", async () => {
    const setup = [
      "echo locked > lock.json && rm gone.txt && chmod +x run.sh",
      "echo built > built.txt && ln -s a.txt link && head -c 11000000 /dev/zero > model.bin",
    ];
    const files = { "a.txt": "a\n", "lock.json": "{}\n", "gone.txt": "x\n", "run.sh": "true\n" };
    const harness = await openHarness(files, { setupCommands: setup });
    const directory = harness.workspace.workingDirectory;

    expect(await harness.changes.diff(harness.runWorkspace, "clone")).toEqual({ diffs: [], leftOut: [] });

    await writeFile(join(directory, "lock.json"), "mine\n");
    await writeFile(join(directory, "built.txt"), "mine\n");
    await writeFile(join(directory, "new.txt"), "mine\n");
    expect(await pathsIn(harness)).toEqual(["built.txt", "lock.json", "new.txt"]);
    expect(await pushedFiles(harness)).toEqual(
      ["a.txt", "built.txt", "gone.txt", "lock.json", "new.txt", "run.sh"].map((path) => `100644 ${path}`),
    );
  });

  test("files of repositories inside the repository are handed over as plain files", async () => {
    const harness = await openHarness({ "a.txt": "a\n" });
    const directory = harness.workspace.workingDirectory;
    for (const folder of ["v", "v/deep er", 'c "x" ü', "empty"]) {
      await mkdir(join(directory, folder), { recursive: true });
      await runGit(join(directory, folder), ["init", "--quiet"]);
      await writeFile(join(directory, folder, "file.txt"), "x\n");
      await writeFile(join(directory, folder, ".gitignore"), "ignored\n");
      await writeFile(join(directory, folder, "ignored"), "x\n");
    }
    await commit(join(directory, "v/deep er"));
    await commit(join(directory, "v"));
    await commit(join(directory, 'c "x" ü'));
    await rm(join(directory, "empty"), { recursive: true });
    await mkdir(join(directory, "empty"));
    await runGit(join(directory, "empty"), ["init", "--quiet"]);
    // The agent commits a link to one of them itself.
    await harness.git("add", "v");
    await harness.git(...IDENTITY, "commit", "--quiet", "-m", "mine");
    const folders = ['c "x" ü', "v/deep er", "v"];
    const expected = folders.flatMap((folder) => [`${folder}/.gitignore`, `${folder}/file.txt`]).sort();

    expect(await pathsIn(harness)).toEqual(expected);
    const pushed = await pushedFiles(harness);
    expect(
      pushed.map((line) => line.replace(/"(.*)"$/, (_, path) => path.replaceAll('\\"', '"'))).sort(),
    ).toEqual(["100644 a.txt", ...expected.map((path) => `100644 ${path}`)].sort());
    expect((await harness.changes.diff(harness.runWorkspace, "clone")).leftOut).toEqual([]);
  });

  test("a repository that a setup command made is not handed over, and is named once the agent changes it", async () => {
    const setup = `mkdir dep && cd dep && git init --quiet && echo x > x && git add x && git -c user.name=a -c user.email=b commit --quiet -m x`;
    const harness = await openHarness({ "a.txt": "a\n" }, { setupCommands: [setup] });
    const directory = harness.workspace.workingDirectory;
    const before = await harness.changes.diff(harness.runWorkspace, "clone");
    await writeFile(join(directory, "dep/x"), "changed\n");
    await writeFile(join(directory, "a.txt"), "changed\n");

    expect(before).toEqual({ diffs: [], leftOut: [] });
    expect((await harness.changes.diff(harness.runWorkspace, "clone")).leftOut).toEqual([
      { repository: TOOLS, reason: "repository", path: "dep" },
    ]);
    expect(await pushedFiles(harness)).toEqual(["100644 a.txt"]);
  });

  test("a submodule is handed over at a commit that its host has, and otherwise named", async () => {
    const known = await repositories.commit("acme/lib", { "l.txt": "1\n" });
    const url = repositories.pathOf("acme/lib");
    const harness = await openHarness({ "a.txt": "a\n" });
    const add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url];
    await harness.git(...add, "kept");
    await harness.git(...add, "own");
    const own = join(harness.workspace.workingDirectory, "own");
    await writeFile(join(own, "l.txt"), "2\n");
    await commit(own);

    const { diffs, leftOut } = await harness.changes.diff(harness.runWorkspace, "clone");

    expect(leftOut).toEqual([{ repository: TOOLS, reason: "submodule", path: "own" }]);
    expect(Buffer.from(diffs[0]?.patch ?? "").toString()).toContain(`+Subproject commit ${known}`);
    expect(await pushedFiles(harness)).toEqual(["100644 .gitmodules", "100644 a.txt", "160000 kept"]);
  });

  test("work in a worktree, on another branch and in a stash is named, as long as it is not handed over", async () => {
    const harness = await openHarness({ "a.txt": "a\n", "b.txt": "b\n" });
    const directory = harness.workspace.workingDirectory;
    const worktree = join(harness.workspace.directory, "wt");
    await harness.git("worktree", "add", "--quiet", "inside", "-b", "of-tool");
    await harness.git("worktree", "add", "--quiet", "../wt", "-b", "f");
    await writeFile(join(worktree, "f.txt"), "f\n");
    await commit(worktree);
    await writeFile(join(worktree, "dirty.txt"), "dirty\n");
    await writeFile(join(directory, "b.txt"), "stashed\n");
    await harness.git(...IDENTITY, "stash", "--quiet");
    // Other people made this one, and the agent fetched it.
    await harness.git("branch", "fetched", await oldCommit(harness));

    const before = await harness.changes.diff(harness.runWorkspace, "clone");
    await harness.git(...IDENTITY, "merge", "--quiet", "f");
    await writeFile(join(directory, "b.txt"), "stashed\n");
    await rm(join(worktree, "dirty.txt"));
    const after = await harness.changes.diff(harness.runWorkspace, "clone");

    expect(before).toEqual({
      diffs: [],
      leftOut: [
        { repository: TOOLS, reason: "worktree", path: worktree },
        { repository: TOOLS, reason: "branch", path: "f" },
        { repository: TOOLS, reason: "stash", path: "stash@{0}" },
      ],
    });
    expect(after.leftOut).toEqual([]);
    expect(await pushedFiles(harness)).toEqual(["100644 a.txt", "100644 b.txt", "100644 f.txt"]);
  });

  /** Each agent leaves one file `made.txt`, and returns where it is. */
  const ELSEWHERE: Readonly<
    Record<string, (harness: ChangeHarness, place: { main: string; worktree: string }) => Promise<string>>
  > = {
    "a branch": async (harness, { main }) => {
      await harness.git("checkout", "--quiet", "-b", "x;$(id>own)\u00e9");
      await writeFile(join(main, "made.txt"), "made\n");
      await commit(main);
      await harness.git("checkout", "--quiet", "-");
      return "branch x;$(id>own)\u00e9";
    },
    "a worktree with a branch": async (harness, { worktree }) => {
      await harness.git("worktree", "add", "--quiet", worktree, "-b", "side");
      await writeFile(join(worktree, "made.txt"), "made\n");
      await commit(worktree);
      return "branch side";
    },
    "a worktree without a branch": async (harness, { worktree }) => {
      await harness.git("worktree", "add", "--quiet", "--detach", worktree);
      await writeFile(join(worktree, "made.txt"), "made\n");
      await commit(worktree);
      return `worktree ${worktree}`;
    },
    "the uncommitted files of a worktree": async (harness, { worktree }) => {
      await harness.git("worktree", "add", "--quiet", worktree, "-b", "side");
      await writeFile(join(worktree, "made.txt"), "made\n");
      return `worktree ${worktree}`;
    },
    "a worktree with commits and uncommitted files, and a branch without the latter": async (
      harness,
      { worktree },
    ) => {
      await harness.git("worktree", "add", "--quiet", worktree, "-b", "side");
      await harness.git(...IDENTITY, "-C", worktree, "commit", "--quiet", "--allow-empty", "-m", "first");
      await writeFile(join(worktree, "made.txt"), "made\n");
      return `worktree ${worktree}`;
    },
    "a stash with untracked files": async (harness, { main }) => {
      await writeFile(join(main, "made.txt"), "made\n");
      await harness.git(...IDENTITY, "stash", "--quiet", "--include-untracked");
      return "stash stash@{0}";
    },
  };

  test.each(Object.entries(ELSEWHERE))(
    "%s is taken as the result if there is no other work",
    async (_what, work) => {
      const harness = await openHarness({ "a.txt": "a\n" });
      const main = harness.workspace.workingDirectory;
      await harness.changes.takeSnapshot(harness.runWorkspace);
      const place = await work(harness, { main, worktree: join(harness.workspace.directory, "wt") });
      await plantHooks(harness);

      const [taken, ...others] = await harness.changes.fastForward(harness.runWorkspace);
      const { diffs, leftOut } = await harness.changes.diff(harness.runWorkspace, "snapshot");

      expect(`${taken?.reason} ${taken?.path}`).toBe(place);
      expect(others).toEqual([]);
      expect(leftOut).toEqual([]);
      expect(diffs.flatMap(({ files }) => files.map(({ path }) => path))).toEqual(["made.txt"]);
      expect(await readFile(join(main, "made.txt"), "utf8")).toBe("made\n");
      expect(await harness.changes.fastForward(harness.runWorkspace)).toEqual([]);
      expect(await pushedFiles(harness)).toEqual(["100644 a.txt", "100644 made.txt"]);
      expect(await readdir(main)).not.toContain("own");
    },
  );

  /** Every hook of the repository would leave a file `own`. */
  async function plantHooks(harness: ChangeHarness): Promise<void> {
    const hooks = join(harness.workspace.workingDirectory, ".git/hooks");
    for (const name of ["post-checkout", "reference-transaction", "post-index-change", "pre-commit"]) {
      await writeFile(join(hooks, name), "#!/bin/sh\ntouch own\n", { mode: 0o755 });
    }
  }

  /** In each of these states, taking the work of the branch `side` would lose other work. */
  const BESIDE: Readonly<Record<string, (harness: ChangeHarness, main: string) => Promise<void>>> = {
    "uncommitted work": async (_harness, main) => writeFile(join(main, "a.txt"), "mine\n"),
    "a commit": async (_harness, main) => {
      await writeFile(join(main, "b.txt"), "mine\n");
      await commit(main);
    },
    "another branch": async (harness, main) => {
      await harness.git("checkout", "--quiet", "-b", "other");
      await writeFile(join(main, "b.txt"), "mine\n");
      await commit(main);
      await harness.git("checkout", "--quiet", "main");
    },
    "an ignored file in its way": async (_harness, main) => {
      await writeFile(join(main, ".git/info/exclude"), "made.txt\n");
      await writeFile(join(main, "made.txt"), "own\n");
    },
  };

  test.each(Object.entries(BESIDE))("work of a branch beside %s is only named", async (_what, other) => {
    const harness = await openHarness({ "a.txt": "a\n" });
    const main = harness.workspace.workingDirectory;
    await harness.changes.takeSnapshot(harness.runWorkspace);
    await harness.git("checkout", "--quiet", "-b", "side");
    await writeFile(join(main, "made.txt"), "made\n");
    await commit(main);
    await harness.git("checkout", "--quiet", "main");
    await other(harness, main);
    const before = [await harness.git("rev-parse", "HEAD"), await harness.git("status", "--short")];

    expect(await harness.changes.fastForward(harness.runWorkspace)).toEqual([]);

    expect([await harness.git("rev-parse", "HEAD"), await harness.git("status", "--short")]).toEqual(before);
    const { leftOut } = await harness.changes.diff(harness.runWorkspace, "clone");
    expect(leftOut).toContainEqual({ repository: TOOLS, reason: "branch", path: "side" });
  });

  test("a branch that does not begin at the cloned commit is not taken", async () => {
    await openHarness({ "old.txt": "old\n" });
    const harness = await openHarness({ "a.txt": "a\n" });
    const main = harness.workspace.workingDirectory;
    await harness.changes.takeSnapshot(harness.runWorkspace);
    await harness.git("checkout", "--quiet", "--orphan", "side");
    await writeFile(join(main, "made.txt"), "made\n");
    await commit(main);
    await harness.git("checkout", "--quiet", "main");

    expect(await harness.changes.fastForward(harness.runWorkspace)).toEqual([]);
    expect(await pathsIn(harness)).toEqual([]);
  });

  test("later turns in a worktree come to the result as well", async () => {
    const harness = await openHarness({ "a.txt": "a\n" });
    const worktree = join(harness.workspace.directory, "wt");
    await harness.git("worktree", "add", "--quiet", worktree, "-b", "side");
    for (const name of ["first.txt", "second.txt"]) {
      await harness.changes.takeSnapshot(harness.runWorkspace);
      await writeFile(join(worktree, name), "made\n");
      await commit(worktree);
      await harness.changes.fastForward(harness.runWorkspace);
    }

    expect(await pathsIn(harness)).toEqual(["first.txt", "second.txt"]);
  });

  test("an ignored file is named if a tool wrote it in this run", async () => {
    const harness = await openHarness({ "a.txt": "a\n", ".gitignore": "*.env\n" });
    const main = harness.workspace.workingDirectory;
    await writeFile(join(main, "old.env"), "old\n");
    await utimes(join(main, "old.env"), 1, 1);
    for (const name of ["new.env", "-q :(top).env", "unnamed.env", "plain.txt"]) {
      await writeFile(join(main, name), "new\n");
    }
    const named = ["old.env", "new.env", "-q :(top).env", "plain.txt", "gone.env", "../../etc/passwd"];

    const { leftOut } = await harness.changes.diff(
      harness.runWorkspace,
      "clone",
      named.map((name) => join(main, name)),
    );

    expect(leftOut).toEqual(
      ["new.env", "-q :(top).env"].map((path) => ({ repository: TOOLS, reason: "ignored", path })),
    );
  });

  async function oldCommit(harness: ChangeHarness): Promise<string> {
    const tree = (await harness.git("rev-parse", "stash^{tree}")).trim();
    const raw = `tree ${tree}\nauthor o <o@example.com> 1000000000 +0000\ncommitter o <o@example.com> 1000000000 +0000\n\nold\n`;
    await writeFile(join(harness.root, "raw"), raw);
    return (await harness.git("hash-object", "-t", "commit", "-w", join(harness.root, "raw"))).trim();
  }

  test("a refused push names the large files in the commits of the agent", async () => {
    const harness = await openHarness({ "a.txt": "a\n" });
    const hooks = join(repositories.pathOf("acme/tools"), "hooks");
    await mkdir(hooks, { recursive: true });
    await writeFile(join(hooks, "pre-receive"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    await writeFile(join(harness.workspace.workingDirectory, "big file.bin"), Buffer.alloc(12 * 2 ** 20));
    await commit(harness.workspace.workingDirectory);

    await expect(harness.changes.push(harness.runWorkspace, PUSH)).rejects.toMatchObject({
      message: expect.stringContaining("large files: big file.bin (12 MiB)"),
      options: { remedy: expect.stringContaining("ask the agent to take them out") },
    });
  });
});
