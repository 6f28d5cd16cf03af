import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDockerSandbox } from "../../../src/sandboxes/docker/docker-sandbox.ts";
import type { Sandbox } from "../../../src/sandboxes/sandbox.ts";
import { DEFAULT_SANDBOX_LIMITS } from "../../../src/sandboxes/sandbox-limits.ts";
import { processesWith, uniqueSeconds } from "../../contract/sandbox-contract.ts";
import { reasonToSkipDocker, startDocker, type TestDocker } from "../../support/docker-daemon.ts";
import { SandboxHarness } from "../../support/sandbox-harness.ts";
import { waitFor } from "../../support/wait-for.ts";

const skipped = await reasonToSkipDocker();
const WORKER_MAIN = join(import.meta.dirname, "../../support/sandbox-worker-main.ts");

describe.skipIf(skipped !== undefined)(
  `containers${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  () => {
    let docker: TestDocker;
    let harness: SandboxHarness;
    const makeSandbox = (dataDir: string, image = docker.imageWithNode): Sandbox =>
      createDockerSandbox({ dataDir, limits: DEFAULT_SANDBOX_LIMITS, docker, image });

    beforeAll(async () => {
      docker = await startDocker();
    });
    afterAll(() => docker?.stop());
    beforeEach(async () => {
      harness = await SandboxHarness.open(makeSandbox);
    });
    afterEach(() => harness.close());

    test("the values of environment variables are unknown to the docker daemon and to processes outside the container", async () => {
      const seconds = uniqueSeconds();
      const canary = `canary-${seconds}`;
      harness.shell(`sleep ${seconds}`, { env: { PATH: "/usr/bin:/bin", SECRET: canary }, label: "run 7" });
      await waitFor(async () => (await processesWith(seconds)).length > 0, { what: "the sleeper" });
      // Docker lists a container as running only some time after its process has started.
      const id = await waitFor(() => docker.call("ps", "--quiet", "--filter", "label=errand.for=run 7"), {
        what: "the container in the list",
      });

      const inspected = await docker.call("inspect", id);
      const [{ Config, HostConfig }] = JSON.parse(inspected);

      expect(inspected).not.toContain(canary);
      expect(await processesOutsideWith(canary)).toEqual([]);
      expect(Config.Labels).toMatchObject({ "errand.for": "run 7" });
      expect(HostConfig.LogConfig.Type).toBe("none");
    });

    test("an ended command leaves no container and no file, whether it succeeded, failed or was killed", async () => {
      const seconds = uniqueSeconds();
      const sleeper = harness.shell(`sleep ${seconds}`);
      const ended = [
        harness.shell("true"),
        harness.shell("exit 3"),
        harness.shell("true", { readable: ["/nowhere"] }),
      ];
      await waitFor(async () => (await processesWith(seconds)).length > 0, { what: "the sleeper" });

      await sleeper.kill();

      await Promise.all(ended.map(({ exited }) => exited));
      await waitFor(async () => (await docker.call("ps", "--all", "--quiet")) === "", {
        what: "no container",
      });
      await waitFor(async () => (await readdir(join(harness.root, "sandboxes"))).length === 0, {
        what: "no file",
      });
    });

    test("the port forward runs with Errand's Node in an image without Node", async () => {
      const socketPath = join(harness.root, "forward", "s");
      await mkdir(join(harness.root, "forward"));
      const server = createServer((socket) => socket.end("through")).listen(socketPath);
      const script = 'require("node:net").connect(8123, "127.0.0.1").pipe(process.stdout)';

      const bare = harness.spawn({
        argv: [process.execPath, "-e", script],
        ...{ image: docker.imageBare, readable: [process.execPath], portForward: { socketPath, port: 8123 } },
      });
      const [out] = await bare.stdout.toArray();
      server.close();

      expect(await bare.exited).toEqual({ code: 0, signal: null });
      expect(String(out)).toBe("through");
      expect((await harness.run("command -v node git; true", { image: docker.imageBare })).out).toBe("");
      expect((await harness.run("command -v git")).out).toBe("/usr/bin/git\n");
      expect(await makeSandbox(harness.root, docker.imageBare).unavailable()).toBeUndefined();
    });

    test("the image's variables and PATH apply, and its entrypoint is not run", async () => {
      const change = [
        "ENV PATH=/opt/tools/bin:/usr/bin:/bin",
        "ENV OF_IMAGE=1 BOTH=image",
        'ENTRYPOINT ["/bin/false"]',
      ];
      const id = await docker.call("create", docker.imageBare, "x");
      await docker.call("commit", ...change.flatMap((each) => ["--change", each]), id, "errand-test:tools");
      await docker.call("rm", id);

      const { out } = await harness.run('echo "$PATH $OF_IMAGE $BOTH $OWN"', {
        image: "errand-test:tools",
        env: { PATH: "/agents/bin:/usr/bin:/bin", BOTH: "own", OWN: "2" },
      });

      expect(out).toBe("/agents/bin:/opt/tools/bin:/usr/bin:/bin 1 own 2\n");
    });

    test("the error for an image that is not present in a registry that is not listed names the list", async () => {
      const { exited } = harness.shell("true", { image: "127.0.0.1:9/none:1" });

      expect(await exited).toMatchObject({
        ...{ code: 127, isImageProblem: true },
        reason: expect.stringMatching(/is not present.*ERRAND_IMAGE_REGISTRIES/),
      });
    });

    test.each(["--privileged", "-v/:/host", "a b", ""])(
      "%j is rejected as the name of an image",
      async (image) => {
        expect(await harness.shell("true", { image }).exited).toMatchObject({
          code: 127,
          reason: expect.stringContaining("not the name of an image"),
        });
      },
    );

    test("the error for an image that cannot run Errand's Node names what the image needs", async () => {
      // An empty tar archive: two blocks of zeros.
      await writeFile(join(harness.root, "empty.tar"), Buffer.alloc(1024));
      await docker.call("import", join(harness.root, "empty.tar"), "errand-test:empty");

      const { exited } = harness.shell("true", { image: "errand-test:empty" });

      expect(await exited).toMatchObject({ code: 127, reason: expect.stringMatching(/needs glibc/) });
    });

    test("only an image that the command names is reported as the cause", async () => {
      const missing = "127.0.0.1:9/no/such:image";
      const own = harness.shell("true", { image: missing });
      const withDefault = await SandboxHarness.open((dataDir) => makeSandbox(dataDir, missing));
      const { exited } = withDefault.shell("true");

      expect(await own.exited).toMatchObject({
        ...{ code: 127, isImageProblem: true },
        reason: expect.stringContaining("no/such:image is not present"),
      });
      expect(await exited).toMatchObject({ reason: expect.stringContaining("could not be pulled") });
      expect(await exited).not.toHaveProperty("isImageProblem");
      await withDefault.close();
    });

    test("a path with commas and quotes is mounted as it is", async () => {
      const odd = join(harness.root, 'a,b "c"');
      await mkdir(odd);

      await harness.run("echo hello > file", { cwd: odd, writable: [odd] });

      expect(await readFile(join(odd, "file"), "utf8")).toBe("hello\n");
    });

    test("sweep ends the container of a killed worker even if the container's control process is stopped", async () => {
      const seconds = uniqueSeconds();
      const worker = startWorker(docker, harness.root, seconds);
      await waitFor(async () => (await processesWith(seconds)).length >= 2, { what: "the worker's agent" });
      for (const pid of await processesWith("--control")) {
        process.kill(pid, "SIGSTOP");
      }
      worker.kill("SIGKILL");
      await once(worker, "exit");
      expect(await processesWith(seconds)).not.toEqual([]);

      expect(await harness.sandbox.sweep()).toBe(1);

      expect(await processesWith(seconds)).toEqual([]);
      expect(await readdir(join(harness.root, "sandboxes"))).toEqual([]);
    });

    test("an unusable docker reports the reason and sweeps nothing", async () => {
      const nowhere = { ...docker.environment, DOCKER_HOST: "unix:///nowhere/docker.sock" };
      const options = { dataDir: harness.root, limits: DEFAULT_SANDBOX_LIMITS, image: docker.imageWithNode };
      const away = createDockerSandbox({ ...options, docker: { program: "docker", environment: nowhere } });
      const missing = createDockerSandbox({ ...options, docker: { program: "/no/docker", environment: {} } });

      expect(await away.unavailable()).toMatch(/cannot connect.*DOCKER_HOST/is);
      expect(await missing.unavailable()).toMatch(/ENOENT.*ERRAND_DOCKER/s);
      expect(await makeSandbox(harness.root, "127.0.0.1:9/none").unavailable()).toMatch(
        /not present.*ERRAND_DOCKER_IMAGE/s,
      );
      expect([await away.sweep(), await missing.sweep()]).toEqual([0, 0]);
    });
  },
);

describe.skipIf(skipped !== undefined)("a docker daemon that dies", () => {
  test("the commands of a dead docker daemon are reported as lost and can be killed", async () => {
    const docker = await startDocker();
    const harness = await SandboxHarness.open((dataDir) =>
      createDockerSandbox({ dataDir, limits: DEFAULT_SANDBOX_LIMITS, docker, image: docker.imageBare }),
    );
    try {
      const seconds = uniqueSeconds();
      const sleeper = harness.shell(`sleep ${seconds}`);
      await waitFor(async () => (await processesWith(seconds)).length > 0, { what: "the sleeper" });

      await docker.killDaemon();

      expect(await sleeper.exited).toMatchObject({ code: null, reason: expect.stringMatching(/lost/) });
      await sleeper.kill();
      await waitFor(async () => (await processesWith(seconds)).length === 0, { what: "the sleeper's end" });
    } finally {
      await harness.close();
      await docker.stop();
    }
  });
});

function startWorker(
  { environment, imageWithNode, program }: TestDocker,
  dataDir: string,
  seconds: string,
): ChildProcess {
  const docker = { program, environment };
  const job = { kind: "docker", docker, image: imageWithNode, dataDir, seconds };
  return fork(WORKER_MAIN, [JSON.stringify(job)], { stdio: "inherit" });
}

/** Returns the processes outside containers that have `word` in their arguments or environment. */
async function processesOutsideWith(word: string): Promise<readonly string[]> {
  const own = await readFile("/proc/self/cgroup", "utf8");
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const matches = await Promise.all(
    pids.map(async (pid) => {
      const read = (name: string) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "");
      const isOutside = (await read("cgroup")) === own;
      const text = `${await read("cmdline")}${await read("environ")}`;
      return isOutside && text.includes(word) ? [text] : [];
    }),
  );
  return matches.flat();
}
