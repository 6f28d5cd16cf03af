import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { z } from "zod";
import { type DockerCli, DockerError } from "./docker-cli.ts";

/** What has to be known of a daemon before containers are made. */
export interface DockerHost {
  readonly cpus: number;
  /** Arguments by which what a container writes belongs to this process's user, and it can read what is that user's. */
  readonly userArgs: readonly string[];
  /** Whether programs inside are root to themselves. */
  readonly isRootInside: boolean;
}

const info = z.object({ NCPU: z.number().optional(), SecurityOptions: z.array(z.string()).nullish() });
const podmanInfo = z.object({
  host: z.object({ cpus: z.number().optional(), security: z.object({ rootless: z.boolean() }) }),
});

/** Fails with a `DockerError` when nobody answers. */
export async function describeHost(cli: DockerCli): Promise<DockerHost> {
  const told: unknown = JSON.parse(await cli.call(["info", "--format", "{{json .}}"]));
  const podman = podmanInfo.safeParse(told);
  if (podman.success) return podmanHost(podman.data.host);
  const { NCPU, SecurityOptions } = info.parse(told);
  // The docker program answers without a daemon, too, and with a success.
  if (NCPU === undefined || NCPU === 0) throw new DockerError("Cannot connect to the docker daemon.");
  return dockerHost(NCPU, SecurityOptions?.some((option) => option.includes("name=rootless")) ?? false);
}

/** The root of a container of rootless docker is the user who runs the daemon; other numbers are nobody's. */
function dockerHost(cpus: number, isRootless: boolean): DockerHost {
  if (isRootless) return { cpus, userArgs: ["--user", "0:0"], isRootInside: true };
  return { cpus, userArgs: asOwnUser(), isRootInside: process.getuid?.() === 0 };
}

function podmanHost({
  cpus = availableParallelism(),
  security,
}: z.infer<typeof podmanInfo>["host"]): DockerHost {
  const mapping = security.rootless ? ["--userns", "keep-id"] : [];
  return { cpus, userArgs: [...mapping, ...asOwnUser()], isRootInside: process.getuid?.() === 0 };
}

function asOwnUser(): readonly string[] {
  return ["--user", `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`];
}

/** The libraries that our Node needs and slim images lack, by the names under which it looks for them. */
export function nodeLibraries(): ReadonlyMap<string, string> {
  const found = readFileSync("/proc/self/maps", "utf8").matchAll(
    /\s(\/\S*\/(libstdc\+\+|libgcc_s|libatomic)[^/\s]*\.so\.(\d+)\S*)$/gm,
  );
  return new Map([...found].map(([, path = "", name, version]) => [`${name}.so.${version}`, path]));
}
