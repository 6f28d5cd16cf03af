import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import type { MirrorLimits } from "../../../src/git/repository-mirrors.ts";
import { RepositoryMirrors } from "../../../src/git/repository-mirrors.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { GitServer } from "../../support/git-server.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { waitFor } from "../../support/wait-for.ts";

const REPOSITORY = { teamId: "team-1" as TeamId, owner: "acme", name: "tools" };
const TOKEN = "Basic dG9rZW4tb2YtdGhlLWFwcA==";

const skipped = reasonToSkipGit();
describe.skipIf(skipped !== undefined)(
  `mirrors of repositories${skipped === undefined ? "" : ` (${skipped})`}`,
  () => {
    let repositories: GitRepositories;
    let server: GitServer;
    let dataDir: string;
    let clock: ManualClock;
    let openMirrors: RepositoryMirrors[];
    const logged: string[] = [];

    beforeAll(async () => {
      repositories = await GitRepositories.create();
      server = await GitServer.start(repositories.root);
    });
    afterAll(async () => {
      await server.stop();
      await repositories.remove();
    });
    beforeEach(async () => {
      dataDir = await mkdtemp(join(tmpdir(), "errand-mirrors-"));
      clock = new ManualClock();
      openMirrors = [];
      server.intercept = () => false;
      server.authorizations.length = 0;
      await repositories.commit("acme/tools", { "file.txt": "one" });
    });
    afterEach(async () => {
      for (const mirrors of openMirrors) {
        mirrors.close();
      }
      await rm(dataDir, { recursive: true, force: true });
    });

    function open(
      options: { limits?: Partial<MirrorLimits>; authorize?: () => Promise<string | undefined> } = {},
    ) {
      const record = (message: string, facts?: object) =>
        void logged.push(JSON.stringify({ message, ...facts }));
      const log = { info: record, warn: record, error: record };
      const { authorize = async () => undefined, limits = {} } = options;
      const mirrors = new RepositoryMirrors({ dataDir, baseUrl: server.url, authorize, clock, log, limits });
      openMirrors.push(mirrors);
      return mirrors;
    }

    const contentOf = (
      mirrors: RepositoryMirrors,
      freshness: "recent" | "now" = "recent",
      repository = REPOSITORY,
    ) =>
      mirrors.readHead(repository, freshness, async ({ commit, git }) =>
        commit === undefined ? undefined : (await git(["show", `${commit}:file.txt`], 1_000)).toString(),
      );

    /** Returns the number of fetches: each fetch requests the refs once. */
    const fetches = () => server.urls.filter((url) => url.includes("info/refs")).length;

    test("a mirror is fetched again after a minute, or if the caller needs the current state", async () => {
      const mirrors = open();
      const moving = { ...REPOSITORY, name: "moving" };
      await repositories.commit("acme/moving", { "file.txt": "one" });
      expect(await contentOf(mirrors, "recent", moving)).toBe("one");
      await repositories.commit("acme/moving", { "file.txt": "two" });

      await clock.advance(59_000);
      expect(await contentOf(mirrors, "recent", moving)).toBe("one");
      expect(await contentOf(mirrors, "now", moving)).toBe("two");
      await repositories.commit("acme/moving", { "file.txt": "three" });
      await clock.advance(59_000);
      expect(await contentOf(mirrors, "recent", moving)).toBe("two");
      await clock.advance(1_000);
      expect(await contentOf(mirrors, "recent", moving)).toBe("three");
    });

    test("concurrent readers need at most two fetches", async () => {
      const mirrors = open();
      server.urls.length = 0;

      await Promise.all(Array.from({ length: 10 }, () => contentOf(mirrors, "now")));

      // The first fetch began before the other readers asked. They share a second one.
      expect(fetches()).toBeLessThanOrEqual(2);
    });

    test("the mirror of an empty repository has no commit", async () => {
      await repositories.make("acme/empty");

      expect(await contentOf(open(), "now", { ...REPOSITORY, name: "empty" })).toBeUndefined();
    });

    test("a commit is readable by its id, whether or not it is the newest one", async () => {
      const older = await repositories.commit("acme/history", { "file.txt": "older" });
      await repositories.commit("acme/history", { "file.txt": "newer" });
      const history = { ...REPOSITORY, name: "history" };
      const mirrors = open();
      const read = (commit: string) =>
        mirrors.readCommit(history, commit, async (mirror) =>
          (await mirror.git(["show", `${commit}:file.txt`], 100)).toString(),
        );

      expect(await read(older)).toBe("older");
      expect(await contentOf(mirrors, "recent", history)).toBe("newer");
      await expect(read("1".repeat(40))).rejects.toMatchObject({ code: "resource_not_found" });
    });

    test("the mirror of one team is not available to another team", async () => {
      server.intercept = ({ headers }, response) => headers.authorization !== TOKEN && refuse(response, 401);
      const mirrors = new RepositoryMirrors({
        dataDir,
        baseUrl: server.url,
        authorize: async ({ teamId }) => (teamId === REPOSITORY.teamId ? TOKEN : undefined),
        clock,
        log: SILENT_LOG,
      });
      openMirrors.push(mirrors);
      const other = { ...REPOSITORY, teamId: "team-2" as TeamId };

      expect(await contentOf(mirrors)).toBe("one");

      await expect(contentOf(mirrors, "recent", other)).rejects.toMatchObject({ code: "resource_not_found" });
    });

    test.each([401, 403, 404, 410])("a repository that answers %i counts as not found", async (status) => {
      server.intercept = (_request, response) => refuse(response, status);

      await expect(contentOf(open())).rejects.toMatchObject({ code: "resource_not_found", retryable: false });
    });

    test.each([500, 502, 503])(
      "a repository that answers %i is temporarily unavailable, and the log contains the status",
      async (status) => {
        server.intercept = (_request, response) => refuse(response, status);
        logged.length = 0;

        await expect(contentOf(open())).rejects.toMatchObject({
          code: "resource_unavailable",
          retryable: true,
        });

        expect(logged.join()).toContain(String(status));
      },
    );

    test("a mirror is removed when its repository can no longer be read", async () => {
      const mirrors = open();
      await contentOf(mirrors);
      server.intercept = (_request, response) => refuse(response, 404);

      await expect(contentOf(mirrors, "now")).rejects.toMatchObject({ code: "resource_not_found" });

      expect(await readdir(join(dataDir, "mirrors"))).toEqual([]);
      await expect(contentOf(mirrors)).rejects.toMatchObject({ code: "resource_not_found" });
    });

    test("readers stop waiting for a slow fetch, and a later reader gets its result", async () => {
      const mirrors = open({ limits: { waitMs: 20_000 } });
      server.urls.length = 0;
      const hold = holdRequests();
      const first = contentOf(mirrors);
      await hold.begun();
      const both = Promise.allSettled([first, contentOf(mirrors, "now")]);

      await clock.advance(20_000);
      const results = await both;
      server.intercept = () => false;
      hold.release();

      expect(results).toEqual(
        [1, 2].map(() => ({
          status: "rejected",
          reason: expect.objectContaining({ code: "resource_unavailable" }),
        })),
      );
      expect(await contentOf(mirrors)).toBe("one");
      // The second fetch was never started, because its reader no longer waits.
      expect(fetches()).toBe(1);
      expect(clock.pending).toBe(0);
    });

    test("a fetch over the time limit is aborted with its child processes and can be repeated", async () => {
      const mirrors = open({ limits: { fetchMs: 2_000 } });
      const hold = holdRequests();

      await expect(contentOf(mirrors)).rejects.toMatchObject({ code: "resource_unavailable" });

      await waitFor(async () => (await gitProcesses(server.url)).length === 0, { what: "git to be gone" });
      server.intercept = () => false;
      hold.release();
      expect(await contentOf(mirrors)).toBe("one");
    });

    test("a repository that is too large is refused and leaves no mirror", async () => {
      await repositories.commit("acme/large", { "file.txt": randomBytes(2 ** 20).toString("base64") });
      const mirrors = open({ limits: { maxPackBytes: 2 ** 19 } });

      const large = { ...REPOSITORY, name: "large" };

      await expect(mirrors.readHead(large, "now", async ({ commit }) => commit)).rejects.toMatchObject({
        code: "operation_not_supported",
        message: expect.stringContaining("too large"),
      });

      expect(await readdir(join(dataDir, "mirrors"))).toEqual([]);
      expect(await contentOf(mirrors)).toBe("one");
    });

    test("the least recently used mirror is removed when there are too many", async () => {
      const names = ["a", "b", "c"];
      for (const name of names) {
        await repositories.commit(`acme/${name}`, { "file.txt": name });
      }
      const mirrors = open({ limits: { maxMirrors: 2 } });

      for (const name of ["a", "b", "a", "c"]) {
        await contentOf(mirrors, "recent", { ...REPOSITORY, name });
      }

      await waitFor(async () => (await readdir(join(dataDir, "mirrors"))).length === 2, {
        what: "two mirrors",
      });
      server.urls.length = 0;
      expect(await contentOf(mirrors, "recent", { ...REPOSITORY, name: "a" })).toBe("a");
      expect(fetches()).toBe(0);
      expect(await contentOf(mirrors, "recent", { ...REPOSITORY, name: "b" })).toBe("b");
    });

    test("a lock file left by an earlier process does not prevent a read", async () => {
      await contentOf(open());
      const [name = ""] = await readdir(join(dataDir, "mirrors"));
      // A git process that was killed leaves this lock file.
      await writeFile(join(dataDir, "mirrors", name, "shallow.lock"), "");

      expect(await contentOf(open())).toBe("one");
    });

    test("the token does not appear in the arguments of any process", async () => {
      const hold = holdRequests();
      const content = contentOf(open({ authorize: async () => TOKEN }));
      await hold.begun();

      const running = await gitProcesses(server.url);
      hold.release();

      expect(await content).toBe("one");
      expect(server.authorizations).toContain(TOKEN);
      expect(running.map(({ arguments: commandLine }) => commandLine).join()).not.toContain(TOKEN);
      if (process.platform === "linux") {
        expect(running.length).toBeGreaterThan(0);
      }
    });

    test("a redirect of the host is followed only without a token", async () => {
      const target = await GitServer.start(repositories.root);
      server.intercept = ({ url = "" }, response) => {
        response.writeHead(301, { location: `${target.url}${url}` }).end();
        return true;
      };
      const [mirrors, trusted] = [open(), open({ authorize: async () => TOKEN })];

      expect(await contentOf(mirrors)).toBe("one");
      const followed = target.authorizations.length;
      await expect(contentOf(trusted)).rejects.toMatchObject({ code: "resource_not_found" });

      await target.stop();
      expect(followed).toBeGreaterThan(0);
      expect(target.authorizations).toHaveLength(followed);
    });

    test("git receives no environment variables of the server", async () => {
      process.env.ERRAND_TEST_CANARY = "canary-4711";
      const hold = holdRequests();
      const content = contentOf(open());
      await hold.begun();
      const environments = await Promise.all(
        (await gitProcesses(server.url)).map(({ environment }) => environment()),
      );
      delete process.env.ERRAND_TEST_CANARY;
      server.intercept = () => false;
      hold.release();

      await content;
      expect(environments.join()).toContain("GIT_TERMINAL_PROMPT=0");
      expect(environments.join()).not.toContain("canary-4711");
    });

    /** Holds requests back until they are released. */
    function holdRequests() {
      const waiting: (() => void)[] = [];
      server.intercept = (_request, _response, serve) => waiting.push(serve) > 0;
      return {
        begun: () => waitFor(() => waiting.length > 0, { what: "a request to the server" }),
        release: () => {
          server.intercept = () => false;
          for (const serve of waiting) {
            serve();
          }
        },
      };
    }
  },
);

function refuse(response: ServerResponse, status: number): true {
  const challenge = status === 401 ? { "www-authenticate": "Basic" } : {};
  response.writeHead(status, challenge).end("no");
  return true;
}

/** Returns this machine's git processes that talk to the server, or none if there is no /proc. */
async function gitProcesses(url: string) {
  const ids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(
    ids.map(async (id) => ({
      arguments: (await readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " "),
      environment: () => readFile(`/proc/${id}/environ`, "utf8").catch(() => ""),
    })),
  );
  return all.filter(({ arguments: commandLine }) => commandLine.includes("git") && commandLine.includes(url));
}
