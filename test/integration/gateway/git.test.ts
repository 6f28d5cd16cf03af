import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { NO_PUSH_IN_REVIEWS } from "../../../src/core/model/runs/review.ts";
import type { GatewayGrant } from "../../../src/core/ports/gateway.ts";
import { planOf } from "../../../src/core/runs/executed/workspace-plan.ts";
import { grantOf } from "../../../src/core/work/context/attempt-context.ts";
import { gatewayVariables } from "../../../src/gateway/gateway-variables.ts";
import { FLUSH, pktLine } from "../../../src/gateway/git/pkt-lines.ts";
import {
  type GatewayHarness,
  type GatewayHarnessOptions,
  openGateway,
  requestRaw,
} from "../../support/gateway-harness.ts";
import { GitHttpServer } from "../../support/git-http-server.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";
import { GitRepositories } from "../../support/git-repositories.ts";
import { aRun } from "../../support/run-builders.ts";

const reason = reasonToSkipGit();
const TOKEN = "canary-token-of-the-installation";
const AUTHORIZATION = `Basic ${Buffer.from(`x-access-token:${TOKEN}`).toString("base64")}`;
/** The repository host as the user writes it. No request is sent there. */
const GITHUB = "https://github.com";
const REPOSITORIES: GatewayGrant["repositories"] = [
  { owner: "acme", name: "site", push: true },
  { owner: "acme", name: "docs", push: false },
  { owner: "acme", name: "forked", push: true, branchPrefixes: ["errand/"] },
];

describe.skipIf(reason !== undefined)(`the git gateway${reason === undefined ? "" : ` (${reason})`}`, () => {
  let repositories: GitRepositories;
  let server: GitHttpServer;
  let harness: GatewayHarness;
  let directory: string;
  const authorizations: string[] = [];

  beforeAll(async () => {
    repositories = await GitRepositories.create();
    for (const name of ["site", "docs", "other", "forked"]) {
      await repositories.commit(`acme/${name}`, { "a.txt": name });
    }
    server = await GitHttpServer.start(repositories.root, AUTHORIZATION);
  });
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "errand-git-"));
    harness = await openHarness();
    authorizations.length = 0;
    server.requests.length = 0;
    server.authorization = AUTHORIZATION;
    server.intercept = () => false;
  });
  afterEach(async () => {
    expect(JSON.stringify([harness.logged, harness.gateway.traffic])).not.toContain(TOKEN);
    await harness.close();
    await rm(directory, { recursive: true, force: true });
  });
  afterAll(async () => {
    await server.stop();
    await repositories.remove();
  });

  function openHarness({ grant, ...options }: GatewayHarnessOptions = {}): Promise<GatewayHarness> {
    return openGateway({
      gitUrl: server.url,
      authorize: async ({ name, owner, teamId }, url, access) => {
        authorizations.push(
          `${teamId.slice(0, 4)} ${owner}/${name} ${url.replace(server.url, "")} ${access}`,
        );
        return AUTHORIZATION;
      },
      grant: { repositories: REPOSITORIES, ...grant },
      ...options,
    });
  }

  interface GitResult {
    readonly code: number;
    readonly output: string;
  }

  /** Runs git as in a sandbox: with the sandbox's variables and without this machine's git settings. */
  async function git(args: readonly string[], cwd = directory, more = {}): Promise<GitResult> {
    const env = {
      PATH: process.env.PATH,
      HOME: directory,
      GIT_CONFIG_NOSYSTEM: "1",
      ...gatewayVariables(harness.gateway, GITHUB),
      ...more,
    };
    const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
    const child = spawn("git", [...identity, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const [output, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit"),
    ]);
    return { code, output: output + errors };
  }

  async function cloneOf(name: string): Promise<string> {
    expect(await git(["clone", "--quiet", `${GITHUB}/acme/${name}.git`, name])).toMatchObject({ code: 0 });
    return join(directory, name);
  }

  async function commitIn(clone: string, file = "b.txt"): Promise<string> {
    await writeFile(join(clone, file), Math.random().toString());
    await git(["add", "."], clone);
    await git(["commit", "--quiet", "-m", "More"], clone);
    return (await git(["rev-parse", "HEAD"], clone)).output.trim();
  }

  async function headOf(branch: string, name = "site"): Promise<string> {
    const env = { PATH: process.env.PATH, GIT_DIR: repositories.pathOf(`acme/${name}`) };
    const child = spawn("git", ["rev-parse", "--verify", "--quiet", branch], {
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return (await text(child.stdout)).trim();
  }

  test("through a port forward git needs no token for the host of the repositories, and nothing else works without one", async () => {
    await harness.close();
    harness = await openHarness({ isolated: true });
    const refs = "/acme/site.git/info/refs?service=git-upload-pack";
    const ask = async (address: string, headers = {}) =>
      (await requestRaw(harness.gateway, address, { headers })).status;

    expect(await ask(`${server.url}${refs}`)).toBe(200);
    expect(await ask(`http://example.com${refs}`)).toBe(407);
    expect(await ask(`${server.url}${refs}`, { "proxy-authorization": "Basic x" })).toBe(407);
    expect(await ask(`${server.url.replace("http:", "https:")}${refs}`)).toBe(407);
  });

  test("clone, fetch and push work with a token that the sandbox never sees", async () => {
    const clone = await cloneOf("site");
    await git(["checkout", "--quiet", "-b", "errand/one"], clone);
    const commit = await commitIn(clone);

    const pushed = await git(["push", "origin", "errand/one"], clone);

    expect(pushed).toMatchObject({ code: 0 });
    expect(await headOf("errand/one")).toBe(commit);
    expect(harness.gateway.traffic.pushes).toEqual([
      { owner: "acme", name: "site", branch: "errand/one", commit },
    ]);
    expect(await git(["fetch", "origin", "errand/one"], clone)).toMatchObject({ code: 0 });
    expect(new Set(server.requests.map(({ authorization }) => authorization))).toEqual(
      new Set([AUTHORIZATION]),
    );
    expect(authorizations.at(0)).toBe("7e0d acme/site /acme/site.git read");
    expect(authorizations.filter((each) => each.endsWith(" write"))).toHaveLength(2);
    expect(pushed.output).not.toContain(TOKEN);
    expect(await readFile(join(clone, ".git/config"), "utf8")).toContain(`url = ${GITHUB}/acme/site.git`);
    for (const file of await readdir(join(clone, ".git"))) {
      const content = await readFile(join(clone, ".git", file), "utf8").catch(() => "");
      expect(content).not.toContain(TOKEN);
    }
  });

  test("git shows the host's address and no token, also where it fails and traces", async () => {
    const clone = await cloneOf("site");
    const tracing = { GIT_TRACE: "1", GIT_CURL_VERBOSE: "1", GIT_TRACE_CURL: "1", GIT_TRACE_PACKET: "1" };
    const token = new URL(harness.gateway.address).pathname.slice(1);

    const remotes = await git(["remote", "-v"], clone);
    const said = [
      await git(["fetch", "origin"], clone, tracing),
      await git(["push", "origin", "HEAD:refs/heads/traced"], clone, tracing),
      await git(["fetch", "origin", "no-such-branch"], clone, tracing),
      await git(["push", "origin", "HEAD:refs/tags/v2"], clone, tracing),
      await git(["fetch", "https://github.com/acme/absent.git"], clone, tracing),
      await git(["push", "https://github.com/acme/docs.git", "HEAD:x"], clone, tracing),
    ];
    await harness.gateway.close();
    said.push(await git(["fetch", "origin"], clone, tracing));

    expect(remotes.output).toBe(
      "origin\thttp://github.com/acme/site.git (fetch)\norigin\thttp://github.com/acme/site.git (push)\n",
    );
    expect(said.map(({ code }) => code === 0)).toEqual([true, true, false, false, false, false, false]);
    const all = said.map(({ output }) => output).join("\n");
    for (const secret of [token, Buffer.from(`git:${token}`).toString("base64"), TOKEN, AUTHORIZATION]) {
      expect(all).not.toContain(secret);
    }
  });

  test.each([
    "git@github.com:acme/site.git",
    "ssh://git@github.com/acme/site.git",
    "http://github.com/Acme/SITE",
    "https://github.com/acme/site",
  ])("a repository is reached by the URL %s", async (url) => {
    expect(await git(["clone", "--quiet", url, "clone"])).toMatchObject({ code: 0 });
    expect(await readdir(join(directory, "clone"))).toContain("a.txt");
    expect(server.requests.every(({ url }) => url.startsWith("/acme/site.git/"))).toBe(true);
  });

  test("pushes are recorded in order, with one entry per branch, including large pushes", async () => {
    const clone = await cloneOf("site");
    await commitIn(clone);
    await git(["push", "--quiet", "origin", "HEAD:refs/heads/one", "HEAD:refs/heads/two"], clone);
    await mkdir(join(clone, "large"));
    const bytes = Buffer.alloc(3_000_000);
    for (let at = 0; at < bytes.length; at += 1) {
      bytes[at] = Math.floor(Math.random() * 256);
    }
    await writeFile(join(clone, "large/file"), bytes);
    const commit = await commitIn(clone);

    expect(await git(["push", "--quiet", "--force", "origin", "HEAD:one"], clone)).toMatchObject({ code: 0 });

    expect(harness.gateway.traffic.pushes.map(({ branch }) => branch)).toEqual(["two", "one"]);
    expect(harness.gateway.traffic.pushes[1]?.commit).toBe(commit);
  });

  test("after a rename, fetch and push go where the host redirects, with the key for that address", async () => {
    await repositories.commit("acme/former", { "a.txt": "former" });
    await harness.close();
    harness = await openHarness({
      grant: { repositories: [{ owner: "acme", name: "former", push: true }] },
    });
    const clone = await cloneOf("former");
    const commit = await commitIn(clone);
    await repositories.rename("acme/former", "acme/present");
    server.renames.set("acme/former", "acme/present");

    expect(await git(["push", "--quiet", "origin", "HEAD:refs/heads/work"], clone)).toMatchObject({
      code: 0,
    });
    expect(await git(["fetch", "--quiet", "origin"], clone)).toMatchObject({ code: 0 });

    expect(await headOf("work", "present")).toBe(commit);
    expect(harness.gateway.traffic.pushes).toEqual([
      { owner: "acme", name: "former", branch: "work", commit },
    ]);
    expect(authorizations.at(-1)).toMatch(/ acme\/former \/acme\/present\.git read$/);
  });

  test("a branch update that the host rejects is not recorded", async () => {
    const clone = await cloneOf("site");
    await commitIn(clone);
    await git(["push", "--quiet", "origin", "HEAD:refs/heads/three"], clone);
    await git(["commit", "--quiet", "--amend", "-m", "Else"], clone);
    const before = harness.gateway.traffic.pushes;
    await git(["config", "receive.denyNonFastForwards", "true"], repositories.pathOf("acme/site"));

    const refused = await git(
      ["push", "--force", "origin", "HEAD:refs/heads/three", "HEAD:refs/heads/four"],
      clone,
    );

    await git(["config", "receive.denyNonFastForwards", "false"], repositories.pathOf("acme/site"));
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining("remote rejected") });
    expect(before).toHaveLength(1);
    expect(harness.gateway.traffic.pushes.map(({ branch }) => branch)).toEqual(["three", "four"]);
    expect(harness.gateway.traffic.pushes[0]).toEqual(before[0]);
  });

  test.each([
    ["a branch deletion", [":main"]],
    ["a tag", ["HEAD:refs/tags/v1"]],
    ["a note", ["HEAD:refs/notes/commits"]],
    ["a branch together with a branch deletion", ["HEAD:refs/heads/good", ":main"]],
  ])("a push of %s is refused, and git shows the reason", async (_, refs) => {
    const clone = await cloneOf("site");
    await commitIn(clone);
    server.requests.length = 0;

    const refused = await git(["push", "origin", ...refs], clone);

    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringContaining("only branches can be pushed from here"),
    });
    expect(server.requests.filter(({ method }) => method === "POST")).toEqual([]);
    expect([(await headOf("main")) !== "", await headOf("good"), await headOf("v1")]).toEqual([true, "", ""]);
    expect(harness.gateway.traffic.pushes).toEqual([]);
  });

  test("a push to another branch than those that the run may push is refused", async () => {
    const clone = await cloneOf("forked");
    await commitIn(clone);

    const refused = await git(["push", "origin", "HEAD:refs/heads/main"], clone);
    const accepted = await git(["push", "origin", "HEAD:refs/heads/errand/one"], clone);

    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringContaining("this run may push only to branches that begin with errand/"),
    });
    expect(accepted).toMatchObject({ code: 0 });
    expect(harness.gateway.traffic.pushes.map(({ branch }) => branch)).toEqual(["errand/one"]);
  });

  test("a push is refused with the reason that the run has at that time", async () => {
    await harness.close();
    const reasons = ["Errand pushes it", undefined];
    harness = await openHarness({
      grant: { refusalOfPush: async ({ name }) => reasons.shift() && `${name}: No.` },
    });
    const clone = await cloneOf("site");
    await commitIn(clone);

    const refused = await git(["push", "origin", "HEAD:refs/heads/restricted"], clone);
    const accepted = await git(["push", "origin", "HEAD:refs/heads/restricted"], clone);

    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining("site: No.") });
    expect(accepted).toMatchObject({ code: 0 });
    expect(harness.gateway.traffic.pushes.map(({ branch }) => branch)).toEqual(["restricted"]);
    expect(harness.gateway.traffic.refusedPushes).toEqual([]);
  });

  test("a push to a read-only repository is refused", async () => {
    const clone = await cloneOf("docs");
    await commitIn(clone);
    server.requests.length = 0;

    const refused = await git(["push", "origin", "HEAD:refs/heads/new"], clone);

    expect(refused).toMatchObject({
      code: 128,
      output: expect.stringContaining("remote: This run must not push to acme/docs."),
    });
    expect(server.requests).toEqual([]);
  });

  test("a repository that does not belong to the run is refused", async () => {
    const refused = await git(["clone", `${GITHUB}/acme/other.git`]);

    expect(refused).toMatchObject({
      code: 128,
      output: expect.stringContaining("remote: acme/other is not one of this run's repositories."),
    });
    expect(server.requests).toEqual([]);
  });

  test("a review pushes to no branch of its repository, and git says why", async () => {
    await harness.close();
    const run = aRun({ provenance: { repository: { full_name: "acme/site" }, review: true } });
    const grant = grantOf(run, planOf(run, undefined), { network: "none", mcpServers: {} });
    harness = await openHarness({ grant: { repositories: grant.repositories } });
    const clone = await cloneOf("site");
    await commitIn(clone);
    server.requests.length = 0;

    for (const ref of ["refs/heads/new", "refs/heads/main"]) {
      const refused = await git(["push", "origin", `HEAD:${ref}`], clone);
      expect(refused).toMatchObject({
        code: 128,
        output: expect.stringContaining(`remote: ${NO_PUSH_IN_REVIEWS}`),
      });
    }

    expect(server.requests).toEqual([]);
  });

  test("with network access other repositories are readable without a token, at permitted addresses only", async () => {
    await harness.close();
    harness = await openHarness({ grant: { network: "internet" }, allow: "127.0.0.1" });
    server.authorization = undefined;

    expect(await git(["clone", "--quiet", `${GITHUB}/acme/other.git`])).toMatchObject({ code: 0 });
    expect(server.requests.map(({ authorization }) => authorization)).toEqual(
      server.requests.map(() => undefined),
    );
    expect(authorizations).toEqual([]);
    await commitIn(join(directory, "other"));
    expect((await git(["push", "origin", "HEAD:refs/heads/x"], join(directory, "other"))).output).toContain(
      "must not push",
    );

    await harness.close();
    harness = await openHarness({ grant: { network: "internet" } });
    server.requests.length = 0;
    expect(await git(["ls-remote", `${GITHUB}/acme/other.git`])).toMatchObject({
      code: 128,
      output: expect.stringContaining("not public"),
    });
    expect(server.requests).toEqual([]);
  });

  test.each([
    [401, "acme/site does not exist, or Errand may not read or change it."],
    [403, "The git server does not allow Errand to do this in acme/site."],
    [404, "acme/site does not exist, or Errand may not read or change it."],
    [301, "acme/site is at another address now."],
    [503, "The git server failed for acme/site (HTTP 503)."],
    [200, "The server of acme/site does not speak git's smart protocol."],
  ])("the host's status %i is explained in git's output", async (status, message) => {
    server.intercept = (_, response) => {
      response
        .writeHead(status, {
          location: "https://elsewhere.example/acme/other.git/info/refs?service=git-upload-pack",
        })
        .end(AUTHORIZATION);
      return true;
    };

    const refused = await git(["ls-remote", `${GITHUB}/acme/site.git`]);

    expect(refused).toMatchObject({ code: 128, output: expect.stringContaining(`remote: ${message}`) });
    expect(refused.output).not.toContain(TOKEN);
    expect(server.requests).toHaveLength(1);
  });

  test("a token is obtained for each request, and a failure to obtain one is logged", async () => {
    await harness.close();
    let calls = 0;
    harness = await openHarness({
      authorize: async () => {
        calls += 1;
        if (calls > 1) {
          throw new Error(`no ${TOKEN}`);
        }
        return AUTHORIZATION;
      },
    });
    expect(await git(["ls-remote", `${GITHUB}/acme/site.git`])).toMatchObject({ code: 128 });

    expect(calls).toBe(2);
    expect(harness.logged).toEqual([expect.stringContaining("gateway.git.not_authorized")]);
  });

  test.each([
    ["GET", "/git/acme/site.git/info/refs", 404],
    ["GET", "/git/acme/site.git/info/refs?service=git-upload-archive", 404],
    ["GET", "/git/acme/site.git/info/refs?service=git-upload-pack&service=git-receive-pack", 404],
    ["POST", "/git/acme/site.git/info/refs?service=git-upload-pack", 404],
    ["GET", "/git/acme/site.git/HEAD", 404],
    ["GET", "/git/acme/site.git/config", 404],
    ["GET", "/git/acme/site.git/objects/info/packs", 404],
    ["POST", "/git/acme/site.git/git-upload-archive", 404],
    ["POST", "/git/acme/site.git/info/lfs/objects/batch", 422],
    ["GET", "/git/acme/site.git/../other.git/info/refs?service=git-upload-pack", 400],
    ["GET", "/git/acme/../acme/other.git/info/refs?service=git-upload-pack", 400],
    ["GET", "/git/acme%2Fsite.git/info/refs?service=git-upload-pack", 400],
    ["GET", "/git/../info/refs?service=git-upload-pack", 400],
    ["GET", "/git/acme/site.git/x/info/refs?service=git-upload-pack", 404],
    ["GET", "/git/acme/site@evil/info/refs?service=git-upload-pack", 404],
  ])("%s %s is not forwarded", async (method, path, status) => {
    const answer = await requestRaw(harness.gateway, path, { method, body: method === "POST" ? "0000" : "" });

    expect(answer.status).toBe(status);
    expect(server.requests).toEqual([]);
  });

  const NEW = "1".repeat(40);
  const OLD = "0".repeat(40);
  test.each([
    ["bytes that are not a push", Buffer.from("hello, this is no push"), {}, 400],
    ["a compressed push", gzipSync(FLUSH), { "content-encoding": "gzip" }, 415],
    ["a truncated push", pktLine(`${OLD} ${NEW} refs/heads/a\0report-status\n`), {}, 400],
    ["a signed push", Buffer.concat([pktLine("push-cert\0report-status\n"), FLUSH]), {}, 400],
    [
      "a line break in a branch name",
      Buffer.concat([pktLine(`${OLD} ${NEW} refs/heads/a\nx`), FLUSH]),
      {},
      400,
    ],
    [
      "an endless list of branches",
      Buffer.concat(Array(20_000).fill(pktLine(`${OLD} ${NEW} refs/heads/abcdefgh`))),
      {},
      413,
    ],
  ])("a push request is refused: %s", async (_, body, headers, status) => {
    const answer = await fetch(`${harness.gateway.address}/git/acme/site.git/git-receive-pack`, {
      method: "POST",
      body,
      headers,
    });

    expect(answer.status).toBe(status);
    expect(server.requests).toEqual([]);
  });

  test("a git URL that points to files gets status 501", async () => {
    await harness.close();
    harness = await openHarness({ gitUrl: repositories.fileUrl });

    const answer = await requestRaw(harness.gateway, "/git/acme/site.git/info/refs?service=git-upload-pack");

    expect([answer.status, answer.body]).toEqual([501, expect.stringContaining("ERRAND_GIT_URL")]);
  });

  test("closing the gateway ends access to repositories", async () => {
    const clone = await cloneOf("site");
    await harness.gateway.close();
    server.requests.length = 0;

    expect((await git(["fetch"], clone)).code).not.toBe(0);
    expect(server.requests).toEqual([]);
  });
});
