import { constants } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import { join } from "node:path";

/** Why a file is left out, in words for people. */
export class NotCollected extends Error {
  override readonly name = "NotCollected";
}

/**
 * The content of a file below `root`, which must be a real path. Untrusted processes may rename files meanwhile. So
 * the opened file is used only if it is the one at that path, and no link can lead to a file of ours. Pipes are not
 * waited for, and a growing file is read only up to its initial size.
 */
export async function readInside(root: string, path: string, maxBytes: number): Promise<Buffer> {
  const file = await openFile(join(root, path));
  try {
    const { dev, ino, size } = await regular(file);
    const place = join(root, path);
    if ((await realpath(place)) !== place) {
      throw new NotCollected("is reached by a link");
    }
    const there = await lstat(place);
    if (there.dev !== dev || there.ino !== ino) {
      throw new NotCollected("was being replaced");
    }
    if (size > maxBytes) {
      throw new NotCollected(`is larger than ${Math.floor(maxBytes / 2 ** 20)} MiB`);
    }
    return await readAll(file, size);
  } finally {
    await file.close();
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    const isLink = cause instanceof Error && "code" in cause && cause.code === "ELOOP";
    throw new NotCollected(isLink ? "is a link" : "cannot be read", { cause });
  }
}

async function regular(file: FileHandle): Promise<{ dev: number; ino: number; size: number }> {
  const stat = await file.stat();
  if (!stat.isFile()) {
    throw new NotCollected("is no file");
  }
  return stat;
}

async function readAll(file: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    const { bytesRead } = await file.read(bytes, length, size - length, length);
    if (bytesRead === 0) {
      break;
    }
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}
