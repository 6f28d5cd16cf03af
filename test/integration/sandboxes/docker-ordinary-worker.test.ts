import { execFile } from "node:child_process";
import { chmod, chown, cp, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { reasonToSkipBubblewrap } from "../../support/bubblewrap.ts";
import { reasonToSkipDocker, startDocker, type TestDocker } from "../../support/docker-daemon.ts";
import type { SandboxRun } from "../../support/sandbox-run-main.ts";

const REPOSITORY = resolve(import.meta.dirname, "../../..");
const REQUIRED_FILES = [
  ...["package.json", "src/sandboxes", "src/core", "src/child-process", "node_modules/zod"],
  "test/support/sandbox-run-main.ts",
];
const ID = 12_345;

const skipped = (await reasonToSkipDocker()) ?? (await reasonToSkipBubblewrap());

/** A worker should not run as root. Only root can start such a worker and a docker daemon in a test. */
describe.skipIf(skipped !== undefined)(
  `a worker that is not root${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  () => {
    let docker: TestDocker;
    let root: string;
    let dataDir: string;

    beforeAll(async () => {
      root = await mkdtemp(join(tmpdir(), "errand-ordinary-"));
      await chmod(root, 0o755);
      for (const path of REQUIRED_FILES) {
        await cp(join(REPOSITORY, path), join(root, path), { recursive: true, dereference: true });
      }
      // The Node program may be in a directory that other users cannot read.
      await cp(process.execPath, join(root, "node"));
      dataDir = join(root, "data");
      await mkdir(dataDir, { mode: 0o700 });
      await chown(dataDir, ID, ID);
      docker = await startDocker();
      await grantSocketAccess(docker);
    });
    afterAll(async () => {
      await docker?.stop();
      await rm(root, { recursive: true, force: true });
    });

    test.each(["docker", "bubblewrap"])(
      "in %s a command of a worker that is not root runs with the worker's user id, a user name and no capabilities",
      async (name) => {
        const { err, exit, out } = await run(name, {
          script: "echo hello > made; id -un; grep CapBnd /proc/self/status",
        });

        expect({ out, err, exit }).toEqual({
          out: "errand\nCapBnd:\t0000000000000000\n",
          err: "",
          exit: { code: 0, signal: null },
        });
        expect(await stat(join(dataDir, "made"))).toMatchObject({ uid: ID, gid: ID });
      },
    );

    test.each(["docker", "bubblewrap"])(
      "in %s the process limit of a worker that is not root applies without a cgroup of its own",
      async (name) => {
        const { err } = await run(name, {
          script: "for n in $(seq 100); do sleep 2 & done; wait",
          processes: 50,
        });

        expect(err).toMatch(/fork/i);
      },
    );

    async function run(name: string, command: Pick<SandboxRun, "script"> & Partial<SandboxRun>) {
      const environment = { ...docker.environment, HOME: dataDir };
      const run: SandboxRun = {
        ...{ dataDir, processes: 500, ...command },
        ...(name === "docker"
          ? { docker: { docker: { program: docker.program, environment }, image: docker.imageBare } }
          : {}),
      };
      const main = join(root, "test/support/sandbox-run-main.ts");
      const options = { uid: ID, gid: ID, cwd: dataDir, env: { PATH: process.env.PATH } };
      const { stdout } = await promisify(execFile)(join(root, "node"), [main, JSON.stringify(run)], options);
      return JSON.parse(stdout);
    }
  },
);

/** Gives other users access to the docker socket, as the group docker has on an ordinary host. */
async function grantSocketAccess({ environment }: TestDocker): Promise<void> {
  const socket = (environment.DOCKER_HOST ?? "").slice("unix://".length);
  await chmod(join(socket, ".."), 0o711);
  await chmod(socket, 0o666);
}
