import { execFile } from "node:child_process";
import { mkdtemp, open, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const PIECE = Buffer.alloc(64 * 1024);
const SMALLEST = Buffer.alloc(512);

/** A file system of a few megabytes, in memory, that a test can fill. */
export interface SmallDisk {
  readonly path: string;
  /** Takes all the room that is left. */
  fill(): Promise<void>;
  /** Gives the room back. */
  free(): Promise<void>;
  unmount(): Promise<void>;
}

export async function mountSmallDisk(megabytes: number): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), "errand-disk-"));
  await run("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=0711`, "tmpfs", path]);
  const ballast = join(path, "ballast");
  return {
    path,
    fill: () => fill(ballast),
    free: () => rm(ballast, { force: true }),
    unmount: async () => {
      await run("umount", ["--lazy", path]);
      await rmdir(path);
    },
  };
}

/** Why tests that need such a disk are skipped on this machine, or undefined. In CI nothing is skipped. */
export async function reasonToSkipSmallDisk(): Promise<string | undefined> {
  try {
    await (await mountSmallDisk(1)).unmount();
    return undefined;
  } catch (error) {
    const reason = `no file system can be mounted: ${error instanceof Error ? error.message.trim() : error}`;
    if (process.env.CI === "true") {
      throw new Error(`Tests must be able to mount a file system where CI=true: ${reason}`, { cause: error });
    }
    return reason;
  }
}

async function fill(path: string): Promise<void> {
  const file = await open(path, "a");
  try {
    for (const piece of [PIECE, SMALLEST]) {
      while (await isWritten(file, piece)) {}
    }
  } finally {
    await file.close();
  }
}

async function isWritten(file: Awaited<ReturnType<typeof open>>, piece: Buffer): Promise<boolean> {
  try {
    const { bytesWritten } = await file.write(piece);
    return bytesWritten === piece.length;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOSPC") {
      return false;
    }
    throw error;
  }
}
