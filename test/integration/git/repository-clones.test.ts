import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import { type CloneLimits, type CloneOptions, RepositoryClones } from "../../../src/git/repository-clones.ts";
import { runGit } from "../../support/change-harness.ts";
import { GitHttpServer } from "../../support/git-http-server.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { waitFor } from "../../support/wait-for.ts";

const runProgram = promisify(execFile);
const TEAM = "team-1" as TeamId;
const TOKEN = "Basic dG9rZW4tb2YtdGhlLWFwcA==";

const skipped = reasonToSkipGit();
describe.skipIf(skipped !== undefined)(`clones of repositories${skipped ? ` (${skipped})` : ""}`, () => {
  let repositories: GitRepositories;
  let server: GitHttpServer;
  let root: string;
  let openClones: RepositoryClones[];
  let count = 0;

  beforeAll(async () => {
    repositories = await GitRepositories.create();
    server = await GitHttpServer.start(repositories.root);
  });
  afterAll(async () => {
    await server.stop();
    await repositories.remove();
  });
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "errand-clones-"));
    openClones = [];
    server.authorization = undefined;
    server.intercept = () => false;
    server.requests.length = 0;
  });
  afterEach(async () => {
    for (const clones of openClones) {
      clones.close();
    }
    await rm(root, { recursive: true, force: true });
  });

  const ignore = () => undefined;
  function open(
    limits: Partial<CloneLimits> = {},
    authorize: CloneOptions["authorize"] = async () => undefined,
    committerOf: CloneOptions["committerOf"] = async () => undefined,
  ) {
    const log = { info: ignore, warn: ignore, error: ignore };
    const options = { dataDir: root, baseUrl: server.url, authorize, committerOf, log, limits };
    const clones = new RepositoryClones(options);
    openClones.push(clones);
    return clones;
  }

  const aRepository = (name: string) => ({ teamId: TEAM, owner: "acme", name });
  const never = new AbortController().signal;

  async function cloneOf(clones: RepositoryClones, name: string, ref?: string) {
    const repository = aRepository(name);
    const found = await clones.find(repository, ref, never);
    count += 1;
    const directory = join(root, `clone-${count}`);
    const clone = await clones.clone({ repository, found, directory, signal: never });
    return { directory, found, ...clone, git: (...args: string[]) => runGit(directory, args) };
  }

  /** Git requests packs by POST. */
  const countPackRequests = () => server.requests.filter(({ url }) => url.includes("git-upload-pack")).length;
  const isPackRequest = ({ method, url = "" }: IncomingMessage) =>
    method === "POST" && url.includes("git-upload-pack");
  const fileOf = (directory: string) => readFile(join(directory, "file.txt"), "utf8");

  test("a renamed repository is cloned from where its host redirects, with the key for that address", async () => {
    await repositories.commit("acme/former", { "file.txt": "moved" });
    await repositories.rename("acme/former", "acme/present");
    server.renames.set("acme/former", "acme/present");
    server.authorization = TOKEN;
    const urls: string[] = [];
    const authorize: CloneOptions["authorize"] = async (_repository, url) => {
      urls.push(url);
      return TOKEN;
    };

    const { directory } = await cloneOf(open({}, authorize), "former");

    expect(await fileOf(directory)).toBe("moved");
    expect(new Set(urls)).toEqual(
      new Set([`${server.url}/acme/former.git`, `${server.url}/acme/present.git`]),
    );
  });

  test.each([
    [404, "There is no repository acme/private that this server may read."],
    [
      401,
      "There is no repository acme/private that this server may read: the git host asks for a key that it accepts.",
    ],
    [403, "The git host does not let this server read acme/private."],
    [503, "The repository acme/private could not be fetched: the git host failed."],
    [429, "The repository acme/private could not be fetched: the git host limits requests now."],
  ])("a clone that the host refuses with %i says why, without the key", async (status, message) => {
    server.intercept = (_request, response) => {
      response.writeHead(status).end();
      return true;
    };
    const clones = open({}, async () => "Basic c2VjcmV0LWtleQ==");

    const error = await clones.find(aRepository("private"), undefined, never).catch((thrown) => thrown);

    expect(error).toMatchObject({ code: "environment_setup_failed", message });
    expect(`${error.message} ${error.options.remedy}`).not.toContain("c2VjcmV0LWtleQ");
  });

  test.each([
    [
      "of .github, whatever its case",
      { ".github/Pull_Request_Template.MD": "A", "pull_request_template.md": "B" },
      "A",
    ],
    ["of the root", { "PULL_REQUEST_TEMPLATE.md": "B", "docs/pull_request_template.md": "C" }, "B"],
    ["of docs", { "docs/pull_request_template.txt": "C" }, "C"],
    [
      "that is the only one with a name",
      { ".github/PULL_REQUEST_TEMPLATE/feature.md": "F", ".github/PULL_REQUEST_TEMPLATE/config.yml": "" },
      "F",
    ],
    [
      "although others have names",
      { "docs/pull_request_template.md": "C", ".github/PULL_REQUEST_TEMPLATE/feature.md": "F" },
      "C",
    ],
    [
      "if several have names",
      { "PULL_REQUEST_TEMPLATE/feature.md": "F", ".github/PULL_REQUEST_TEMPLATE/fix.md": "G" },
      undefined,
    ],
    ["in no usual place", { "src/pull_request_template.md": "D", ".github/README.md": "E" }, undefined],
    ["that is too long", { "pull_request_template.md": "x".repeat(20_001) }, undefined],
  ])("a clone knows the template of pull requests %s", async (what, files, template) => {
    const name = `template-${what.length}`;
    await repositories.commit(`acme/${name}`, { "file.txt": "1", ...files } as Record<string, string>);

    expect((await cloneOf(open(), name)).template).toBe(template);
  });

  test("commits in a clone are by the account of the host, and without one by an author that no host knows", async () => {
    await repositories.commit("acme/authors", { "file.txt": "1" });
    const bot = { name: "errand[bot]", email: "7+errand[bot]@users.noreply.example.com" };
    const failing = async () => {
      throw new Error("no answer");
    };

    const found = [];
    for (const committerOf of [async () => bot, async () => undefined, failing]) {
      const { git } = await cloneOf(open({}, undefined, committerOf), "authors");
      found.push((await git("config", "user.email")).trim());
    }

    expect(found).toEqual([bot.email, "errand@users.noreply.invalid", "errand@users.noreply.invalid"]);
  });

  test("a clone from a host that nobody serves says that it cannot be reached", async () => {
    const gone = await GitHttpServer.start(repositories.root);
    const baseUrl = gone.url;
    await gone.stop();
    const log = { info: ignore, warn: ignore, error: ignore };
    const clones = new RepositoryClones({ dataDir: root, baseUrl, authorize: async () => undefined, log });
    openClones.push(clones);

    await expect(clones.find(aRepository("tools"), undefined, never)).rejects.toMatchObject({
      code: "environment_setup_failed",
      retryable: true,
      message: "The repository acme/tools could not be fetched: the git host cannot be reached.",
    });
  });

  test("a host may be silent while it prepares a repository, and the wait is reported", async () => {
    await repositories.commit("acme/slow", { "file.txt": "late" });
    const clones = open({ silenceMs: 60_000, progressMs: 20 });
    const repository = aRepository("slow");
    const found = await clones.find(repository, undefined, never);
    const lines: string[] = [];
    let serveHeld: (() => void) | undefined;
    server.intercept = (request, _response, serve) => {
      serveHeld = serve;
      return isPackRequest(request);
    };
    const directory = join(root, "slow");

    const cloning = clones.clone({
      repository,
      found,
      directory,
      signal: never,
      onProgress: (line) => void lines.push(line),
    });
    await waitFor(() => lines.length > 2 && serveHeld !== undefined, { what: "progress" });
    server.intercept = () => false;
    serveHeld?.();
    await cloning;

    expect(lines[0]).toMatch(/^The git host has sent nothing for \d+ s\.$/);
    expect(await fileOf(directory)).toBe("late");
  });

  test("the progress of git is reported and is no part of its errors", async () => {
    await repositories.commit("acme/progress", { "file.txt": "x" });
    const clones = open({ progressMs: 20 });
    const repository = aRepository("progress");
    const found = await clones.find(repository, undefined, never);
    const lines: string[] = [];
    let requests = 0;
    server.intercept = (request, response) => {
      requests += isPackRequest(request) ? 1 : 0;
      // The first lists the branches.
      if (requests < 2) {
        return false;
      }
      response.writeHead(200, { "content-type": "application/x-git-upload-pack-result" });
      response.write(band("packfile\n") + band("\x02Counting objects:  40% (4/10)\r"));
      void waitFor(() => lines.some((line) => line.startsWith("remote")), { what: "progress" }).then(() =>
        response.end(band("\x03The disk is full.\n")),
      );
      return true;
    };
    const clone = { repository, found, directory: join(root, "progress"), signal: never };

    const failed = clones.clone({ ...clone, onProgress: (line) => void lines.push(line) });

    const error = await failed.catch((thrown) => thrown);
    expect(lines.find((line) => line.startsWith("remote"))).toBe("remote: Counting objects:  40% (4/10)");
    expect(error.cause.message).toContain("fatal:");
    expect(error.cause.message).not.toContain("Counting");
  });

  test("a host that is silent for too long fails the clone, which can be tried again", async () => {
    await repositories.commit("acme/silent", { "file.txt": "never" });
    const clones = open({ silenceMs: 1_000 });
    const repository = aRepository("silent");
    const found = await clones.find(repository, undefined, never);
    server.intercept = isPackRequest;

    const cloning = clones.clone({ repository, found, directory: join(root, "silent"), signal: never });

    await expect(cloning).rejects.toMatchObject({
      code: "environment_setup_failed",
      retryable: true,
      message: "The repository acme/silent could not be fetched: the git host did not answer in time.",
    });
  });

  test("a clone is at the requested branch, tag or commit", async () => {
    const first = await repositories.commit("acme/refs", { "file.txt": "first" });
    const bare = repositories.pathOf("acme/refs");
    await runGit(bare, ["branch", "feature/x", first]);
    await runGit(bare, ["-c", "user.name=a", "-c", "user.email=a@b", "tag", "-a", "-m", "m", "v1", first]);
    const second = await repositories.commit("acme/refs", { "file.txt": "second" });
    await runGit(bare, ["tag", "feature/x", second]);
    const clones = open();

    const newest = await cloneOf(clones, "refs");
    const branch = await cloneOf(clones, "refs", "feature/x");
    const tag = await cloneOf(clones, "refs", "v1");
    const commit = await cloneOf(clones, "refs", first);

    expect(newest.found).toMatchObject({ commit: second, branch: "main", defaultBranch: "main" });
    expect(branch.found).toMatchObject({ commit: first, branch: "feature/x", defaultBranch: "main" });
    expect(await branch.git("status", "--branch", "--porcelain")).toBe("## feature/x...origin/feature/x\n");
    expect(await branch.git("rev-parse", "origin/main", "origin/HEAD")).toBe(`${second}\n${second}\n`);
    for (const { directory, found, git } of [tag, commit]) {
      expect(found).toMatchObject({ commit: first });
      expect(await fileOf(directory)).toBe("first");
      expect(await git("branch", "--show-current")).toBe("");
    }
    expect(await newest.git("tag", "--list")).toContain("v1");
  });

  test("the head of a fork is checked out at its commit, without the files that configure agents, and no change shows it", async () => {
    await repositories.commit("acme/forked", { "file.txt": "base" });
    const bare = repositories.pathOf("acme/forked");
    const head = await repositories.commit("acme/forked", {
      "file.txt": "fork",
      ".claude/settings.json": "{}",
      ".mcp.json": "{}",
      "docs/CLAUDE.md": "Obey.",
      "opencode.json": "{}",
      ".env": "OPENCODE_CONFIG=evil.json",
      "bunfig.toml": 'preload = "./evil.ts"',
      ".errand/setup.sh": "curl evil",
      ".github/copilot-instructions.md": "Obey.",
      ".github/workflows/test.yml": "on: push",
    });
    // Only the ref of the pull request has the commit, as on GitHub.
    await runGit(bare, ["update-ref", "refs/pull/9/head", head]);
    await runGit(bare, ["update-ref", "refs/heads/main", `${head}^`]);
    const clones = open();
    const repository = aRepository("forked");
    const found = { ...(await clones.find(repository, head, never)), isUntrusted: true } as const;
    const directory = join(root, "fork");

    await clones.clone({ repository, found, directory, signal: never });

    expect(await fileOf(directory)).toBe("fork");
    const files = await readdir(directory, { recursive: true });
    const shown = files.filter((path) => !path.startsWith(".git/") && path !== ".git");
    expect(shown.toSorted()).toEqual([
      ".github",
      ".github/workflows",
      ".github/workflows/test.yml",
      "file.txt",
    ]);
    expect(await runGit(directory, ["rev-parse", "HEAD"])).toBe(`${head}\n`);
    await runGit(directory, ["add", "--all"]);
    expect(await runGit(directory, ["status", "--porcelain"])).toBe("");
    expect(await runGit(directory, ["show", "HEAD:docs/CLAUDE.md"])).toBe("Obey.");
  });

  test("links in a fork do not lead to files that configure agents", async () => {
    await repositories.commit("acme/linked", { "file.txt": "base", "evil/settings.json": "{}" });
    const [bare, work] = [repositories.pathOf("acme/linked"), join(root, "linked-work")];
    await runGit(root, ["clone", "--quiet", bare, work]);
    await mkdir(join(work, "nested"));
    for (const name of [".claude", ".gemini", ".github", "CLAUDE.md", "nested/.codex", "harmless"]) {
      await symlink("evil", join(work, name));
    }
    await runGit(work, ["add", "--all"]);
    await runGit(work, ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "m"]);
    await runGit(work, ["push", "--quiet", "origin", "HEAD:refs/pull/9/head"]);
    const head = (await runGit(work, ["rev-parse", "HEAD"])).trim();
    const clones = open();
    const repository = aRepository("linked");
    const found = { ...(await clones.find(repository, head, never)), isUntrusted: true } as const;
    const directory = join(root, "linked");

    await clones.clone({ repository, found, directory, signal: never });

    expect((await readdir(directory)).toSorted()).toEqual([".git", "evil", "file.txt", "harmless"]);
    expect(await runGit(directory, ["status", "--porcelain"])).toBe("");
  });

  test("a repeated clone fetches only new commits and shares no files with the mirror", async () => {
    await repositories.commit("acme/often", { "file.txt": "one" });
    const clones = open();
    const first = await cloneOf(clones, "often");
    const before = countPackRequests();

    const second = await cloneOf(clones, "often");
    const other = await cloneOf(open(), "often");

    // Each clone asks for the newest commit and fetches no pack, even after a restart.
    expect(countPackRequests() - before).toBe((await listings()) * 2);
    for (const { directory, git } of [first, second, other]) {
      await expect(stat(join(directory, ".git/objects/info/alternates"))).rejects.toThrow("ENOENT");
      expect(await git("fsck", "--full")).toBe("");
      for (const file of await readdir(join(directory, ".git/objects/pack"))) {
        expect((await stat(join(directory, ".git/objects/pack", file))).nlink).toBe(1);
      }
    }
    await repositories.commit("acme/often", { "file.txt": "two" });
    expect(await fileOf((await cloneOf(clones, "often")).directory)).toBe("two");
  });

  /** Returns the number of POST requests that one listing of branches takes. */
  async function listings(): Promise<number> {
    const before = countPackRequests();
    await open().find(aRepository("often"), undefined, never);
    return countPackRequests() - before;
  }

  test("a private repository is cloned with the team's key, which is stored in no file", async () => {
    server.authorization = TOKEN;
    await repositories.commit("acme/private", { "file.txt": "x" });

    const { directory } = await cloneOf(
      open({}, async () => TOKEN),
      "private",
    );

    expect(await fileOf(directory)).toBe("x");
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) {
        continue;
      }
      expect((await readFile(join(entry.parentPath, entry.name))).includes("dG9rZW4tb2Y")).toBe(false);
    }
    await expect(open().find(aRepository("private"), undefined, never)).rejects.toMatchObject({
      code: "environment_setup_failed",
      retryable: false,
    });
  });

  test("a mirror is removed and not used when the host no longer shows the repository to the team", async () => {
    await repositories.commit("acme/withdrawn", { "file.txt": "x" });
    const clones = open();
    await cloneOf(clones, "withdrawn");
    server.authorization = TOKEN;

    await expect(cloneOf(clones, "withdrawn")).rejects.toMatchObject({
      message: expect.stringContaining("There is no repository acme/withdrawn"),
    });

    expect(await readdir(join(root, "histories"))).toEqual([]);
  });

  test("a repository with too large a history is cloned without its history", async () => {
    await repositories.commit("acme/long", { "file.txt": randomBytes(300_000).toString("base64") });
    await repositories.commit("acme/long", { "file.txt": "small" });

    const { directory, git, isShallow } = await cloneOf(open({ maxPackBytes: 100_000 }), "long");

    expect(isShallow).toBe(true);
    expect(await fileOf(directory)).toBe("small");
    expect(await git("rev-list", "--count", "HEAD")).toBe("1\n");
    expect(await git("fsck")).toBe("");
  });

  test("a repository that is too large even without its history is refused", async () => {
    await repositories.commit("acme/large", { "file.txt": randomBytes(300_000).toString("base64") });

    await expect(cloneOf(open({ maxPackBytes: 100_000 }), "large")).rejects.toMatchObject({
      code: "environment_setup_failed",
      retryable: false,
      message: expect.stringContaining("acme/large cannot be cloned: it is too large"),
    });
  });

  test("a small repository that would expand to fill the disk is refused", async () => {
    const deep = 12;
    await repositories.commit("acme/bomb", { "file.txt": "x" });
    const bare = repositories.pathOf("acme/bomb");
    let tree = (await runGit(bare, ["rev-parse", "main^{tree}"])).trim();
    for (let level = 0; level < deep; level += 1) {
      const lines = Array.from({ length: 10 }, (_, index) => `040000 tree ${tree}\t${index}\n`).join("");
      await writeFile(join(root, "tree"), lines);
      tree = (
        await runGit(root, [
          "-c",
          "x.y=z",
          "--git-dir",
          bare,
          "hash-object",
          "-w",
          "-t",
          "tree",
          "--literally",
          await rawTree(tree),
        ])
      ).trim();
    }
    const commit = await runGit(bare, [
      ...["-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", "m", tree],
    ]);
    await runGit(bare, ["update-ref", "refs/heads/main", commit.trim()]);

    await expect(cloneOf(open(), "bomb")).rejects.toMatchObject({
      code: "environment_setup_failed",
      message: expect.stringContaining("too large"),
    });
  });

  /** Writes a tree object that contains the given tree ten times, and returns the file's path. */
  async function rawTree(tree: string): Promise<string> {
    const entries = Array.from({ length: 10 }, (_, index) =>
      Buffer.concat([Buffer.from(`40000 ${index}\0`), Buffer.from(tree, "hex")]),
    );
    const path = join(root, "raw-tree");
    await writeFile(path, Buffer.concat(entries));
    return path;
  }

  test("cloning does not follow links, runs no filters or hooks and fetches no submodules", async () => {
    await mkdir(join(root, "outside"));
    await repositories.commit("acme/hostile", {
      link: { mode: "120000", text: join(root, "outside") },
      ".gitattributes": "*.txt filter=lfs diff=lfs merge=lfs\n",
      "file.txt": "version https://git-lfs.github.com/spec/v1\n",
      ".gitmodules": `[submodule "x"]\npath = sub\nurl = ext::sh -c touch% ${root}/outside/ran\n`,
      "-rf": "x",
      "hooks/post-checkout": { mode: "100755", text: `#!/bin/sh\ntouch ${root}/outside/ran\n` },
    });

    const { directory } = await cloneOf(open(), "hostile");

    expect(await readlink(join(directory, "link"))).toBe(join(root, "outside"));
    expect((await lstat(join(directory, "link"))).isSymbolicLink()).toBe(true);
    expect(await fileOf(directory)).toContain("git-lfs.github.com");
    expect(await readdir(join(root, "outside"))).toEqual([]);
    expect(await readdir(join(directory, ".git/hooks"))).toEqual([]);
    expect(await readFile(join(directory, ".git/logs/HEAD"), "utf8")).toContain("Errand <errand@");
  });

  test("a repository with a file inside .git is refused permanently", async () => {
    await repositories.commit("acme/dotgit", { "file.txt": "x" });
    const bare = repositories.pathOf("acme/dotgit");
    const blob = (await runGit(bare, ["rev-parse", "main:file.txt"])).trim();
    await writeFile(
      join(root, "raw"),
      Buffer.concat([Buffer.from("100644 .GIT\0"), Buffer.from(blob, "hex")]),
    );
    const hash = ["hash-object", "-w", "-t", "tree", "--literally", join(root, "raw")];
    const tree = (await runGit(bare, hash)).trim();
    const author = ["-c", "user.name=a", "-c", "user.email=a@b"];
    const commit = await runGit(bare, [...author, "commit-tree", "-m", "m", tree]);
    await runGit(bare, ["update-ref", "refs/heads/main", commit.trim()]);

    await expect(cloneOf(open(), "dotgit")).rejects.toMatchObject({
      code: "environment_setup_failed",
      retryable: false,
    });
  });

  test("a clone is made from the host if the mirror is broken or a killed git left files behind", async () => {
    await repositories.commit("acme/broken", { "file.txt": "x" });
    await cloneOf(open(), "broken");
    const [mirror = ""] = await readdir(join(root, "histories"));
    const mirrorDirectory = join(root, "histories", mirror);
    await writeFile(join(mirrorDirectory, "config.lock"), "");
    await writeFile(join(mirrorDirectory, "objects/pack/tmp_pack_x"), "half");
    for (const file of await readdir(join(mirrorDirectory, "objects/pack"))) {
      if (file.endsWith(".pack")) {
        await rm(join(mirrorDirectory, "objects/pack", file));
      }
    }

    const { directory } = await cloneOf(open(), "broken");

    expect(await fileOf(directory)).toBe("x");
    expect(await readdir(join(mirrorDirectory, "objects/pack"))).not.toContain("tmp_pack_x");
  });

  test("a clone is made from the host if the mirror lacks an object", async () => {
    await repositories.commit("acme/holes", { "file.txt": "x" });
    await cloneOf(open(), "holes");
    const [mirror = ""] = await readdir(join(root, "histories"));
    const mirrorDirectory = join(root, "histories", mirror);
    const packs = join(mirrorDirectory, "objects/pack");
    const pack = (await readdir(packs)).find((file) => file.endsWith(".pack")) ?? "";
    await rename(packs, join(root, "packs"));
    await mkdir(packs);
    const unpack = `git --git-dir ${mirrorDirectory} unpack-objects -q < ${join(root, "packs", pack)}`;
    await runProgram("sh", ["-c", unpack]);
    const tree = (await runGit(mirrorDirectory, ["rev-parse", "refs/heads/main^{tree}"])).trim();
    await rm(join(mirrorDirectory, "objects", tree.slice(0, 2), tree.slice(2)));

    const { directory } = await cloneOf(open(), "holes");

    expect(await fileOf(directory)).toBe("x");
  });

  test("two teams have separate mirrors of the same repository", async () => {
    await repositories.commit("acme/shared", { "file.txt": "x" });
    const clones = open();
    for (const teamId of [TEAM, "team-2" as TeamId]) {
      const repository = { ...aRepository("shared"), teamId };
      const found = await clones.find(repository, undefined, never);
      await clones.clone({ repository, found, directory: join(root, teamId), signal: never });
    }

    expect(await readdir(join(root, "histories"))).toHaveLength(2);
  });

  test.each(["@acme/ui-fix", "fix/{JIRA-1}-x", "wip]x", "#12=%41", "größe's"])(
    "a clone is at the branch %s, which later work is based on",
    async (name) => {
      const commit = await repositories.commit("acme/names", { "file.txt": name });
      await runGit(repositories.pathOf("acme/names"), ["update-ref", `refs/heads/${name}`, commit]);

      const { found, git } = await cloneOf(open(), "names", name);

      expect(found).toMatchObject({ branch: name, commit });
      expect(await git("branch", "--show-current")).toBe(`${name}\n`);
      expect(await git("status", "--branch", "--porcelain")).toBe(`## ${name}...origin/${name}\n`);
    },
  );

  test("a clone can be repeated at the same commit after its branch was deleted on the host", async () => {
    const commit = await repositories.commit("acme/moving", { "file.txt": "one" });
    await runGit(repositories.pathOf("acme/moving"), ["branch", "work", commit]);
    const { found } = await cloneOf(open(), "moving", "work");
    await runGit(repositories.pathOf("acme/moving"), ["branch", "-D", "work"]);
    await repositories.commit("acme/moving", { "file.txt": "two" });
    await rm(join(root, "histories"), { recursive: true });

    const directory = join(root, "again");
    await open().clone({ repository: aRepository("moving"), found, directory, signal: never });

    expect(await fileOf(directory)).toBe("one");
    expect(await runGit(directory, ["branch", "--show-current"])).toBe("work\n");
  });

  test("an aborted lookup ends with a retryable error, and the repository can be cloned afterwards", async () => {
    await repositories.commit("acme/slow", { "file.txt": "x" });
    const stopping = new AbortController();
    let requestCount = 0;
    server.intercept = (request) => {
      requestCount += 1;
      return request.method === "GET";
    };

    const finding = open().find(aRepository("slow"), undefined, stopping.signal);
    finding.catch(() => undefined);
    await waitFor(() => requestCount > 0, { what: "the request" });
    stopping.abort();

    await expect(finding).rejects.toMatchObject({ code: "environment_setup_failed", retryable: true });
    server.intercept = () => false;
    expect(await fileOf((await cloneOf(open(), "slow")).directory)).toBe("x");
  });

  test("the least recently used mirror is removed when there are too many", async () => {
    for (const name of ["a", "b", "c"]) {
      await repositories.commit(`acme/${name}`, { "file.txt": name });
    }
    const clones = open({ maxMirrors: 2 });
    await cloneOf(clones, "a");
    const [a = ""] = await readdir(join(root, "histories"));
    await cloneOf(clones, "b");
    await utimes(join(root, "histories", a), new Date(0), new Date(0));

    await cloneOf(clones, "c");

    const left = await waitFor(
      async () => {
        const names = await readdir(join(root, "histories"));
        return names.length === 2 && names;
      },
      { what: "two mirrors" },
    );
    expect(left).not.toContain(a);
    expect(await fileOf((await cloneOf(clones, "a")).directory)).toBe("a");
  });
});

/** A line of git's protocol. */
function band(content: string): string {
  return `${(content.length + 4).toString(16).padStart(4, "0")}${content}`;
}
