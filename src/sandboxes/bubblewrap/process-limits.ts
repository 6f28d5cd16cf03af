import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { SandboxLimits } from "../sandbox-limits.ts";

/**
 * What the kernel limits without cgroups, set on the sandbox's first process and inherited by all others. Of processes
 * it counts those of the sandbox alone, since that has a user namespace of its own; those of root it does not count.
 * RLIMIT_AS is no limit of memory for us: programs that reserve address space, as Node does, die of it at once.
 */
export async function limitProcess(pid: number, { fileBytes, processes }: SandboxLimits): Promise<void> {
  const limits = [`--fsize=${fileBytes}`, `--nproc=${processes}`, "--core=0"];
  await promisify(execFile)("prlimit", ["--pid", String(pid), ...limits], { env: {} });
}
