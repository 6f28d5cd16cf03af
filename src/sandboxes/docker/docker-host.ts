import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { z } from "zod";
import { type DockerCli, DockerError } from "./docker-cli.ts";

/** Facts about a daemon that are needed before containers are created. */
export interface DockerHost {
  readonly cpus: number;
  /** The directory in which the daemon stores images. */
  readonly imageRoot: string | undefined;
  /** Arguments that make files of the container belong to this process's user, and let it read that user's files. */
  readonly userArgs: readonly string[];
  /** Whether programs inside run as root of the container. */
  readonly isRootInside: boolean;
}

const info = z.object({
  NCPU: z.number().optional(),
  SecurityOptions: z.array(z.string()).nullish(),
  DockerRootDir: z.string().optional(),
});
const podmanInfo = z.object({
  host: z.object({ cpus: z.number().optional(), security: z.object({ rootless: z.boolean() }) }),
  store: z.object({ graphRoot: z.string() }).optional(),
});

/** Fails with a `DockerError` when there is no answer. */
export async function describeHost(cli: DockerCli): Promise<DockerHost> {
  const answer: unknown = JSON.parse(await cli.call(["info", "--format", "{{json .}}"]));
  const podman = podmanInfo.safeParse(answer);
  if (podman.success) {
    return { ...podmanHost(podman.data.host), imageRoot: podman.data.store?.graphRoot };
  }
  const { DockerRootDir: imageRoot, NCPU, SecurityOptions } = info.parse(answer);
  // The docker program also succeeds without a daemon.
  if (NCPU === undefined || NCPU === 0) {
    throw new DockerError("Cannot connect to the docker daemon.");
  }
  const isRootless = SecurityOptions?.some((option) => option.includes("name=rootless")) ?? false;
  return { ...dockerHost(NCPU, isRootless), imageRoot };
}

/** With rootless docker, root of a container is the user who runs the daemon. Other ids belong to no user. */
function dockerHost(cpus: number, isRootless: boolean): Omit<DockerHost, "imageRoot"> {
  if (isRootless) {
    return { cpus, userArgs: ["--user", "0:0"], isRootInside: true };
  }
  return { cpus, userArgs: asOwnUser(), isRootInside: process.getuid?.() === 0 };
}

function podmanHost({
  cpus = availableParallelism(),
  security,
}: z.infer<typeof podmanInfo>["host"]): Omit<DockerHost, "imageRoot"> {
  const mapping = security.rootless ? ["--userns", "keep-id"] : [];
  return { cpus, userArgs: [...mapping, ...asOwnUser()], isRootInside: process.getuid?.() === 0 };
}

function asOwnUser(): readonly string[] {
  return ["--user", `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`];
}

/** The libraries that our Node needs and slim images lack, by the names under which Node looks for them. */
export function nodeLibraries(): ReadonlyMap<string, string> {
  const found = readFileSync("/proc/self/maps", "utf8").matchAll(
    /\s(\/\S*\/(libstdc\+\+|libgcc_s|libatomic)[^/\s]*\.so\.(\d+)\S*)$/gm,
  );
  return new Map([...found].map(([, path = "", name, version]) => [`${name}.so.${version}`, path]));
}
