import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { FORWARDER } from "../behind-door.ts";
import type { SandboxCommand } from "../sandbox.ts";
import type { SandboxLimits } from "../sandbox-limits.ts";
import { hardening, type Mount, mountArgs, programArgs, runtimeMounts } from "./container-runtime.ts";
import type { DockerHost } from "./docker-host.ts";
import type { PreparedImage } from "./docker-images.ts";
import { ORDERS_SOCKET } from "./orders.ts";

/** Where the container finds what is only for its first program. */
const ORDERS_INSIDE = "/run/errand";

export interface ContainerPlan {
  readonly command: SandboxCommand;
  readonly name: string;
  readonly image: PreparedImage;
  readonly host: DockerHost;
  readonly limits: SandboxLimits;
  readonly labels: readonly string[];
  /** A directory of ours that becomes `ORDERS_INSIDE`. */
  readonly orders: string;
}

/** All that makes a container; no value of the command's environment is in it. */
export function containerArgs(plan: ContainerPlan): readonly string[] {
  const { command, host, image, labels, limits, name } = plan;
  return [
    ...["create", "--interactive", "--init", "--pull", "never", "--name", name, "--hostname", "errand"],
    ...hardening(limits, host.cpus),
    ...host.userArgs,
    ...labels.flatMap((label) => ["--label", label]),
    ...["--workdir", command.cwd],
    ...mountArgs(mountsOf(plan)),
    ...programArgs(image.needsLibraries),
    ...[image.name, FORWARDER, "--orders", join(ORDERS_INSIDE, ORDERS_SOCKET)],
  ];
}

function mountsOf({ command, host, image, orders }: ContainerPlan): readonly Mount[] {
  const users = ["passwd", "group"].map((file) => ({ source: join(orders, file), target: `/etc/${file}` }));
  const doors = command.door === undefined ? [] : [dirname(command.door.socketPath)];
  const readable = [...doors, ...command.readable].filter((path) => path !== process.execPath);
  return [
    ...(host.isRootInside ? [] : users),
    ...readable.flatMap((source) => withRealPath(source).map((target) => ({ source, target }))),
    ...command.writable.map((path) => ({ source: path, target: path, isWritable: true })),
    ...runtimeMounts(image.needsLibraries),
    { source: orders, target: ORDERS_INSIDE },
  ];
}

/** A program finds its own files by their real path. */
function withRealPath(path: string): readonly string[] {
  return existsSync(path) ? [...new Set([path, realpathSync(path)])] : [path];
}
