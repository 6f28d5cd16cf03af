import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MEBIBYTE } from "../../../src/core/basics/byte-units.ts";
import { parseImageName } from "../../../src/core/model/workspaces/image-name.ts";
import { createDockerSandbox } from "../../../src/sandboxes/docker/docker-sandbox.ts";
import { DEFAULT_IMAGE_RULES, type ImageRules } from "../../../src/sandboxes/image-rules.ts";
import type { Sandbox } from "../../../src/sandboxes/sandbox.ts";
import { DEFAULT_SANDBOX_LIMITS } from "../../../src/sandboxes/sandbox-limits.ts";
import { reasonToSkipDocker, startDocker, type TestDocker } from "../../support/docker-daemon.ts";
import { freePort } from "../../support/free-port.ts";
import { imageNames, nearlyImageNames } from "../../support/image-names.ts";
import { ImageRegistry, layerOfZeros } from "../../support/image-registry.ts";
import { SandboxHarness } from "../../support/sandbox-harness.ts";
import { waitFor } from "../../support/wait-for.ts";

const skipped = await reasonToSkipDocker();

describe.skipIf(skipped !== undefined)(
  `pulls of images${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  () => {
    let docker: TestDocker;
    let registry: ImageRegistry;
    let harness: SandboxHarness;
    let logged: unknown[];

    beforeAll(async () => {
      docker = await startDocker();
    });
    afterAll(() => docker?.stop());
    beforeEach(async () => {
      registry = await ImageRegistry.start();
      logged = [];
      harness = await SandboxHarness.open(makeSandbox());
    });
    afterEach(async () => {
      await harness.close();
      await registry.stop();
    });

    function makeSandbox(rules: Partial<ImageRules> = {}) {
      const log = (message: string, facts?: unknown) => void logged.push({ message, facts });
      return (dataDir: string): Sandbox =>
        createDockerSandbox({
          ...{ dataDir, limits: DEFAULT_SANDBOX_LIMITS, docker, image: docker.imageBare },
          images: { ...DEFAULT_IMAGE_RULES, registries: [registry.host], ...rules },
          log: { info: log, warn: log },
        });
    }

    async function reopen(rules: Partial<ImageRules>): Promise<void> {
      await harness.close();
      harness = await SandboxHarness.open(makeSandbox(rules));
    }

    async function isPresent(name: string): Promise<boolean> {
      const names = await docker.call("image", "ls", "--format", "{{.Repository}}:{{.Tag}}");
      return names.split("\n").includes(`${name}:latest`);
    }

    /** A caller that gives up does not wait for the program, which ends a moment later. */
    const noPulls = () =>
      waitFor(async () => (await pullsOf(registry.host)) === 0, { what: "the pulls to end" });

    test("an image of a listed registry is pulled once for all commands that wait for it", async () => {
      const name = registry.add("team/zeros", await layerOfZeros(MEBIBYTE));
      const pulls = [1, 2, 3].map(() => harness.sandbox.images?.pull(name, new AbortController().signal));

      await Promise.all(pulls);

      expect(await isPresent(name)).toBe(true);
      expect(
        registry.requests.filter((request) => request.includes("GET /v2/team/zeros/blobs")),
      ).toHaveLength(2);
      expect(await harness.sandbox.images?.isReady(name)).toBe(true);
    });

    test("no address is asked unless its registry is listed, and an open port looks like a closed one", async () => {
      const [open, closed] = [await ImageRegistry.start(), `127.0.0.1:${await freePort()}`];
      const reasonOf = async (host: string) =>
        ((await harness.run("true", { image: `${host}/v2` })).reason ?? "").replaceAll(host, "HOST");

      const reasons = [await reasonOf(open.host), await reasonOf(closed), await reasonOf("localhost")];
      const isReady = await harness.sandbox.images?.isReady(`${open.host}/v2`);
      await open.stop();

      expect(isReady).toBe(true);
      expect(open.requests).toEqual([]);
      expect(new Set(reasons).size).toBe(1);
      expect(reasons[0]).toMatch(/HOST\/v2 is not present.*ERRAND_IMAGE_REGISTRIES/);
    });

    test("an image that is present is used whatever its registry is", async () => {
      await docker.call("tag", docker.imageBare, "registry.example.com/team/bare");

      const exit = await harness.run("echo works", { image: "registry.example.com/team/bare" });

      expect(exit).toMatchObject({ code: 0, out: "works\n" });
    });

    test("a registry that leads the daemon to a server inside does not learn what that server says", async () => {
      const inside = await listen("HTTP/1.1 500 secret\r\ncontent-length: 12\r\n\r\ninside-words");
      const reasonFor = async (realm: string, path: string) => {
        registry.answer = (_request, response) =>
          response
            .writeHead(401, { "www-authenticate": `Bearer realm="http://${realm}/a?b",service="x"` })
            .end("registry-words\u001b[31m");
        const {
          code,
          isImageProblem,
          reason = "",
        } = await harness.run("true", {
          image: `${registry.host}/${path}`,
        });
        return { code, isImageProblem, reason: reason.replace(path, "PATH") };
      };

      const open = await reasonFor(inside.host, "open");
      const closed = await reasonFor(`127.0.0.1:${await freePort()}`, "closed");
      registry.answer = undefined;
      const missing = await harness.run("true", { image: `${registry.host}/missing` });
      inside.server.close();

      expect(open).toEqual(closed);
      expect(open).toMatchObject({ code: 127, isImageProblem: true });
      expect(missing.reason?.replace("missing", "PATH")).toBe(open.reason);
      expect(open.reason).not.toMatch(/words|401|http/);
      expect(open.reason).not.toContain("\u001b");
      expect(JSON.stringify(logged)).toContain("image.not_pulled");
    });

    test("pulls end with the commands that want them, and thirty ended commands leave no program", async () => {
      registry.answer = () => undefined;
      const commands = Array.from({ length: 30 }, (_, index) =>
        harness.shell("true", { image: `${registry.host}/never${index % 10}` }),
      );
      await waitFor(() => registry.requests.length >= 3, { what: "three pulls", timeoutMs: 60_000 });
      const running = await pullsOf(registry.host);

      await Promise.all(commands.map((command) => command.kill()));

      expect(running).toBeLessThanOrEqual(3);
      await noPulls();
      await waitFor(async () => (await registry.openConnections()) === 0, { what: "the daemon to hang up" });
    });

    test("a pull continues while one command still wants it", async () => {
      registry.answer = () => undefined;
      const image = `${registry.host}/shared`;
      const callers = [new AbortController(), new AbortController()] as const;
      const pulls = callers.map(({ signal }) => harness.sandbox.images?.pull(image, signal));
      await waitFor(() => registry.requests.length > 0, { what: "the pull" });

      callers[0].abort();
      await pulls[0];
      const afterOne = await pullsOf(registry.host);
      callers[1].abort();
      await pulls[1];

      expect(afterOne).toBe(1);
      await noPulls();
    });

    test("a registry that never answers is given up after the time of a pull", async () => {
      registry.answer = () => undefined;
      await reopen({ pullMs: 2_000 });

      const exit = await harness.run("true", { image: `${registry.host}/never` });

      expect(exit).toMatchObject({
        code: 127,
        isImageProblem: true,
        reason: expect.stringContaining("ERRAND_IMAGE_PULL_MINUTES"),
      });
      await noPulls();
    });

    test("a pull ends when a few kilobytes of an image have taken more space than an image may", async () => {
      await reopen({ maxBytes: 50 * MEBIBYTE });
      const [bomb, never] = [await layerOfZeros(300 * MEBIBYTE), await layerOfZeros(MEBIBYTE)];
      const name = registry.add("bomb", bomb, never);
      registry.withhold("bomb", never);

      const exit = await harness.run("true", { image: name });

      expect(bomb.length).toBeLessThan(MEBIBYTE);
      expect(exit).toMatchObject({
        isImageProblem: true,
        reason: expect.stringMatching(/GiB.*ERRAND_IMAGE_GIB/),
      });
      expect(await isPresent(name)).toBe(false);
      await noPulls();
    });

    test("an image that is only a little too large is removed after its pull", async () => {
      await reopen({ maxBytes: 20 * MEBIBYTE });
      const name = registry.add("large", await layerOfZeros(21 * MEBIBYTE));

      const exit = await harness.run("true", { image: name });

      expect(exit.reason).toContain("ERRAND_IMAGE_GIB");
      expect(await isPresent(name)).toBe(false);
    });

    test("unused images that Errand pulled are removed, and no other image", async () => {
      const [used, unused, own] = ["used", "unused", "own"].map((path) => `${registry.host}/${path}`);
      const layer = await layerOfZeros(MEBIBYTE);
      for (const path of ["used", "unused"]) {
        await harness.sandbox.images?.pull(registry.add(path, layer), new AbortController().signal);
      }
      await docker.call("tag", docker.imageBare, own ?? "");
      await harness.sandbox.sweep();
      const kept = await isPresent(unused ?? "");

      const later = makeSandbox({ unusedMs: 600_000 })(harness.root);
      await run("find", [
        `${harness.root}/pulled-images`,
        "-type",
        "f",
        "-exec",
        "touch",
        "-d",
        "1 hour ago",
        "{}",
        "+",
      ]);
      // The file system of this image is empty, but its use counts.
      await harness.run("true", { image: used ?? "" });
      await later.sweep();

      expect(kept).toBe(true);
      expect(await Promise.all([used, unused, own].map((name) => isPresent(name ?? "")))).toEqual([
        true,
        false,
        true,
      ]);
      expect(await isPresent("errand-test")).toBe(false);
      expect(await docker.call("image", "ls", "--quiet", docker.imageBare)).not.toBe("");
      expect(logged).toContainEqual({ message: "images.removed", facts: { count: 1 } });
    });

    test("a name is refused by us exactly when docker refuses it", async () => {
      const names = [
        ...fc.sample(imageNames, 25).map(({ name }) => name),
        ...fc.sample(nearlyImageNames, 40),
      ].filter(
        // A program's argument has no NUL, and docker takes a leading dash for an option.
        (name) => !name.includes("\0") && !name.startsWith("-") && name !== "",
      );

      const ours = names.map((name) => [name, parseImageName(name) !== undefined]);
      const theirs: unknown[] = [];
      for (const name of names) {
        theirs.push([name, await isNameForDocker(name)]);
      }

      expect(ours).toEqual(theirs);
    });
  },
);

const run = promisify(execFile);

/** docker examines the name before it looks for its daemon. */
async function isNameForDocker(name: string): Promise<boolean> {
  const env = { PATH: process.env.PATH ?? "", DOCKER_HOST: "unix:///nowhere/docker.sock" };
  const { stderr } = await run("docker", ["pull", name], { env }).catch((error: { stderr: string }) => error);
  return /daemon|connect/i.test(stderr) && !/invalid reference|must be lowercase|parse/i.test(stderr);
}

/** The number of docker programs that pull from the registry. */
async function pullsOf(host: string): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")),
  );
  return lines.filter((line) => /^docker\0pull\0/.test(line) && line.includes(host)).length;
}

async function listen(answer: string): Promise<{ readonly server: Server; readonly host: string }> {
  const server = createServer((socket) => socket.on("error", () => undefined).end(answer));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return { server, host: `127.0.0.1:${typeof address === "object" ? address?.port : 0}` };
}
