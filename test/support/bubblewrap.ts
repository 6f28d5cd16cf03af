import { tmpdir } from "node:os";
import { createBubblewrapSandbox } from "../../src/sandboxes/bubblewrap/bubblewrap-sandbox.ts";
import type { Sandbox } from "../../src/sandboxes/sandbox.ts";
import { DEFAULT_SANDBOX_LIMITS, type SandboxLimits } from "../../src/sandboxes/sandbox-limits.ts";

export function bubblewrapIn(dataDir: string, limits: Partial<SandboxLimits> = {}): Sandbox {
  return createBubblewrapSandbox({ dataDir, limits: { ...DEFAULT_SANDBOX_LIMITS, ...limits } });
}

/** Why tests of bubblewrap are skipped on this machine, or undefined. In CI nothing is skipped. */
export async function reasonToSkipBubblewrap(): Promise<string | undefined> {
  const problem = await bubblewrapIn(tmpdir()).unavailable();
  if (problem !== undefined && process.env.CI === "true") {
    throw new Error(`bubblewrap must be usable where CI=true: ${problem}`);
  }
  return problem;
}

/** Why its limits of memory and processors cannot be tested on this machine, or undefined. */
export async function reasonToSkipCgroups(): Promise<string | undefined> {
  const [weakness] = await bubblewrapIn(tmpdir()).weaknesses();
  if (weakness !== undefined && process.env.CI === "true") {
    throw new Error(`cgroups must be there where CI=true: ${weakness}`);
  }
  return weakness;
}
