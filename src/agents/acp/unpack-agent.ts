import { access, chmod, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Sandbox } from "../../sandboxes/sandbox.ts";
import { UNPACKED, type Unpacking } from "../agent-definition.ts";

/**
 * Lets the agent unpack itself into its installation, once, for all runs. Its program runs in the sandbox like that of a
 * run. False: it failed, and the agent unpacks itself into the home of the run.
 */
export async function unpackAgent(
  sandbox: Sandbox,
  { argv, envFor }: Unpacking,
  directory: string,
): Promise<boolean> {
  const unpacked = join(directory, UNPACKED);
  if (await exists(unpacked)) {
    return true;
  }
  const target = await mkdtemp(join(directory, ".unpacking-"));
  try {
    // The user of the sandbox may be another one.
    await chmod(target, 0o777);
    const env = { HOME: target, PATH: "/usr/bin:/bin", ...envFor(target) };
    const unpacking = sandbox.spawn({ argv, env, cwd: target, writable: [target], readable: [directory] });
    unpacking.stdin.end();
    unpacking.stdout.resume();
    unpacking.stderr.resume();
    const { code } = await unpacking.exited;
    await unpacking.kill();
    if (code === 0) {
      // Another worker may have been faster.
      await rename(target, unpacked).catch(() => undefined);
    }
    return await exists(unpacked);
  } finally {
    await rm(target, { recursive: true, force: true });
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
