import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { reasonToSkipBubblewrap } from "../../support/bubblewrap.ts";
import { reasonToSkipDocker, startDocker, type TestDocker } from "../../support/docker-daemon.ts";

const REPOSITORY = resolve(import.meta.dirname, "../../..");
const REQUIRED_FILES = [
  ...["package.json", "src/sandboxes", "src/core", "src/child-process", "node_modules/zod"],
  "test/support/sandbox-run-main.ts",
];
/** The user `node` of the image. */
const ID = 1_000;

const composeFile = z.object({
  services: z.object({
    worker: z.object({
      cap_drop: z.array(z.string()),
      security_opt: z.array(z.string()),
      privileged: z.undefined().optional(),
      cap_add: z.undefined().optional(),
    }),
  }),
});

const skipped = (await reasonToSkipDocker()) ?? (await reasonToSkipBubblewrap());

/** The system's files are those of this machine, because there is no registry for the image. */
describe.skipIf(skipped !== undefined)(
  `the worker's container of docker-compose.yml${skipped === undefined ? "" : ` (skipped: ${skipped})`}`,
  () => {
    let docker: TestDocker;
    let root: string;
    let options: readonly string[];

    beforeAll(async () => {
      root = await mkdtemp(join(tmpdir(), "errand-compose-"));
      await chmod(root, 0o755);
      for (const path of REQUIRED_FILES) {
        await cp(join(REPOSITORY, path), join(root, "app", path), { recursive: true, dereference: true });
      }
      await cp(process.execPath, join(root, "node"));
      await makeDataDir(join(root, "data"));
      options = await securityOptions();
      docker = await startDocker();
    });
    afterAll(async () => {
      await docker?.stop();
      await rm(root, { recursive: true, force: true });
    });

    test("bubblewrap isolates in it, as the image's user and without capabilities", async () => {
      const { err, exit, out } = await runSandboxed(
        `id -un; echo made > made; cat made
        cat /data/secret-key /data/runs/2/workspace/file /app/package.json 2>/dev/null; ls /data/runs
        ls -d /proc/[0-9]* | wc -l | grep -qx '[2-9]' && echo only own processes
        grep -v -c -e Inter -e face -e lo: /proc/net/dev
        grep -h -E '^Cap(Eff|Prm|Bnd)|^NoNewPrivs|^Seccomp:' /proc/self/status
        env | grep -c ERRAND_TEST
        unshare --user --map-root-user true 2>/dev/null && echo namespace
        for each in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /usr/x /x; do
          (: >> $each) 2>/dev/null && echo wrote $each
        done; true`,
      );

      expect({ err, exit }).toEqual({ err: "", exit: { code: 0, signal: null } });
      expect(out.split("\n")).toEqual([
        ...["errand", "made", "1", "only own processes", "0"],
        ...["CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000"],
        ...["NoNewPrivs:\t1", "Seccomp:\t2", "0", ""],
      ]);
    });

    test("outside of a sandbox its processes can mount nothing and make no namespace but that of a user", async () => {
      const out = await runInContainer([
        ...["/bin/sh", "-c"],
        `for each in --mount --net --pid --ipc --uts --time; do unshare $each true 2>/dev/null && echo $each; done
        mount -t tmpfs tmpfs /tmp 2>/dev/null && echo mounted
        grep -h -E '^CapEff|^NoNewPrivs|^Seccomp:' /proc/self/status`,
      ]);

      expect(out.split("\n")).toEqual(["CapEff:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"]);
    });

    test("with docker's own options bubblewrap is unusable, and the remedy names ours", async () => {
      options = [];

      const out = await runInContainer([
        ...["/node", "--input-type=module", "--eval"],
        `const { createBubblewrapSandbox } = await import("/app/src/sandboxes/bubblewrap/bubblewrap-sandbox.ts");
        const { DEFAULT_SANDBOX_LIMITS: limits } = await import("/app/src/sandboxes/sandbox-limits.ts");
        console.log(await createBubblewrapSandbox({ dataDir: "/data", limits }).unavailable());`,
      ]);

      expect(out).toMatch(/worker-seccomp\.json.*systempaths=unconfined/);
    });

    async function runSandboxed(script: string) {
      const run = { dataDir: "/data/runs/1/workspace", processes: 500, script };
      const main = "/app/test/support/sandbox-run-main.ts";
      return JSON.parse(await runInContainer(["/node", main, JSON.stringify(run)]));
    }

    function runInContainer(command: readonly string[]): Promise<string> {
      const mounts = [
        ...["/usr", "/lib", "/lib64"].map((path) => `${path}:${path}:ro`),
        ...[`${root}/app:/app:ro`, `${root}/node:/node:ro`, `${root}/data:/data`],
      ];
      return docker.call(
        ...[
          "run",
          "--rm",
          "--init",
          "--network",
          "none",
          "--tmpfs",
          "/tmp",
          "--user",
          `${ID}:${ID}`,
          "--env",
          "ERRAND_TEST=x",
        ],
        ...mounts.flatMap((mount) => ["--volume", mount]),
        ...options,
        ...[docker.imageBare, ...command],
      );
    }
  },
);

async function makeDataDir(path: string): Promise<void> {
  for (const run of ["1", "2"]) {
    await mkdir(join(path, "runs", run, "workspace"), { recursive: true });
    await writeFile(join(path, "runs", run, "workspace", "file"), "of another run");
  }
  await writeFile(join(path, "secret-key"), "secret");
  for (const each of ["", "runs", "runs/1", "runs/1/workspace", "runs/2", "runs/2/workspace", "secret-key"]) {
    await chown(join(path, each), ID, ID);
  }
}

/** As Compose passes them on. It reads the profile relative to its file. */
async function securityOptions(): Promise<readonly string[]> {
  const { worker } = composeFile.parse(
    parse(await readFile(join(REPOSITORY, "docker-compose.yml"), "utf8"), { merge: true }),
  ).services;
  return [
    ...worker.cap_drop.flatMap((capability) => ["--cap-drop", capability]),
    ...worker.security_opt.flatMap((option) => [
      "--security-opt",
      option.replace(/^seccomp=/, `seccomp=${REPOSITORY}/`),
    ]),
  ];
}
