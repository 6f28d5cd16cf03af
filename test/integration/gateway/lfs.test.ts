import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { gatewayVariables } from "../../../src/gateway/gateway-variables.ts";
import {
  type GatewayHarness,
  type GatewayHarnessOptions,
  openGateway,
  requestRaw,
} from "../../support/gateway-harness.ts";
import { GitHttpServer } from "../../support/git-http-server.ts";
import { reasonToSkipGitLfs } from "../../support/git-lfs.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { LfsHost } from "../../support/lfs-host.ts";

const run = promisify(execFile);
const TOKEN = "canary-token-of-the-installation";
const AUTHORIZATION = `Basic ${Buffer.from(`x-access-token:${TOKEN}`).toString("base64")}`;
const ATTRIBUTES = "*.bin filter=lfs diff=lfs merge=lfs -text\n";
/** As the sandbox sees the host. */
const HOST = "https://git.example";

const skipped = reasonToSkipGitLfs();

describe.skipIf(skipped !== undefined)(
  `large files through the gateway${skipped ? ` (${skipped})` : ""}`,
  () => {
    let repositories: GitRepositories;
    let server: GitHttpServer;
    let lfs: LfsHost;
    let directory: string;
    let gateways: GatewayHarness[];

    beforeEach(async () => {
      lfs = await LfsHost.start();
      repositories = await GitRepositories.create();
      await repositories.commit("acme/site", {
        ".gitattributes": ATTRIBUTES,
        "large.bin": lfs.add("a large file"),
      });
      server = await GitHttpServer.start(repositories.root, AUTHORIZATION);
      server.intercept = lfs.answer;
      directory = await mkdtemp(join(tmpdir(), "errand-lfs-"));
      gateways = [];
    });
    afterEach(async () => {
      for (const each of gateways) {
        await each.close();
      }
      await server.stop();
      await lfs.stop();
      await repositories.remove();
      await rm(directory, { recursive: true, force: true });
    });

    async function open(options: GatewayHarnessOptions = {}): Promise<GatewayHarness> {
      const harness = await openGateway({
        gitUrl: server.url,
        authorize: async () => AUTHORIZATION,
        allow: "127.0.0.1",
        ...options,
        grant: { repositories: [{ owner: "acme", name: "site", push: true }], ...options.grant },
      });
      gateways.push(harness);
      return harness;
    }

    function programIn({ gateway }: GatewayHarness, gitUrl: string = server.url) {
      const env = {
        PATH: process.env.PATH,
        HOME: directory,
        ...gatewayVariables(gateway, gitUrl),
        GIT_AUTHOR_NAME: "a",
        GIT_AUTHOR_EMAIL: "a@b",
        GIT_COMMITTER_NAME: "a",
        GIT_COMMITTER_EMAIL: "a@b",
      };
      return async (...args: string[]) => {
        const { stderr, stdout } = await run("git", args, { cwd: directory, env });
        return stdout + stderr;
      };
    }

    async function clone(
      git: (...args: string[]) => Promise<string>,
      url: string = server.url,
    ): Promise<string> {
      await git("lfs", "install", "--skip-repo");
      await git("clone", "--quiet", `${url}/acme/site.git`, "site");
      return join(directory, "site");
    }

    test("a clone gets the files, and no key reaches the sandbox", async () => {
      const git = programIn(await open());

      const site = await clone(git);

      expect(await readFile(join(site, "large.bin"), "utf8")).toBe("a large file");
      expect(lfs.authorizations).toEqual([AUTHORIZATION]);
      for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
        if (entry.isFile()) {
          expect(await readFile(join(entry.parentPath, entry.name), "latin1")).not.toContain("canary");
        }
      }
    });

    test("a push uploads new files, and asks for the locks of others before", async () => {
      lfs.theirs = [{ id: "1", path: "other.bin" }];
      const git = programIn(await open());
      const site = await clone(git);
      await writeFile(join(site, "new.bin"), "new and large");

      await git("-C", site, "add", "-A");
      await git("-C", site, "commit", "--quiet", "-m", "m");
      await git("-C", site, "push", "--quiet", "origin", "HEAD:refs/heads/errand/x");

      expect([...lfs.objects.values()].map(String)).toContain("new and large");
      expect(await repositories.read("acme/site", "errand/x", "new.bin")).toContain("oid sha256:");
      expect(lfs.paths.some((path) => path.endsWith("/locks/verify"))).toBe(true);
    });

    test("answers contain neither keys nor addresses of the storage, and the sandbox sees its own", async () => {
      const { gateway } = await open();
      const [oid = ""] = lfs.objects.keys();

      const batch = await ask(gateway, { operation: "download", objects: [{ oid, size: 12 }] });
      const { actions } = JSON.parse(batch.body).objects[0];
      const got = await requestRaw(gateway, new URL(actions.download.href).pathname.replace(/^\/[^/]+/, ""));

      expect(actions.download).toEqual({
        href: expect.stringMatching(`^${gateway.address}/git/acme/site.git/info/lfs/transfers/[0-9a-f]{32}$`),
        expires_in: 3_600,
      });
      expect(got.body).toBe("a large file");
      expect(JSON.stringify([batch, got])).not.toContain("canary");
      expect(JSON.stringify([batch, got])).not.toContain(lfs.storageUrl);
    });

    test("sizes are bounded before a transfer, and while it runs", async () => {
      const limits = { lfsBytes: 100 };
      const { gateway } = await open({ limits });
      const [oid = ""] = lfs.objects.keys();
      const object = { oid, size: 12 };
      const download = (objects: object[]) => ask(gateway, { operation: "download", objects });

      lfs.describe = () => ({ size: 101 });
      const tooLarge = await download([object]);
      lfs.describe = () => ({ size: 5 });
      const liar = await download([object]);
      const { href } = JSON.parse(liar.body).objects[0].actions.download;
      const transfer = requestRaw(gateway, new URL(href).pathname.replace(/^\/[^/]+/, ""));

      expect(tooLarge.status).toBe(413);
      expect(JSON.parse(tooLarge.body).message).toBe(
        "The large files would have 101 bytes. All large files of a run may have 100 bytes.",
      );
      await expect(transfer).rejects.toThrow();
    });

    test.each([
      ["that are not allowed", "", "http://127.0.0.1:9/x"],
      ["of the cloud's metadata", "", "http://169.254.169.254/latest"],
      ["without HTTPS", "", "http://storage.example/x"],
    ])("objects at addresses %s are refused", async (_what, allow, href) => {
      const { gateway } = await open({
        allow,
        resolve: async () => [{ address: "93.184.216.34", family: 4 }],
      });
      const [oid = ""] = lfs.objects.keys();
      lfs.describe = () => ({ actions: { download: { href } } });

      const batch = await ask(gateway, { operation: "download", objects: [{ oid, size: 12 }] });
      const shown = JSON.parse(batch.body).objects[0].actions.download.href;
      const got = await requestRaw(gateway, new URL(shown).pathname.replace(/^\/[^/]+/, ""));

      expect(got.status).toBe(403);
      expect(JSON.parse(got.body).message).toContain("not public");
      expect(got.body).not.toContain("canary");
    });

    test("an address of another kind is not understood", async () => {
      const { gateway } = await open();
      const [oid = ""] = lfs.objects.keys();
      lfs.describe = () => ({ actions: { download: { href: "file:///etc/passwd" } } });

      const batch = await ask(gateway, { operation: "download", objects: [{ oid, size: 12 }] });

      expect(batch.status).toBe(502);
    });

    test("a failure of the storage is told by its status alone", async () => {
      const { gateway } = await open();
      const [oid = ""] = lfs.objects.keys();
      lfs.describe = () => ({ actions: { download: { href: `${lfs.storageUrl}/${oid}` } } });

      const batch = await ask(gateway, { operation: "download", objects: [{ oid, size: 12 }] });
      const shown = JSON.parse(batch.body).objects[0].actions.download.href;
      const got = await requestRaw(gateway, new URL(shown).pathname.replace(/^\/[^/]+/, ""));

      expect(got).toMatchObject({ status: 403 });
      expect(JSON.parse(got.body).message).toBe("The storage of the large files answered with HTTP 403.");
    });

    test.each([
      ["another repository", "/git/acme/other.git/info/lfs/objects/batch", "download", 403],
      ["an upload without the right to push", "/git/acme/read.git/info/lfs/objects/batch", "upload", 403],
      ["a new lock", "/git/acme/site.git/info/lfs/locks", "download", 403],
      ["the removal of a lock", "/git/acme/site.git/info/lfs/locks/1/unlock", "download", 403],
      ["an unknown transfer", "/git/acme/site.git/info/lfs/transfers/0123", "download", 404],
      ["another call", "/git/acme/site.git/info/lfs/objects", "download", 404],
    ])("%s is refused in the form that git-lfs shows", async (_what, path, operation, status) => {
      const { gateway } = await open({
        grant: {
          repositories: [
            { owner: "acme", name: "site", push: true },
            { owner: "acme", name: "read", push: false },
          ],
        },
      });

      const answer = await ask(gateway, { operation, objects: [] }, path);

      expect(answer.status).toBe(status);
      expect(JSON.parse(answer.body).message).toEqual(expect.any(String));
      expect(lfs.paths).toEqual([]);
    });

    test("a host without large files is named", async () => {
      server.intercept = () => false;
      const { gateway } = await open();

      const answer = await ask(gateway, { operation: "download", objects: [] });

      expect(answer.status).toBe(404);
      expect(JSON.parse(answer.body).message).toContain("has no large files (Git LFS) for acme/site");
    });

    test("git-lfs uses the proxy where git shows the addresses of the host", async () => {
      const harness = await open({ gitUrl: server.url });
      const git = programIn(harness, HOST);
      await git("lfs", "install", "--skip-repo");
      await git("init", "--quiet", "site");
      await git("-C", "site", "remote", "add", "origin", `${HOST}/acme/site.git`);

      await git("-C", "site", "pull", "--quiet", "origin", "main");

      expect(await readFile(join(directory, "site/large.bin"), "utf8")).toBe("a large file");
    });

    function ask(
      gateway: GatewayHarness["gateway"],
      body: object,
      path = "/git/acme/site.git/info/lfs/objects/batch",
    ) {
      return requestRaw(gateway, path, { method: "POST", body: JSON.stringify(body) });
    }
  },
);
