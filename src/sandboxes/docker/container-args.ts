import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { FORWARDER } from "../port-forward.ts";
import type { SandboxCommand } from "../sandbox.ts";
import type { SandboxLimits } from "../sandbox-limits.ts";
import { hardening, type Mount, mountArgs, programArgs, runtimeMounts } from "./container-runtime.ts";
import { CONTROL_SOCKET } from "./control-channel.ts";
import type { DockerHost } from "./docker-host.ts";
import type { PreparedImage } from "./docker-images.ts";

/** Where the container finds files that are only for its first program. */
const CONTROL_INSIDE = "/run/errand";

export interface ContainerPlan {
  readonly command: SandboxCommand;
  readonly name: string;
  readonly image: PreparedImage;
  readonly host: DockerHost;
  readonly limits: SandboxLimits;
  readonly labels: readonly string[];
  /** Our directory that becomes `CONTROL_INSIDE`. */
  readonly control: string;
}

/** All arguments that create a container. They contain no value of the command's environment. */
export function containerArgs(plan: ContainerPlan): readonly string[] {
  const { command, host, image, labels, limits, name } = plan;
  return [
    ...["create", "--interactive", "--init", "--pull", "never", "--name", name, "--hostname", "errand"],
    ...hardening(limits, { cpus: host.cpus, volumes: image.volumes }),
    ...host.userArgs,
    ...labels.flatMap((label) => ["--label", label]),
    ...["--workdir", command.cwd],
    ...mountArgs(mountsOf(plan), image.volumes),
    ...programArgs(image.needsLibraries),
    ...[image.name, FORWARDER, "--control", join(CONTROL_INSIDE, CONTROL_SOCKET)],
  ];
}

function mountsOf({ command, host, image, control }: ContainerPlan): readonly Mount[] {
  const users = ["passwd", "group"].map((file) => ({ source: join(control, file), target: `/etc/${file}` }));
  const portForwards = command.portForward === undefined ? [] : [dirname(command.portForward.socketPath)];
  const readable = [...portForwards, ...command.readable].filter((path) => path !== process.execPath);
  return [
    ...(host.isRootInside ? [] : users),
    ...readable.flatMap((source) => withRealPath(source).map((target) => ({ source, target }))),
    ...command.writable.map((path) => ({ source: path, target: path, isWritable: true })),
    ...(command.mounts ?? []).map((mount) => ({ ...mount, isWritable: true })),
    ...runtimeMounts(image.needsLibraries),
    { source: control, target: CONTROL_INSIDE },
  ];
}

/** A program finds its files by their real path. */
function withRealPath(path: string): readonly string[] {
  return existsSync(path) ? [...new Set([path, realpathSync(path)])] : [path];
}
