import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/app/system.ts";
import { newId, type RunId } from "../../../src/core/basics/ids.ts";
import type { BlobStore } from "../../../src/core/ports/blob-store.ts";
import { findProcess } from "../../../src/sandboxes/linux-processes.ts";
import { bubblewrapIn, reasonToSkipBubblewrap } from "../../support/bubblewrap.ts";
import { runGit } from "../../support/change-harness.ts";
import { GitHttpServer } from "../../support/git-http-server.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { createInMemoryBlobStore } from "../../support/memory/storage/blob-store.ts";
import { waitFor } from "../../support/wait-for.ts";
import {
  aPreparation,
  aWorkspaceProvider,
  stepsOf,
  type WorkspaceProviderChanges,
} from "../../support/workspace-harness.ts";

const TOOLS = { owner: "acme", name: "tools" };
const skipped = reasonToSkipGit();
const noBubblewrap = await reasonToSkipBubblewrap();

describe.skipIf(skipped !== undefined)(
  `the preparation of a workspace${skipped ? ` (${skipped})` : ""}`,
  () => {
    let repositories: GitRepositories;
    let root: string;
    let blobs: BlobStore;

    beforeAll(async () => {
      repositories = await GitRepositories.create();
      await repositories.commit("acme/tools", { "file.txt": "first\n" });
      await repositories.commit("acme/tools", { "file.txt": "second\n" });
      await repositories.commit("other/tools", { "file.txt": "other's\n" });
    });
    afterAll(() => repositories.remove());
    beforeEach(async () => {
      root = await mkdtemp(join(tmpdir(), "errand-preparation-"));
      blobs = createInMemoryBlobStore(systemClock);
    });
    afterEach(() => rm(root, { recursive: true, force: true }));

    const aRunId = () => newId<RunId>(new Date());
    const openProvider = (changes: WorkspaceProviderChanges = {}, worker = "a") =>
      aWorkspaceProvider(join(root, worker), { gitUrl: repositories.fileUrl, blobs, ...changes });
    const commands = (...setupCommands: string[]) => aPreparation(aRunId(), { plan: { setupCommands } });
    const text = (...path: string[]) => readFile(join(...path), "utf8");

    describe("repositories of a prepared workspace", () => {
      test("a repository is cloned with its history, is the working directory if it is the only one, and its step is reported", async () => {
        const preparation = aPreparation(aRunId(), { plan: { repositories: [TOOLS] } });

        const { directory, workingDirectory } = await openProvider().prepare(preparation);

        expect(workingDirectory).toBe(join(directory, "tools"));
        expect(await text(workingDirectory, "file.txt")).toBe("second\n");
        const git = (...args: string[]) => runGit(workingDirectory, args);
        expect(await git("rev-list", "--count", "HEAD")).toBe("2\n");
        expect(await git("status", "--branch", "--porcelain")).toBe("## main...origin/main\n");
        expect(await git("remote", "get-url", "origin")).toBe(`${repositories.fileUrl}/acme/tools.git\n`);
        expect(await readdir(directory)).toEqual(["artifacts", "tools"]);
        const commit = (await git("rev-parse", "HEAD")).trim();
        expect(stepsOf(preparation.reportedSteps)).toEqual([
          ["Clone acme/tools", "completed", `main at ${commit}`],
        ]);
      });

      test("repositories of the same name have separate folders, and the agent starts above them", async () => {
        const plan = { repositories: [TOOLS, { owner: "other", name: "tools" }] };

        const { directory, workingDirectory } = await openProvider().prepare(
          aPreparation(aRunId(), { plan }),
        );

        expect(workingDirectory).toBe(directory);
        expect(await text(directory, "acme-tools/file.txt")).toBe("second\n");
        expect(await text(directory, "other-tools/file.txt")).toBe("other's\n");
      });

      test("each repository has a folder of its own regardless of its name, and a repository listed twice has one", async () => {
        await repositories.commit("other/acme-tools", { "file.txt": "confusing\n" });
        await repositories.commit("other/artifacts", { "file.txt": "more\n" });
        const repositoryNames = [
          "acme/tools",
          "other/tools",
          "other/acme-tools",
          "other/artifacts",
          "ACME/Tools",
        ];
        const plan = {
          repositories: repositoryNames.map((each) => {
            const [owner = "", name = ""] = each.split("/");
            return { owner, name };
          }),
        };

        const { directory } = await openProvider().prepare(aPreparation(aRunId(), { plan }));

        const folders = ["acme-tools", "acme-tools-2", "artifacts", "other-artifacts", "other-tools"];
        expect((await readdir(directory)).sort()).toEqual(folders);
        expect(await text(directory, "acme-tools-2/file.txt")).toBe("confusing\n");
        expect(await readdir(join(directory, "artifacts"))).toEqual([]);
      });

      test.each([
        ["that does not exist", { owner: "acme", name: "none" }, "There is no repository acme/none"],
        ["with an unknown ref", { ...TOOLS, ref: "nope" }, "acme/tools cannot be cloned: it has no branch"],
        [
          "with a ref that looks like an option",
          { ...TOOLS, ref: "--upload-pack=x" },
          "is not the name of a branch",
        ],
        ["whose owner is a parent folder", { owner: "..", name: "tools" }, "is not the name of a repository"],
      ])("a repository %s fails the preparation with a reason", async (_what, repository, words) => {
        const preparation = aPreparation(aRunId(), { plan: { repositories: [repository] } });

        await expect(openProvider().prepare(preparation)).rejects.toMatchObject({
          code: "environment_setup_failed",
          retryable: false,
          message: expect.stringContaining(words),
        });

        expect(await readdir(join(root, "a/runs"))).toEqual([]);
        for (const [, status] of stepsOf(preparation.reportedSteps)) {
          expect(status).toBe("failed");
        }
      });

      test("a repository on an unreachable host fails the preparation with a retryable error", async () => {
        const plan = { repositories: [TOOLS] };

        const preparing = openProvider({ gitUrl: "http://127.0.0.1:9" }).prepare(
          aPreparation(aRunId(), { plan }),
        );

        await expect(preparing).rejects.toMatchObject({ code: "environment_setup_failed", retryable: true });
      });
    });

    describe("setup commands", () => {
      test("setup commands run in order in the working directory, with the run's secrets, and their output is reported", async () => {
        const preparation = aPreparation(aRunId(), {
          variables: { SECRET: "of the run", HOME: "/elsewhere" },
          plan: {
            repositories: [TOOLS],
            setupCommands: [
              'pwd > "$HOME/where"; echo "$SECRET" > made.txt; echo out; echo err >&2',
              'cat made.txt; test -d "$ERRAND_ARTIFACTS_DIR" && echo "$GATE"',
            ],
          },
        });

        const variablesOf = () => ({ GATE: "to the gateway" });
        const { directory, home, workingDirectory } = await openProvider({ variablesOf }).prepare(
          preparation,
        );

        expect((await text(home, "where")).trim()).toBe(workingDirectory);
        const [, first, second] = stepsOf(preparation.reportedSteps);
        expect(first?.slice(1)).toEqual(["completed", expect.stringMatching(/^(out\nerr|err\nout)\n$/)]);
        expect(second).toEqual([
          expect.stringContaining("cat made.txt"),
          "completed",
          "of the run\nto the gateway\n",
        ]);
        expect(await readdir(directory)).toContain("artifacts");
      });

      test("setup commands run after the input files and the skill are written", async () => {
        const preparation = aPreparation(aRunId(), {
          initialContents: async () => ({
            files: [{ path: "attachments/a.txt", bytes: Buffer.from("input") }],
            skills: [
              {
                root: "directory",
                directory: ".skills/deploy",
                files: [{ path: "SKILL.md", bytes: Buffer.from("Deploy."), isExecutable: false }],
              },
            ],
          }),
          plan: { setupCommands: ["cat attachments/a.txt .skills/deploy/SKILL.md > seen.txt"] },
        });

        const { directory } = await openProvider().prepare(preparation);

        expect(await text(directory, "seen.txt")).toBe("inputDeploy.");
      });

      test("setup commands also find programs on the run's own PATH", async () => {
        const programs = join(root, "programs");
        await mkdir(programs);
        await writeFile(join(programs, "own-program"), "#!/bin/sh\necho output > output.txt\n", {
          mode: 0o755,
        });
        const variables = { PATH: `/usr/bin:/bin:${programs}` };

        const preparation = aPreparation(aRunId(), { variables, plan: { setupCommands: ["own-program"] } });
        const { directory } = await openProvider().prepare(preparation);

        expect(await text(directory, "output.txt")).toBe("output\n");
      });

      test("setup commands are run by sh if there is no bash", async () => {
        const programs = join(root, "programs");
        await mkdir(programs);
        for (const name of ["sh", "cat"]) {
          await symlink(`/bin/${name}`, join(programs, name));
        }
        const preparation = aPreparation(aRunId(), {
          variables: { PATH: programs },
          plan: { setupCommands: ['test -z "$BASH_VERSION" && echo sh > shell.txt'] },
        });

        const { directory } = await openProvider().prepare(preparation);

        expect(await text(directory, "shell.txt")).toBe("sh\n");
      });

      test("a failing setup command fails the preparation with its number and its last output, and leaves no workspace", async () => {
        const preparation = commands(
          "echo fine",
          "echo much; echo why >&2; exit 3",
          "echo never > never.txt",
        );

        await expect(openProvider().prepare(preparation)).rejects.toMatchObject({
          code: "environment_setup_failed",
          retryable: false,
          message: expect.stringMatching(
            /^Setup command 2 of 3 failed with exit code 3\.\n(much\nwhy|why\nmuch)$/,
          ),
        });

        expect(stepsOf(preparation.reportedSteps).map(([, status]) => status)).toEqual([
          "completed",
          "failed",
        ]);
        expect(await readdir(join(root, "a/runs"))).toEqual([]);
      });

      test.each([
        ["one command", { commandMs: 300, totalMs: 60_000 }, "Setup command 1 of 1 did not end in time"],
        [
          "all commands together",
          { commandMs: 60_000, totalMs: 300 },
          "Setup command 1 of 1 did not end in time",
        ],
      ])(
        "a setup command and its child processes are ended when %s exceeded the time limit",
        async (_what, setup, words) => {
          const preparation = commands(
            `sh -c 'setsid sleep 600 & echo $! > ${root}/pid'; echo begun; sleep 600`,
          );

          await expect(openProvider({ setup }).prepare(preparation)).rejects.toMatchObject({
            message: `${words} and was ended.\nbegun`,
          });

          expect(await findProcess(Number(await text(root, "pid")))).toBeUndefined();
        },
      );

      test("a setup command is ended at once when the preparation is aborted", async () => {
        const stopping = new AbortController();
        const preparation = {
          ...commands(`echo $$ > ${root}/pid; exec sleep 600`, "true"),
          signal: stopping.signal,
        };
        const prepared = openProvider().prepare(preparation);
        const pid = await waitFor(async () => Number(await text(root, "pid")), { what: "the command" });

        stopping.abort();

        await expect(prepared).rejects.toMatchObject({ message: expect.stringContaining("was stopped") });
        expect(await findProcess(pid)).toBeUndefined();
        expect(await readdir(join(root, "a/runs"))).toEqual([]);
      });

      test("a background process of a setup command does not delay the agent and is ended", async () => {
        await openProvider().prepare(commands(`sleep 600 & echo $! > ${root}/pid`));

        expect(await findProcess(Number(await text(root, "pid")))).toBeUndefined();
      });

      test("long output of a setup command is reported in pieces and cut in the middle", async () => {
        const preparation = commands("seq 1 100000");

        await openProvider().prepare(preparation);

        const [step] = stepsOf(preparation.reportedSteps);
        const output = step?.[2] ?? "";
        expect(output.length).toBeLessThan(257 * 1024);
        expect(output).toMatch(/^1\n2\n3\n/);
        expect(output).toMatch(/\n… \d+ characters left out …\n/);
        expect(output).toMatch(/\n99999\n100000\n$/);
        expect(preparation.reportedSteps.length).toBeLessThan(200);
      });

      test("a setup command in an environment with an image fails with a readable error if the sandbox has no images", async () => {
        const preparation = aPreparation(aRunId(), { plan: { setupCommands: ["true"], image: "node:24" } });

        await expect(openProvider().prepare(preparation)).rejects.toMatchObject({
          code: "environment_setup_failed",
          message: expect.stringContaining(
            "Setup command 1 of 1 could not be run: The environment wants the image node:24",
          ),
        });
      });

      describe.skipIf(noBubblewrap !== undefined)(
        `setup commands in a sandbox${noBubblewrap ? ` (${noBubblewrap})` : ""}`,
        () => {
          test("setup commands cannot read files of the host", async () => {
            await writeFile(join(root, "ours.txt"), "canary");
            const preparation = commands(
              `cat ${root}/ours.txt; ls /proc | grep -c '^[0-9]' ; echo done > done.txt`,
            );

            const sandbox = bubblewrapIn(join(root, "a"));
            const { directory } = await openProvider({ sandbox }).prepare(preparation);

            expect(JSON.stringify(preparation.reportedSteps)).not.toContain("canary");
            expect(await text(directory, "done.txt")).toBe("done\n");
          });
        },
      );
    });

    test("a workspace whose worker was killed during setup is set up from the beginning", async () => {
      const preparation = aPreparation(aRunId());
      const { directory } = await openProvider().prepare(preparation);
      await writeFile(join(directory, "half.txt"), "x");
      const runPath = join(root, "a/runs", preparation.runId);
      // The marker is written last.
      await rm(join(runPath, "checkpoints.json"));

      await openProvider().prepare(preparation);

      expect(await readdir(directory)).toEqual([]);
      expect((await stat(runPath)).mode & 0o777).toBe(0o700);
    });

    describe("the workspace of a later turn", () => {
      test("another worker restores commits, changes and new files, and adapts stored paths to the new directory", async () => {
        const runId = aRunId();
        const plan = {
          repositories: [TOOLS],
          setupCommands: ['pwd > "$HOME/where"; ln -s "$PWD" "$HOME/link"'],
        };
        const first = await openProvider().prepare(aPreparation(runId, { plan }));
        await writeFile(join(first.workingDirectory, "committed.txt"), "1");
        await runGit(first.workingDirectory, ["add", "-A"]);
        await runGit(first.workingDirectory, ["commit", "--quiet", "-m", "work"]);
        await writeFile(join(first.workingDirectory, "file.txt"), "changed\n");
        await writeFile(join(first.workingDirectory, "untracked.txt"), "2");
        const checkpoint = await openProvider().checkpoint(runId);

        const preparation = aPreparation(runId, { plan, stored: { checkpoint } });
        const second = await openProvider({}, "another-worker").prepare(preparation);

        expect(second.workingDirectory).toBe(join(second.directory, "tools"));
        const git = (...args: string[]) => runGit(second.workingDirectory, args);
        expect(await git("log", "-1", "--format=%s")).toBe("work\n");
        expect(await git("status", "--porcelain")).toBe(" M file.txt\n?? untracked.txt\n");
        expect((await text(second.home, "where")).trim()).toBe(second.workingDirectory);
        expect(await readdir(join(second.home, "link"))).toContain("untracked.txt");
        expect(stepsOf(preparation.reportedSteps)).toEqual([["Restore the files", "completed", ""]]);
      });

      test("the same worker reuses its copy and repeats no step", async () => {
        const runId = aRunId();
        const plan = { repositories: [TOOLS], setupCommands: [`echo x >> ${root}/count`] };
        await openProvider().prepare(aPreparation(runId, { plan }));
        const checkpoint = await openProvider().checkpoint(runId);

        const again = aPreparation(runId, { plan, stored: { checkpoint } });
        await openProvider().prepare(again);

        expect(await text(root, "count")).toBe("x\n");
        expect(again.reportedSteps).toEqual([]);
      });
    });

    test("a run that continues with another run's files only sets up what is missing", async () => {
      const plan = { repositories: [TOOLS], setupCommands: [`echo x >> ${root}/count`] };
      const first = aPreparation(aRunId(), { plan });
      const before = await openProvider().prepare(first);
      await writeFile(join(before.workingDirectory, "file.txt"), "worked on\n");
      const checkpoint = await openProvider().checkpoint(first.runId);
      const initialContents = async () => ({ stored: { checkpoint }, files: [] });

      const same = await openProvider().prepare(aPreparation(aRunId(), { initialContents, plan }));
      const more = { ...plan, repositories: [TOOLS, { owner: "other", name: "tools" }] };
      const other = await openProvider().prepare(aPreparation(aRunId(), { initialContents, plan: more }));

      expect(await text(same.workingDirectory, "file.txt")).toBe("worked on\n");
      expect(await text(other.directory, "tools/file.txt")).toBe("worked on\n");
      expect(await text(other.directory, "other-tools/file.txt")).toBe("other's\n");
      expect(await text(root, "count")).toBe("x\nx\n");
    });

    test("the clone of a private repository contains no key, and another team cannot obtain it from the mirror", async () => {
      const token = "Basic dG9rZW4tb2YtdGhlLWFwcA==";
      const server = await GitHttpServer.start(repositories.root, token);
      const authorize = async ({ teamId }: { teamId: string }) => (teamId === "team-1" ? token : undefined);
      const changes = { gitUrl: server.url, authorize };
      try {
        const plan = { repositories: [TOOLS] };
        const { workingDirectory } = await openProvider(changes).prepare(aPreparation(aRunId(), { plan }));

        expect(await text(workingDirectory, ".git/config")).not.toMatch(/basic|dG9r/i);
        const theirs = aPreparation(aRunId(), { plan, teamId: "team-2" as never });
        await expect(openProvider(changes).prepare(theirs)).rejects.toMatchObject({
          message: expect.stringContaining("There is no repository acme/tools that this server may read"),
        });
      } finally {
        await server.stop();
      }
    });
  },
);
