import { text } from "node:stream/consumers";
import { createBubblewrapSandbox } from "../../src/sandboxes/bubblewrap/bubblewrap-sandbox.ts";
import type { DockerOptions } from "../../src/sandboxes/docker/docker-sandbox.ts";
import { createDockerSandbox } from "../../src/sandboxes/docker/docker-sandbox.ts";
import { DEFAULT_SANDBOX_LIMITS } from "../../src/sandboxes/sandbox-limits.ts";

/** Runs a script in a sandbox as the user of this process, and tells how it went on stdout. */
export interface SandboxRun {
  readonly dataDir: string;
  readonly processes: number;
  readonly script: string;
  /** Undefined: bubblewrap. */
  readonly docker?: Pick<DockerOptions, "docker" | "image">;
}

const { dataDir, docker, processes, script }: SandboxRun = JSON.parse(process.argv[2] ?? "");
const limits = { ...DEFAULT_SANDBOX_LIMITS, processes };
const sandbox =
  docker === undefined
    ? createBubblewrapSandbox({ dataDir, limits })
    : createDockerSandbox({ dataDir, limits, ...docker });
const inside = sandbox.spawn({
  argv: ["/bin/sh", "-c", script],
  env: { PATH: "/usr/bin:/bin" },
  cwd: dataDir,
  writable: [dataDir],
  readable: [process.execPath],
});
inside.stdin.on("error", () => {}).end();
const [out, err, exit] = await Promise.all([text(inside.stdout), text(inside.stderr), inside.exited]);
await inside.kill();
process.stdout.write(JSON.stringify({ out, err, exit }));
