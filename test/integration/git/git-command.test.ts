import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import { type GitCall, git } from "../../../src/git/git-command.ts";
import { RepositoryMirrors } from "../../../src/git/repository-mirrors.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { ManualClock } from "../../support/manual-clock.ts";

let gitDir: string;
beforeEach(async () => {
  gitDir = await mkdtemp(join(tmpdir(), "errand-git-"));
});
afterEach(() => rm(gitDir, { recursive: true }));

const call = (rest: Partial<GitCall>): Promise<Buffer> =>
  git({
    program: "git",
    args: [],
    gitDir,
    maxOutputBytes: 1_000,
    signal: new AbortController().signal,
    ...rest,
  });

const skipped = reasonToSkipGit();
describe.skipIf(skipped !== undefined)(`git${skipped === undefined ? "" : ` (${skipped})`}`, () => {
  beforeEach(() => call({ args: ["init", "--quiet", "--bare"] }));

  test("input is passed to git and its output is returned", async () => {
    const id = await call({ args: ["hash-object", "-w", "--stdin"], input: "words" });

    const output = await call({ args: ["cat-file", "-p", id.toString().trim()] });

    expect(output.toString()).toBe("words");
  });

  test("the error of a failed command contains git's message", async () => {
    await expect(call({ args: ["cat-file", "-p", "HEAD"] })).rejects.toMatchObject({
      kind: "failed",
      message: expect.stringContaining("Not a valid object name HEAD"),
    });
  });

  test("a command with too much output is ended", async () => {
    const id = await call({ args: ["hash-object", "-w", "--stdin"], input: "x".repeat(5_000_000) });

    const output = call({ args: ["cat-file", "-p", id.toString().trim()] });

    await expect(output).rejects.toMatchObject({ kind: "too-large" });
  });

  test.each([
    ["before it has started", (controller: AbortController) => controller.abort()],
    [
      "while it produces output",
      (controller: AbortController) => void setImmediate(() => controller.abort()),
    ],
  ])("an aborted command is ended %s", async (_when, abort) => {
    const controller = new AbortController();
    const output = call({
      program: "cat",
      args: ["/dev/zero"],
      maxOutputBytes: 10 ** 12,
      signal: controller.signal,
    });

    abort(controller);

    await expect(output).rejects.toMatchObject({ kind: "aborted" });
  });

  test("git ignores the settings of the user and the machine", async () => {
    const settings = await call({ args: ["config", "--list", "--show-origin"], maxOutputBytes: 100_000 });

    const origins = settings
      .toString()
      .trim()
      .split("\n")
      .map((line) => line.split(/[\t:]/)[0]);
    expect(new Set(origins)).toEqual(new Set(["file", "command line"]));
    expect(settings.toString()).not.toMatch(/file:(?!config\t|.*errand-git-)/);
  });

  test.each(["file:///etc", "https://127.0.0.1/x", "ext::true", "ssh://127.0.0.1/x"])(
    "git refuses the transport of %s unless the caller allows it",
    async (url) => {
      await expect(call({ args: ["ls-remote", "--", url] })).rejects.toMatchObject({
        message: expect.stringMatching(/transport '\w+' not allowed/),
      });
    },
  );
});

test("without git on the machine the error names a remedy", async () => {
  const mirrors = new RepositoryMirrors({
    dataDir: gitDir,
    baseUrl: "file:///nowhere",
    authorize: async () => undefined,
    clock: new ManualClock(),
    log: SILENT_LOG,
    program: "git-that-is-not-there",
  });
  const repository = { teamId: "team-1" as TeamId, owner: "acme", name: "tools" };

  await expect(mirrors.readHead(repository, "recent", async () => "read")).rejects.toMatchObject({
    code: "operation_not_supported",
    options: { remedy: expect.stringContaining("Install git") },
  });
});
