import { constants, type Dirent, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** Linux leads through it to what is held open, whatever has become of the path by which it was opened. */
const HELD = process.platform === "linux" ? "/proc/self/fd" : undefined;
/** There is nothing there, or something else by now: a link, no directory, a socket, no link. */
const GONE = ["ENOENT", "ELOOP", "ENOTDIR", "ENXIO", "EINVAL"];

/** What lies in a directory; a file is open. */
export interface Held {
  readonly stat: Stats;
  readonly file?: FileHandle;
  /** Of a symbolic link. */
  readonly target?: string;
}

/**
 * A directory that processes we do not trust may change while we look: what is reached through it lies in it. Links are not
 * followed, neither on the way to it nor in it, and pipes are not waited for. Without Linux, the way to it is not held.
 */
export class HeldDirectory implements AsyncDisposable {
  readonly #file: FileHandle;
  readonly #place: string;

  private constructor(file: FileHandle, place: string) {
    this.#file = file;
    this.#place = place;
  }

  /** `root` must be a real path. Undefined: there is no such directory any more. */
  static async open(root: string, path: string): Promise<HeldDirectory | undefined> {
    const place = join(root, path);
    const file = await openNow(place, O_DIRECTORY);
    if (file === undefined) return undefined;
    const directory = new HeldDirectory(file, HELD === undefined ? place : join(HELD, String(file.fd)));
    if (HELD === undefined || (await readlink(directory.#place)) === place) return directory;
    await file.close();
    return undefined;
  }

  list(): Promise<readonly Dirent[]> {
    return readdir(this.#place, { withFileTypes: true });
  }

  /** What was listed, to be closed by whoever looks. Undefined: no file, directory or symbolic link, or gone. */
  async look(listed: Dirent): Promise<Held | undefined> {
    const place = join(this.#place, listed.name);
    if (listed.isFile()) return lookInto(place);
    const stat = await lstat(place).catch(goneOr);
    if (stat?.isDirectory()) return { stat };
    if (!stat?.isSymbolicLink()) return undefined;
    const target = await readlink(place).catch(goneOr);
    return target === undefined ? undefined : { stat, target };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

/** It may have become something else since it was listed. */
async function lookInto(place: string): Promise<Held | undefined> {
  const file = await openNow(place);
  const stat = await file?.stat();
  if (file !== undefined && stat?.isFile()) return { file, stat };
  await file?.close();
  return undefined;
}

function openNow(place: string, flags = 0): Promise<FileHandle | undefined> {
  return open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | flags).catch(goneOr);
}

function goneOr(error: unknown): undefined {
  if (error instanceof Error && "code" in error && GONE.includes(String(error.code))) return undefined;
  throw error;
}
