import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { ChangeHarness } from "../../support/change-harness.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";

const MONO = { owner: "acme", name: "mono" };
const PATTERNS = ["web/**", "docs", "*.md"];
const PATHS = ["web/a.ts", "web/deep/b.ts", "api/a.ts", "docs/a.txt", "README.md"];
const FILES = Object.fromEntries(PATHS.map((path) => [path, `${path}\n`]));
const skipped = reasonToSkipGit();

describe.skipIf(skipped !== undefined)(`files outside of the paths of a repository ${skipped ?? ""}`, () => {
  let repositories: GitRepositories;
  let harness: ChangeHarness;

  beforeAll(async () => {
    repositories = await GitRepositories.create();
    await repositories.commit("acme/mono", FILES);
  });
  afterAll(() => repositories.remove());
  beforeEach(async () => {
    harness = await ChangeHarness.open({
      gitUrl: repositories.fileUrl,
      sandbox: createLocalSandbox(tmpdir()),
      repositories: [MONO],
    });
  });
  afterEach(() => harness.close());

  async function write(path: string, text = "changed\n"): Promise<void> {
    const file = join(harness.workspace.workingDirectory, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  async function commit(message: string): Promise<void> {
    await harness.git("add", "-A");
    await harness.git("-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qm", message);
  }

  function outside(patterns: readonly string[] = PATTERNS): Promise<readonly string[]> {
    return harness.changes.outside(harness.runWorkspace, MONO, patterns);
  }

  test("changes inside are none, committed or not", async () => {
    await write("web/deep/b.ts");
    await write("docs/new/c.txt");
    await commit("Inside");
    await write("README.md");

    expect(await outside()).toEqual([]);
  });

  test("committed, new, deleted and moved files outside are named", async () => {
    await write("api/a.ts");
    await commit("Outside");
    await write("new file.txt");
    await write("api/README.md");
    await harness.git("mv", "web/a.ts", "moved.ts");
    await harness.git("rm", "-q", "docs/a.txt");

    expect(await outside()).toEqual(["api/README.md", "api/a.ts", "moved.ts", "new file.txt"]);
    expect(await outside(["web/*.ts"])).toContain("docs/a.txt");
  });

  test("what was taken back is no change", async () => {
    await write("api/a.ts");
    await commit("Outside");
    await write("api/a.ts", "api/a.ts\n");

    expect(await outside()).toEqual([]);
  });

  test("what was merged from the host is no change of the run", async () => {
    const byOthers = { "api/a.ts": "of others\n", "api/new.ts": "of others\n" };
    await repositories.commit("acme/mono", { ...FILES, ...byOthers });
    await write("web/a.ts");
    await commit("Inside");
    await harness.git("fetch", "-q", "origin");
    await harness.git("-c", "user.name=A", "-c", "user.email=a@b.c", "merge", "-q", "origin/main");

    await write("api/new.ts", "mine\n");

    expect(await outside()).toEqual(["api/new.ts"]);
  });
});
