import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programStarts } from "./program-starts.ts";

/**
 * Starts a program of each kind, and prints which descriptors ("device:inode") each had. `unprotected` is started as Node
 * starts it.
 */
const root = await mkdtemp(join(tmpdir(), "errand-starts-"));
const [program, record] = [join(root, "npm"), join(root, "record")];
try {
  // Root starts the program of PostgreSQL as another user.
  await chmod(root, 0o777);
  await writeFile(program, `#!/bin/sh\nstat -L -c %d:%i /proc/self/fd/* > ${record} 2>/dev/null\n`);
  await chmod(program, 0o755);
  const starts = {
    unprotected: () => once(spawn(program), "close"),
    ...programStarts(program, `${root}:/usr/bin:/bin`),
  };
  const seen: Record<string, readonly string[]> = {};
  for (const [kind, start] of Object.entries(starts)) {
    await rm(record, { force: true });
    // Most starts report the program in their place as a failure.
    await Promise.try<unknown, []>(start).catch(() => undefined);
    seen[kind] = (await readFile(record, "utf8")).trim().split("\n");
  }
  process.stdout.write(JSON.stringify(seen));
} finally {
  await rm(root, { recursive: true });
}
