import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runGit } from "./change-harness.ts";
import type { GitRepositories } from "./git-repositories.ts";

const FILES = 15;
const FILE_BYTES = 10 * 2 ** 20;
/** Looking for similar parts takes minutes. */
const WITHOUT_DELTAS = ["-c", "pack.window=0", "-c", "core.compression=0"];
const AUTHOR = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];

/** Makes a repository with 150 MiB, or as many files of 10 MiB, that cannot be compressed. */
export async function pushLargeRepository(
  repositories: GitRepositories,
  name = "acme/large",
  files = FILES,
): Promise<void> {
  await repositories.make(name);
  const directory = await mkdtemp(join(tmpdir(), "errand-origin-"));
  for (let number = 0; number < files; number += 1) {
    await writeFile(join(directory, `${number}.bin`), randomBytes(FILE_BYTES));
  }
  await runGit(directory, ["init", "--quiet", "--initial-branch=main"]);
  await runGit(directory, [...WITHOUT_DELTAS, "add", "-A"]);
  await runGit(directory, [...AUTHOR, "commit", "--quiet", "-m", "first"]);
  const origin = repositories.pathOf(name);
  await runGit(directory, [...WITHOUT_DELTAS, "push", "--quiet", origin, "HEAD:main"]);
  await runGit(origin, [...WITHOUT_DELTAS, "repack", "-a", "-d", "--quiet"]);
  await rm(directory, { recursive: true });
}
