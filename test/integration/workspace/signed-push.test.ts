import { chmod, lstat, mkdir, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { makeCommit } from "../../../src/adapters/github/commits/make-commit.ts";
import type { CallRepository } from "../../../src/adapters/github/routes.ts";
import { AppError } from "../../../src/core/basics/errors.ts";
import type {
  BranchPush,
  CommitSigning,
  NewCommit,
  PushedWork,
} from "../../../src/core/ports/change-tracker.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { ChangeHarness, runGit } from "../../support/change-harness.ts";
import { type GatewayHarness, openGateway } from "../../support/gateway-harness.ts";
import { GitHttpServer } from "../../support/git-http-server.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { GithubGitData } from "../../support/github/github-git-data.ts";

const TOKEN = "Basic dG9rZW4tb2YtdGhlLWFwcA==";
const TOOLS = { owner: "acme", name: "tools" };
const FULL_NAME = "acme/tools";
const BRANCH = "errand/abc";
const APP = "errand[bot] <199000001+errand[bot]@users.noreply.127.0.0.1>";
const LINK = { mode: "120000", text: "kept.txt" } as const;
const FILES = {
  "kept.txt": "kept\n",
  "gone.txt": "gone\n",
  "old name.txt": "a line that stays\n".repeat(20),
  "run.sh": { mode: "100755", text: "#!/bin/sh\n" } as const,
  "dir/one.txt": "1\n",
  "dir/two.txt": "2\n",
  link: LINK,
};

const noGit = reasonToSkipGit();

interface Change {
  readonly kind: "text" | "binary" | "run" | "link" | "remove";
  readonly name: string;
  readonly value: number;
}

/** A file takes the place of a folder, and a folder that of a file. */
async function apply(folder: string, { kind, name, value }: Change): Promise<void> {
  const file = join(folder, name);
  const parent = dirname(file);
  if (parent !== folder && !(await isFolder(parent))) {
    await rm(parent, { force: true });
    await mkdir(parent);
  }
  await rm(file, { recursive: true, force: true });
  if (kind === "link") {
    await symlink(`to-${value}`, file);
  } else if (kind !== "remove") {
    await writeFile(file, kind === "binary" ? Buffer.from([0, value]) : `${kind} ${value}\n`);
    await chmod(file, kind === "run" ? 0o755 : 0o644);
  }
}

async function isFolder(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isDirectory() ?? false;
}

describe.skipIf(noGit !== undefined)(`commits that the host makes ${noGit ?? ""}`, () => {
  let repositories: GitRepositories;
  let server: GitHttpServer;
  let github: GithubGitData;
  let reasons: string[];
  let made: NewCommit[];
  const opened: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    repositories = await GitRepositories.create();
    server = await GitHttpServer.start(repositories.root, TOKEN);
    await repositories.commit(FULL_NAME, FILES);
  });
  afterAll(async () => {
    await server.stop();
    await repositories.remove();
  });
  afterEach(async () => {
    await repositoryGit("for-each-ref", "--format=delete %(refname)", "refs/heads/errand").then(
      async (refs) => {
        for (const ref of refs.split("\n").filter(Boolean)) {
          await repositoryGit("update-ref", "-d", ref.slice("delete ".length));
        }
      },
    );
    for (const each of opened.splice(0)) {
      await each.close();
    }
  });

  const repositoryGit = (...args: readonly string[]) => runGit(repositories.pathOf(FULL_NAME), args);

  async function open(): Promise<ChangeHarness> {
    github = new GithubGitData();
    github.repository = repositories.pathOf(FULL_NAME);
    reasons = [];
    made = [];
    const grant = { repositories: [{ ...TOOLS, push: true }] };
    const authorize = async () => TOKEN;
    const gateway: GatewayHarness = await openGateway({ gitUrl: server.url, authorize, grant });
    const harness = await ChangeHarness.open({
      gitUrl: server.url,
      sandbox: createLocalSandbox(tmpdir()),
      repositories: [TOOLS],
      gateway: gateway.gateway,
      authorization: TOKEN,
    });
    opened.push(harness, gateway);
    return harness;
  }

  const call: CallRepository = async ({ answer, parameters, route }) => {
    const [method = "", path = ""] = route.split(" ");
    const request = {
      method,
      path: path.replace("{owner}", "acme").replace("{repo}", "tools"),
      search: "",
      headers: new Headers(),
      body: Buffer.from(JSON.stringify(parameters)),
    };
    const { body, status } = (await github.answer(request, true)) ?? { body: "", status: 404 };
    if (status !== 201) {
      throw new AppError("invalid_request", `GitHub answered ${status}: ${body}`);
    }
    return answer.parse(JSON.parse(String(body)));
  };

  async function make(commits: readonly NewCommit[]): Promise<string> {
    const ids = new Map<string, string>();
    for (const commit of commits) {
      const parents = commit.parents.map((parent) => ids.get(parent) ?? parent);
      ids.set(commit.id, await makeCommit(call, { ...commit, parents }));
      made.push(commit);
    }
    return ids.get(commits.at(-1)?.id ?? "") ?? "";
  }

  function push(
    harness: ChangeHarness,
    more: Partial<BranchPush> = {},
    signing: Partial<CommitSigning> = {},
  ): Promise<PushedWork | undefined> {
    const notSigned = (reason: string) => void reasons.push(reason);
    return harness.changes.push(harness.runWorkspace, {
      repository: TOOLS,
      branch: BRANCH,
      message: "What was done\n\nMade by a run.\n",
      signing: { make, notSigned, ...signing },
      ...more,
    });
  }

  async function writeIn({ workspace }: ChangeHarness, path: string, text: string | Buffer): Promise<void> {
    const file = join(workspace.workingDirectory, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  /** Branch and clone are at one commit, with these files and signatures, and nothing is left to commit. */
  async function expectSigned(harness: ChangeHarness, tree: string, base = "main"): Promise<void> {
    expect(reasons).toEqual([]);
    const head = (await harness.git("rev-parse", "HEAD")).trim();
    expect((await repositoryGit("rev-parse", BRANCH)).trim()).toBe(head);
    expect((await harness.git("rev-parse", "HEAD^{tree}")).trim()).toBe(tree);
    expect(await harness.git("status", "--porcelain")).toBe("");
    for (const id of (await repositoryGit("rev-list", `${base}..${BRANCH}`)).trim().split("\n")) {
      expect(await repositoryGit("cat-file", "commit", id)).toContain("\ngpgsig ");
    }
    await repositoryGit("fsck", "--strict");
  }

  /** The tree of everything in the working directory. */
  async function treeOf(harness: ChangeHarness): Promise<string> {
    await harness.git("add", "--all");
    return (await harness.git("write-tree")).trim();
  }

  test("renames, deletions, modes, links, binary files and names of any kind arrive as they are", async () => {
    const harness = await open();
    const { workingDirectory } = harness.workspace;
    await harness.git("mv", "old name.txt", "größe – 名前.txt");
    await chmod(join(workingDirectory, "kept.txt"), 0o755);
    await chmod(join(workingDirectory, "run.sh"), 0o644);
    await unlink(join(workingDirectory, "gone.txt"));
    await unlink(join(workingDirectory, "link"));
    await writeIn(harness, "link", "a file now");
    await rm(join(workingDirectory, "dir"), { recursive: true });
    await symlink("kept.txt", join(workingDirectory, "dir"));
    await writeIn(harness, "image.bin", Buffer.from([0, 1, 2, 255, 0, 10]));
    await writeIn(harness, "latin.txt", Buffer.from("gr\u00f6\u00dfe", "latin1"));
    await writeIn(harness, "empty", "");
    await writeIn(harness, "bom.txt", "\uFEFFone\r\ntwo");
    await writeIn(harness, 'a "b"\t\\c\n:100644 100644/-x', "odd");
    await writeIn(
      harness,
      "big.lfs",
      `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\n`,
    );
    await harness.git("add", "--all");
    await harness.git("commit", "--quiet", "-m", "All kinds");
    const tree = (await harness.git("rev-parse", "HEAD^{tree}")).trim();

    const work = await push(harness);

    expect(work?.subject).toBe("All kinds");
    expect(work?.pushed.commit).toBe((await repositoryGit("rev-parse", BRANCH)).trim());
    await expectSigned(harness, tree);
  });

  test("generated changes of several commits and merges arrive with the same trees", async () => {
    const names = fc.constantFrom(
      "kept.txt",
      "gone.txt",
      "run.sh",
      "dir/one.txt",
      "dir/two.txt",
      "dir",
      "a b",
      "ü/x",
      "-n",
    );
    const change = fc.record({
      name: names,
      kind: fc.constantFrom<Change["kind"]>("text", "binary", "run", "link", "remove"),
      value: fc.integer({ min: 0, max: 3 }),
    });
    const commits = fc.array(fc.array(change, { minLength: 1, maxLength: 5 }), {
      minLength: 1,
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(commits, fc.boolean(), async (all, isMerged) => {
        const harness = await open();
        for (const [at, changes] of all.entries()) {
          for (const each of changes) {
            await apply(harness.workspace.workingDirectory, each);
          }
          await harness.git("add", "--all");
          await harness.git("commit", "--quiet", "--allow-empty", "-m", `Step ${at}`);
        }
        if (isMerged) {
          await harness.git("checkout", "--quiet", "-b", "side", "main");
          await writeIn(harness, "side.txt", "side");
          await harness.git("add", "--all");
          await harness.git("commit", "--quiet", "-m", "Side");
          await harness.git("merge", "--quiet", "--no-ff", "--no-edit", "main@{0}");
        }
        const tree = await treeOf(harness);

        await push(harness);

        await expectSigned(harness, tree, "refs/heads/main");
        await repositoryGit("update-ref", "-d", `refs/heads/${BRANCH}`);
        for (const each of opened.splice(0)) {
          await each.close();
        }
      }),
      { numRuns: 4 },
    );
  });

  test("each commit names the people of the work, and is signed off by the App whose commit it is", async () => {
    const harness = await open();
    const agent = ["-c", "user.name=Agent", "-c", "user.email=agent@example.com"];
    await harness.git(...agent, "commit", "--quiet", "--allow-empty", "-m", "One\n\nA line.");
    await writeIn(harness, "new.txt", "new");

    await push(harness, { signsOff: true }, { coAuthor: "Ada <ada@example.com>" });

    const lines = await repositoryGit("log", "--format=%an <%ae>|%B|", `main..${BRANCH}`);
    const own = "Signed-off-by: Errand <errand@users.noreply.invalid>";
    const ada = "Co-authored-by: Ada <ada@example.com>";
    expect(lines.split("|").map((line) => line.trim())).toEqual([
      APP,
      `What was done\n\nMade by a run.\n\n${ada}\n${own}`,
      APP,
      `One\n\nA line.\n\n${ada}\nCo-authored-by: Agent <agent@example.com>\n${own}`,
      "",
    ]);
  });

  test("the next turn continues on the commits of the host, and a repeated push makes nothing again", async () => {
    const harness = await open();
    await writeIn(harness, "new.txt", "1");
    const first = await push(harness);
    const again = await push(harness);
    expect(again).toEqual(first);
    expect(made).toHaveLength(1);

    await writeIn(harness, "new.txt", "2");
    const second = await push(harness);

    expect(made).toHaveLength(2);
    expect((await repositoryGit("rev-parse", `${BRANCH}~1`)).trim()).toBe(first?.pushed.commit);
    expect((await repositoryGit("rev-parse", BRANCH)).trim()).toBe(second?.pushed.commit);
    expect(harness.runWorkspace.gateway.traffic.pushes).toMatchObject([{ commit: second?.pushed.commit }]);
    await expectSigned(harness, (await repositoryGit("rev-parse", `${BRANCH}^{tree}`)).trim());
  });

  test("commits that an interrupted attempt made are on no branch, and the next attempt pushes once", async () => {
    const harness = await open();
    await writeIn(harness, "new.txt", "1");
    const interrupted = push(
      harness,
      {},
      {
        make: async (commits) => {
          await make(commits);
          throw new AppError("resource_unavailable", "the connection broke");
        },
      },
    );
    await expect(interrupted).rejects.toMatchObject({ code: "resource_unavailable" });
    expect(reasons).toEqual([]);
    expect(await repositoryGit("for-each-ref", "refs/heads/errand")).toBe("");

    const work = await push(harness);

    expect((await repositoryGit("rev-list", "--count", `main..${BRANCH}`)).trim()).toBe("1");
    expect(harness.runWorkspace.gateway.traffic.pushes).toMatchObject([{ commit: work?.pushed.commit }]);
  });

  test("the agent may replace commits of the run, and never those of another person", async () => {
    const harness = await open();
    await harness.git("config", "user.email", "199000001+errand[bot]@users.noreply.127.0.0.1");
    await writeIn(harness, "new.txt", "1");
    await push(harness);
    const other = await repositories.commitAt(`refs/heads/${BRANCH}`, FULL_NAME, { "other.txt": "x\n" });
    await writeIn(harness, "new.txt", "2");

    await expect(push(harness)).rejects.toMatchObject({
      message: expect.stringContaining("has commits of other people that the run does not have"),
    });

    expect((await repositoryGit("rev-parse", BRANCH)).trim()).toBe(other);
    expect(made).toHaveLength(1);
    await harness.git("fetch", "--quiet", repositories.pathOf(FULL_NAME), BRANCH);
    await harness.git(
      "-c",
      "user.name=a",
      "-c",
      "user.email=a@b",
      "merge",
      "--quiet",
      "--no-edit",
      "FETCH_HEAD",
    );
    const tree = (await harness.git("rev-parse", "HEAD^{tree}")).trim();
    await push(harness);
    expect((await repositoryGit("rev-parse", `${BRANCH}^{tree}`)).trim()).toBe(tree);
    expect((await repositoryGit("merge-base", other, BRANCH)).trim()).toBe(other);
  });

  test("a person who pushes while the host makes the commits keeps the branch", async () => {
    const harness = await open();
    await writeIn(harness, "new.txt", "1");
    let other = "";
    const raced = push(
      harness,
      {},
      {
        make: async (commits) => {
          const id = await make(commits);
          other = await repositories.commitAt(`refs/heads/${BRANCH}`, FULL_NAME, { "other.txt": "x\n" });
          return id;
        },
      },
    );

    await expect(raced).rejects.toMatchObject({ message: expect.stringContaining("could not be pushed") });
    expect((await repositoryGit("rev-parse", BRANCH)).trim()).toBe(other);
  });

  test("commits that the host made and does not hand out are pushed as they are", async () => {
    const harness = await open();
    await writeIn(harness, "new.txt", "1");

    const work = await push(harness, {}, { make: async () => "f".repeat(40) });

    expect(reasons).toEqual(["the commits that it made could not be fetched"]);
    expect((await repositoryGit("rev-parse", BRANCH)).trim()).toBe(work?.pushed.commit);
  });

  test("the name of a branch may have any character that git allows", async () => {
    const harness = await open();
    const branch = "errand/AB#1,(x)+é@y%20&z=1";
    await writeIn(harness, "new.txt", "1");
    await push(harness, { branch });
    await writeIn(harness, "new.txt", "2");

    const work = await push(harness, { branch });

    expect((await repositoryGit("rev-parse", branch)).trim()).toBe(work?.pushed.commit);
    expect(made).toHaveLength(2);
    expect(reasons).toEqual([]);
  });

  test("a branch that people share moves only forward", async () => {
    const harness = await open();
    await repositories.commitAt(`refs/heads/${BRANCH}`, FULL_NAME, { "other.txt": "x\n" });
    await writeIn(harness, "new.txt", "1");

    await expect(push(harness, { isShared: true })).rejects.toMatchObject({
      message: expect.stringContaining("has commits of other people"),
    });
    expect(made).toEqual([]);
  });

  test.each<[string, RegExp, (harness: ChangeHarness) => Promise<void>]>([
    [
      "too many commits",
      /more than 20 of them/,
      async (harness) => {
        for (let at = 0; at < 21; at += 1) {
          await harness.git("commit", "--quiet", "--allow-empty", "-m", `${at}`);
        }
      },
    ],
    [
      "too many files",
      /more than 300 files/,
      async (harness) => {
        await Promise.all(Array.from({ length: 301 }, (_, at) => writeIn(harness, `many/${at}`, `${at}`)));
      },
    ],
    [
      "too many binary files",
      /more than 20 files that are not text/,
      async (harness) => {
        await Promise.all(
          Array.from({ length: 21 }, (_, at) => writeIn(harness, `many/${at}`, Buffer.from([0, at]))),
        );
      },
    ],
    [
      "too many bytes",
      /more than 10 MiB/,
      async (harness) => {
        await Promise.all([1, 2].map((at) => writeIn(harness, `${at}.txt`, `${at}`.repeat(6 * 2 ** 20))));
      },
    ],
    [
      "names that are not UTF-8",
      /is not UTF-8/,
      async (harness) => {
        const id = (await harness.git("rev-parse", "HEAD:kept.txt")).trim();
        const folder = harness.workspace.workingDirectory;
        await writeFile(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff])]), id);
      },
    ],
    [
      "commits of a host that does not sign",
      /GitHub says: unsigned/,
      async (harness) => {
        github.unsigned = "unsigned";
        await writeIn(harness, "new.txt", "1");
      },
    ],
  ])("%s are pushed as they are, and the reason is told", async (_what, reason, change) => {
    const harness = await open();
    await change(harness);

    const work = await push(harness);

    expect(reasons).toEqual([expect.stringMatching(reason)]);
    expect((await repositoryGit("rev-parse", BRANCH)).trim()).toBe(work?.pushed.commit);
    expect((await harness.git("rev-parse", "HEAD")).trim()).toBe(work?.pushed.commit);
  });
});
