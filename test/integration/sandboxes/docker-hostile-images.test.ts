import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MEBIBYTE } from "../../../src/core/basics/byte-units.ts";
import { createDockerSandbox } from "../../../src/sandboxes/docker/docker-sandbox.ts";
import { DEFAULT_SANDBOX_LIMITS } from "../../../src/sandboxes/sandbox-limits.ts";
import { reasonToSkipDocker, startDocker, type TestDocker } from "../../support/docker-daemon.ts";
import { buildImage, changeImage } from "../../support/docker-images.ts";
import { SandboxHarness } from "../../support/sandbox-harness.ts";
import { waitFor } from "../../support/wait-for.ts";

const skipped = await reasonToSkipDocker();
const LIMITS = { ...DEFAULT_SANDBOX_LIMITS, memoryBytes: 256 * MEBIBYTE };

/** What an image may say of itself that its author did not mean well. A command runs in it as in any image. */
const USABLE: Readonly<Record<string, readonly string[]>> = {
  "an entrypoint that exits": ['ENTRYPOINT ["/bin/false"]', 'CMD ["/bin/false"]'],
  "a user that does not exist": ["USER nobody-here:no-group"],
  "a health check that fails": ["HEALTHCHECK --interval=1s CMD /bin/false"],
  "commands for other builds": ["ONBUILD RUN /bin/false"],
  ports: ["EXPOSE 22 80/udp 1-100"],
  "control characters in its labels": ['LABEL "a\u001b[31m"="\u0007\u202e" errand.scope=x errand.sandbox=x'],
  "a working directory that does not exist": ["WORKDIR /nowhere/at/all"],
  "another signal to stop": ["STOPSIGNAL SIGKILL"],
  "variables that steer programs": [
    "ENV LD_PRELOAD=/nowhere.so NODE_OPTIONS=--require=/nowhere BASH_ENV=/nowhere ENV=/nowhere PATH=",
  ],
  "strange variables": ["ENV a.b=1 __proto__=x constructor=y"],
};

/** Images in which no command can start. `files` are in the context of the build. */
const UNUSABLE: Readonly<
  Record<string, { readonly lines: readonly string[]; readonly files?: Readonly<Record<string, string>> }>
> = {
  "nothing but a file": { lines: ["FROM scratch", "COPY file /file"], files: { file: "x" } },
  "a loader of another processor": { lines: ["COPY file /lib64/ld-linux-x86-64.so.2"], files: { file: "x" } },
  "a file where directories of the system are": {
    lines: ["FROM scratch", "COPY file /proc"],
    files: { file: "x" },
  },
  "the processes as a volume": { lines: ['VOLUME ["/proc"]'] },
  "everything as a volume": { lines: ['VOLUME ["/usr/../"]'] },
  "hundreds of volumes": {
    lines: [`VOLUME ${JSON.stringify(Array.from({ length: 300 }, (_, index) => `/v${index}`))}`],
  },
};

/** Members of a configuration that no Dockerfile could produce. */
const BROKEN: Readonly<Record<string, object>> = {
  "a variable that no program can have": { Env: [`A=${"a".repeat(200_000)}`] },
  "more variables than a program can have": {
    Env: Array.from({ length: 40 }, (_, index) => `A${index}=${"a".repeat(100_000)}`),
  },
  "a description that is longer than any": { Env: [`A=${"a".repeat(9_000_000)}`] },
  "a volume over a file": { Volumes: { "/bin/sh": {} } },
  "a volume with a line break": { Volumes: { "/a\nb": {} } },
};

describe.skipIf(skipped !== undefined)(
  `hostile images${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  () => {
    let docker: TestDocker;
    let harness: SandboxHarness;
    let built = 0;

    beforeAll(async () => {
      docker = await startDocker();
    });
    afterAll(() => docker?.stop());
    beforeEach(async () => {
      harness = await SandboxHarness.open((dataDir) =>
        createDockerSandbox({ dataDir, limits: LIMITS, docker, image: docker.imageBare }),
      );
    });
    afterEach(() => harness.close());

    function build(lines: readonly string[], files: Readonly<Record<string, string>> = {}): Promise<string> {
      built += 1;
      const own = lines[0]?.startsWith("FROM") === true ? lines : [`FROM ${docker.imageBare}`, ...lines];
      return buildImage(docker.call, `errand-test/hostile:${built}`, { lines: own, files });
    }

    test.each(Object.entries(USABLE))("a command runs in an image with %s", async (_what, lines) => {
      const image = await build(lines);

      const exit = await harness.run("echo works", { image });

      expect(exit).toMatchObject({ code: 0, out: "works\n" });
    });

    test.each(Object.entries(UNUSABLE))(
      "an image with %s is the problem of its environment",
      async (_what, { files, lines }) => {
        await expectProblem(await build(lines, files));
      },
    );

    test.each(Object.entries(BROKEN))(
      "an image with %s in its configuration is the problem of its environment",
      async (_what, config) => {
        const name = `errand-test/broken:${Object.values(BROKEN).indexOf(config)}`;
        await expectProblem(await changeImage(docker.call, { from: docker.imageBare, name, config }));
      },
    );

    async function expectProblem(image: string): Promise<void> {
      const exit = await harness.run("echo works", { image });

      expect(exit).toMatchObject({
        ...{ code: 127, out: "", isImageProblem: true },
        reason: expect.stringMatching(/\S/),
        remedy: expect.stringContaining("image of the environment"),
      });
      // The container is removed after the exit is reported.
      await waitFor(async () => (await docker.call("ps", "--all", "--quiet")) === "", {
        what: "no container",
      });
      expect(await docker.call("volume", "ls", "--quiet")).toBe("");
    }

    test.each(["-v", "--privileged", "host/../..", "../x", "a b", "http://127.0.0.1/x", "127.0.0.1:1/x"])(
      "a name like %s is the problem of its environment, and docker is not asked for it",
      async (image) => {
        expect(await harness.run("true", { image })).toMatchObject({ code: 127, isImageProblem: true });
      },
    );

    test("the volumes of an image are memory of the run, wherever they are", async () => {
      const own = ["/data", "/tmp", "/var/lib/x y", "/etc/deep/er", "/dev/shm", "/with,comma"];
      const paths = [...own, harness.workspace];
      const image = await build([`VOLUME ${JSON.stringify(paths)}`]);

      const sleeper = harness.shell("echo ready; sleep 1000", { image });
      await new Promise((resolve) => sleeper.stdout.once("data", resolve));
      const volumes = await docker.call("volume", "ls", "--quiet");
      await sleeper.kill();
      const mounts = await harness.run("cut -d ' ' -f 2,3 /proc/self/mounts", { image });
      const filled = await harness.run(
        "for n in $(seq 400); do head -c 1000000 /dev/zero > /data/$n || exit 3; done; echo filled",
        { image },
      );

      expect(volumes).toBe("");
      expect(mounts.out.split("\n").filter((line) => line.endsWith(" tmpfs"))).toEqual(
        expect.arrayContaining(own.map((path) => `${path.replace(" ", "\\040")} tmpfs`)),
      );
      expect(filled.out).toBe("");
      expect(filled.reason ?? filled.err).toMatch(/ERRAND_SANDBOX_MEMORY_MIB|No space/);
    });

    test("a volume of an image does not hide the workspace of its run", async () => {
      await writeFile(join(harness.workspace, "mine"), "of the run");
      const image = await build([
        `VOLUME ${JSON.stringify([harness.workspace, join(harness.workspace, "..")])}`,
      ]);

      const exit = await harness.run("cat mine; echo made > made; cat made", { image });

      expect(exit.out).toBe("of the runmade\n");
    });
  },
);
