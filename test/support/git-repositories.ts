import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** The text of mode `160000` is the commit of a submodule. */
type Content = string | { readonly mode: "100755" | "120000" | "160000"; readonly text: string };

/** Bare repositories in a directory of their own, as a host of repositories has them. */
export class GitRepositories {
  readonly root: string;
  /** The newest commit of each; empty where there is none. */
  readonly #heads = new Map<string, string>();

  private constructor(root: string) {
    this.root = root;
  }

  static async create(): Promise<GitRepositories> {
    return new GitRepositories(await mkdtemp(join(tmpdir(), "errand-repositories-")));
  }

  get fileUrl(): string {
    return `file://${this.root}`;
  }

  pathOf(repository: string): string {
    return join(this.root, `${repository}.git`);
  }

  async rename(former: string, present: string): Promise<void> {
    await rename(this.pathOf(former), this.pathOf(present));
    this.#heads.set(present, this.#heads.get(former) ?? "");
    this.#heads.delete(former);
  }

  /** An empty repository; repeatable. */
  async make(repository: string): Promise<void> {
    if (this.#heads.has(repository)) {
      return;
    }
    const path = this.pathOf(repository);
    await mkdir(path, { recursive: true });
    await runGit(path, ["init", "--quiet", "--bare", "--initial-branch=main"]);
    this.#heads.set(repository, "");
  }

  /** Puts a commit with exactly these files on top of the default branch; its id. */
  async commit(repository: string, files: Readonly<Record<string, Content>>): Promise<string> {
    await this.make(repository);
    const path = this.pathOf(repository);
    await runGit(path, ["fast-import", "--quiet"], commitStream(this.#heads.get(repository) ?? "", files));
    const head = (await readFile(join(path, "refs/heads/main"), "utf8")).trim();
    this.#heads.set(repository, head);
    return head;
  }

  /** Puts a commit with exactly these files on top of the default branch, at another ref; its id. */
  async commitAt(ref: string, repository: string, files: Readonly<Record<string, Content>>): Promise<string> {
    const path = this.pathOf(repository);
    const stream = commitStream(this.#heads.get(repository) ?? "", files, ref);
    await runGit(path, ["fast-import", "--quiet", "--force"], stream);
    return (await runGit(path, ["rev-parse", ref])).trim();
  }

  async branches(repository: string): Promise<readonly string[]> {
    const args = ["for-each-ref", "--format=%(refname:short)", "refs/heads"];
    return (await runGit(this.pathOf(repository), args)).trim().split("\n");
  }

  /** A file as it is on a branch. */
  async read(repository: string, branch: string, path: string): Promise<string> {
    return runGit(this.pathOf(repository), ["cat-file", "blob", `refs/heads/${branch}:${path}`]);
  }

  /** The message of the newest commit of a branch. */
  async message(repository: string, branch: string): Promise<string> {
    return runGit(this.pathOf(repository), ["log", "-1", "--format=%B", `refs/heads/${branch}`]);
  }

  /** The author of the newest commit of a branch. */
  async author(repository: string, branch: string): Promise<string> {
    const args = ["log", "-1", "--format=%an <%ae>", `refs/heads/${branch}`];
    return (await runGit(this.pathOf(repository), args)).trim();
  }

  /** What a branch changes, compared with the default branch. */
  async diff(repository: string, branch: string): Promise<string> {
    return runGit(this.pathOf(repository), ["diff", `refs/heads/main...refs/heads/${branch}`]);
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}

async function runGit(gitDir: string, args: readonly string[], input = ""): Promise<string> {
  const env = {
    PATH: process.env.PATH,
    GIT_DIR: gitDir,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
  };
  const child = spawn("git", args, { env, stdio: ["pipe", "pipe", "pipe"] });
  // Git may end before it has read everything.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const [output, errorText, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  if (code !== 0) {
    throw new Error(`git ${args.join(" ")}: ${errorText}`);
  }
  return output;
}

/** https://git-scm.com/docs/git-fast-import */
function commitStream(
  parent: string,
  files: Readonly<Record<string, Content>>,
  ref = "refs/heads/main",
): string {
  const entries = Object.entries(files).map(([path, content]) => {
    const { mode, text } = typeof content === "string" ? { mode: "100644", text: content } : content;
    return mode === "160000"
      ? `M ${mode} ${text} ${JSON.stringify(path)}\n`
      : `M ${mode} inline ${JSON.stringify(path)}\n${dataOf(text)}`;
  });
  return [
    `commit ${ref}\ncommitter Ada <ada@example.com> 1700000000 +0000\n`,
    dataOf("A commit"),
    parent === "" ? "" : `from ${parent}\n`,
    "deleteall\n",
    ...entries,
  ].join("");
}

function dataOf(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}
