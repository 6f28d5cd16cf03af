import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { AppError, Misconfigured, StorageUnavailable } from "../../../src/core/basics/errors.ts";
import { newId, type RunId } from "../../../src/core/basics/ids.ts";
import type { PlannedRepository } from "../../../src/core/model/workspaces/workspace.ts";
import { GitHttpServer } from "../../support/git-http-server.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import {
  aPreparation,
  aWorkspaceProvider,
  stepsOf,
  type WorkspaceProviderChanges,
} from "../../support/workspace-harness.ts";

const WEB = { owner: "acme", name: "web" };
const skipped = reasonToSkipGit();

describe.skipIf(skipped !== undefined)(
  `a repository that nobody named${skipped ? ` (${skipped})` : ""}`,
  () => {
    let repositories: GitRepositories;
    let server: GitHttpServer;
    let root: string;

    beforeAll(async () => {
      repositories = await GitRepositories.create();
      await repositories.commit("acme/web", { "file.txt": "web\n" });
      await repositories.commit("acme/tools", { "file.txt": "tools\n" });
      await repositories.make("acme/empty");
      server = await GitHttpServer.start(repositories.root);
    });
    afterAll(async () => {
      await server.stop();
      await repositories.remove();
    });
    beforeEach(async () => {
      root = await mkdtemp(join(tmpdir(), "errand-guessed-"));
    });
    afterEach(async () => {
      server.intercept = () => false;
      await rm(root, { recursive: true, force: true });
    });

    const preparationOf = (...planned: readonly PlannedRepository[]) =>
      aPreparation(newId<RunId>(new Date()), { plan: { repositories: planned } });
    const openProvider = (changes: WorkspaceProviderChanges = {}) =>
      aWorkspaceProvider(root, { gitUrl: server.url, ...changes });
    const answering = (status: number) => () => {
      server.intercept = (_request, response) => {
        response.writeHead(status).end();
        return true;
      };
    };
    const failing = (error: Error): WorkspaceProviderChanges => ({
      authorize: () => Promise.reject(error),
    });

    interface Case {
      readonly repository?: PlannedRepository;
      readonly arrange?: () => void;
      readonly changes?: WorkspaceProviderChanges;
      readonly says: string;
    }
    const CASES: Readonly<Record<string, Case>> = {
      "does not exist": { repository: { owner: "acme", name: "none" }, says: "no repository acme/none" },
      "is answered 401": { arrange: answering(401), says: "asks for a key" },
      "is answered 403": { arrange: answering(403), says: "does not let this server read acme/web" },
      "is answered 404": { arrange: answering(404), says: "no repository acme/web" },
      "is answered 500": { arrange: answering(500), says: "the git host failed" },
      "is on an unreachable host": {
        changes: { gitUrl: "http://127.0.0.1:9" },
        says: "the git host cannot be reached",
      },
      "needs an App whose key is wrong": {
        changes: failing(new Misconfigured("integration_not_configured", "The App's key is wrong.")),
        says: "The App's key is wrong.",
      },
      "lacks the guessed branch": { repository: { ...WEB, ref: "gone" }, says: 'commit "gone"' },
    };

    test.each(Object.entries(CASES))(
      "if it %s, the workspace is prepared without it; if it was named, the preparation fails",
      async (_why, { arrange, changes, repository = WEB, says }) => {
        arrange?.();
        const provider = openProvider(changes);
        const guess = preparationOf({ ...repository, isGuessed: true });

        const { directory, unread, workingDirectory } = await provider.prepare(guess);

        expect(unread).toEqual({
          repository: `${repository.owner}/${repository.name}`,
          reason: expect.stringContaining(says),
        });
        expect(unread?.reason).not.toContain("127.0.0.1");
        expect(workingDirectory).toBe(directory);
        expect(await readdir(directory)).toEqual([]);
        expect(stepsOf(guess.reportedSteps)).toEqual([]);
        await expect(provider.prepare(preparationOf(repository))).rejects.toBeInstanceOf(AppError);
      },
    );

    test("if it can be read, it is cloned like a named one", async () => {
      const guess = preparationOf({ ...WEB, isGuessed: true });

      const { unread, workingDirectory } = await openProvider().prepare(guess);

      expect(unread).toBeUndefined();
      expect(await readFile(join(workingDirectory, "file.txt"), "utf8")).toBe("web\n");
      expect(stepsOf(guess.reportedSteps)).toMatchObject([
        ["Clone acme/web", "completed", expect.stringMatching(/^main at /)],
      ]);
    });

    test("if it can be found and not fetched, the other repositories are cloned and nothing of it is left", async () => {
      server.intercept = ({ method, url = "" }, response) => {
        const isFetch = method === "POST" && url.startsWith("/acme/web") && isAfterRefs();
        if (isFetch) {
          response.destroy();
        }
        return isFetch;
      };
      // The first POST asks for the branches and their commits, and the next ones for the files.
      const isAfterRefs = () =>
        server.requests.filter(({ method, url }) => method === "POST" && url.startsWith("/acme/web")).length >
        1;
      server.requests.length = 0;
      const guess = preparationOf({ owner: "acme", name: "tools" }, { ...WEB, isGuessed: true });

      const { directory, unread, workingDirectory } = await openProvider().prepare(guess);

      expect(unread?.repository).toBe("acme/web");
      expect(workingDirectory).toBe(join(directory, "tools"));
      expect(await readdir(directory)).toEqual(["artifacts", "tools"]);
      expect(stepsOf(guess.reportedSteps).map(([title, status]) => [title, status])).toEqual([
        ["Clone acme/tools", "completed"],
        ["Clone acme/web", "failed"],
      ]);
    });

    test("an unavailable storage says nothing about it, so the preparation fails and can be repeated", async () => {
      const provider = openProvider(failing(new StorageUnavailable("The database is away.")));

      const preparing = provider.prepare(preparationOf({ ...WEB, isGuessed: true }));

      await expect(preparing).rejects.toBeInstanceOf(StorageUnavailable);
    });

    test("a run that was stopped meanwhile does not begin without it", async () => {
      const stop = new AbortController();
      server.intercept = () => {
        stop.abort();
        return true;
      };
      const guess = { ...preparationOf({ ...WEB, isGuessed: true }), signal: stop.signal };

      await expect(openProvider().prepare(guess)).rejects.toBeInstanceOf(AppError);
    });
  },
);
