import { randomBytes } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isOrphan } from "../linux-processes.ts";
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

/** Short, because it contains sockets, and the kernel accepts at most 107 characters in the path of a socket. */
const FOLDER = "sandboxes";
const NAME_BYTES = 4;

const MARKER_FILE = "owner";

/** Creates a directory for the files of one container. */
export async function makeContainerFolder(dataDir: string, marker: string): Promise<string> {
  const folder = join(dataDir, FOLDER, randomBytes(NAME_BYTES).toString("hex"));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, MARKER_FILE), marker);
  return folder;
}

/** Removes what killed workers left. */
export async function sweepContainerFolders(dataDir: string): Promise<void> {
  const folders = (await readdir(join(dataDir, FOLDER)).catch(() => [])).map((name) =>
    join(dataDir, FOLDER, name),
  );
  for (const folder of folders) {
    const marker = await readFile(join(folder, MARKER_FILE), "utf8").catch(() => "");
    if (await isOrphan(marker, dataDir)) {
      await rm(folder, { recursive: true, force: true });
    }
  }
}
