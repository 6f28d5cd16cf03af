import { runProgram } from "../../child-process/run-program.ts";
import type { SandboxLimits } from "../sandbox-limits.ts";

/**
 * Limits that the kernel enforces without cgroups. They are set on the sandbox's first process and inherited by all
 * others. The kernel counts only processes of the sandbox, because it has its own user namespace; it does not count
 * those of root. RLIMIT_AS cannot limit memory, because programs that reserve address space, such as Node, fail at
 * once.
 */
export async function limitProcess(pid: number, { fileBytes, processes }: SandboxLimits): Promise<void> {
  const limits = [`--fsize=${fileBytes}`, `--nproc=${processes}`, "--core=0"];
  await runProgram("prlimit", ["--pid", String(pid), ...limits], { env: {} });
}
