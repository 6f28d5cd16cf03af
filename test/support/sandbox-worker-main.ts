import { createBubblewrapSandbox } from "../../src/sandboxes/bubblewrap/bubblewrap-sandbox.ts";
import type { DockerProgram } from "../../src/sandboxes/docker/docker-cli.ts";
import { createDockerSandbox } from "../../src/sandboxes/docker/docker-sandbox.ts";
import { createLocalSandbox } from "../../src/sandboxes/local/local-sandbox.ts";
import type { Sandbox } from "../../src/sandboxes/sandbox.ts";
import { DEFAULT_SANDBOX_LIMITS as limits } from "../../src/sandboxes/sandbox-limits.ts";

/** A worker for tests of its death: starts one agent that sleeps, in two processes of two sessions. */
export type WorkerSandbox =
  | { readonly kind: "local" | "bubblewrap" }
  | { readonly kind: "docker"; readonly docker: DockerProgram; readonly image: string };

type Order = WorkerSandbox & { readonly dataDir: string; readonly seconds: string };

const order: Order = JSON.parse(process.argv[2] ?? "");
const script = `setsid nohup sleep ${order.seconds} >/dev/null 2>&1 & sleep ${order.seconds}`;
makeSandbox(order).spawn({
  argv: ["/bin/sh", "-c", script],
  env: { PATH: "/usr/bin:/bin" },
  cwd: "/tmp",
  writable: [],
  readable: [],
});

function makeSandbox(order: Order): Sandbox {
  const { dataDir } = order;
  switch (order.kind) {
    case "local":
      return createLocalSandbox(dataDir);
    case "bubblewrap":
      return createBubblewrapSandbox({ dataDir, limits });
    case "docker":
      return createDockerSandbox({ dataDir, limits, docker: order.docker, image: order.image });
    default:
      return order satisfies never;
  }
}
