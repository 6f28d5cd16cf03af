import { constants, type Dirent, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** On Linux this path leads to an open file, whatever happened to the path by which it was opened. */
const DESCRIPTORS = process.platform === "linux" ? "/proc/self/fd" : undefined;
/** The entry is gone, or is another kind of file by now. */
const GONE = ["ENOENT", "ELOOP", "ENOTDIR", "ENXIO", "EINVAL"];
/** The entry exists, but its content cannot be read. */
const REFUSED = ["EACCES", "EPERM", "EIO", "ENAMETOOLONG"];
/** Programs fail at paths of more than 4,096 bytes, and on another worker the same path may begin with a longer one. */
const PATH_BYTES_MAX = 3_000;
const LEVELS_MAX = 200;
const SHOWN_CHARS = 200;

/** The reason why an entry cannot be stored, for people. */
export interface Unstorable {
  readonly unstorable: string;
}

const UNREADABLE: Unstorable = { unstorable: "it cannot be read" };
const DEVICE: Unstorable = { unstorable: "it is a device" };

export const TOO_DEEP: Unstorable = { unstorable: "it lies in too many folders" };

/** Whether the path, which is relative to the run directory, is longer than can be stored. Nothing below it is looked at. */
export function isTooDeep(path: string): boolean {
  return Buffer.byteLength(path) > PATH_BYTES_MAX || path.split("/").length > LEVELS_MAX;
}

/** The path for people. */
export function shownPath(path: string): string {
  return path.length > SHOWN_CHARS ? `${path.slice(0, SHOWN_CHARS)}…` : path;
}

/** An entry of a directory; a file is open. */
export interface OpenEntry {
  readonly stat: Stats;
  readonly file?: FileHandle;
  /** The target of a symbolic link. */
  readonly target?: string;
}

/**
 * A directory that untrusted processes may change meanwhile: everything that is reached through it lies inside it.
 * Links are not followed, neither on the way to it nor in it, and pipes are not waited for. Only Linux holds the path
 * to it.
 */
export class OpenDirectory implements AsyncDisposable {
  readonly #file: FileHandle;
  readonly #path: string;

  private constructor(file: FileHandle, path: string) {
    this.#file = file;
    this.#path = path;
  }

  /** `root` must be a real path. Undefined: the directory no longer exists. */
  static async open(root: string, below: string): Promise<OpenDirectory | Unstorable | undefined> {
    const path = join(root, below);
    const file = await openNow(path, O_DIRECTORY);
    if (file === undefined || "unstorable" in file) {
      return file;
    }
    const directory = new OpenDirectory(
      file,
      DESCRIPTORS === undefined ? path : join(DESCRIPTORS, String(file.fd)),
    );
    if (DESCRIPTORS === undefined || (await readlink(directory.#path)) === path) {
      return directory;
    }
    await file.close();
    return undefined;
  }

  list(): Promise<readonly Dirent[]> {
    return readdir(this.#path, { withFileTypes: true });
  }

  /**
   * Opens a listed entry; the caller must close it. Undefined: it is gone, or it is a pipe or a socket. Devices are not storable.
   */
  async look(listed: Dirent): Promise<OpenEntry | Unstorable | undefined> {
    const path = join(this.#path, listed.name);
    if (listed.isFile()) {
      return lookInto(path);
    }
    const stat = await lstat(path).catch(goneOr);
    if (stat?.isDirectory()) {
      return { stat };
    }
    if (!stat?.isSymbolicLink()) {
      return stat === undefined ? undefined : unstorableKind(stat);
    }
    const target = await readlink(path).catch(goneOr);
    return target === undefined ? undefined : { stat, target };
  }

  /** What is known of a listed entry without opening it. Undefined: it is gone. */
  stat({ name }: Dirent): Promise<Stats | undefined> {
    return lstat(join(this.#path, name)).catch(goneOr);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

/** It may have been replaced since it was listed. */
async function lookInto(path: string): Promise<OpenEntry | Unstorable | undefined> {
  const file = await openNow(path);
  if (file !== undefined && "unstorable" in file) {
    return file;
  }
  const stat = await file?.stat();
  if (file !== undefined && stat?.isFile()) {
    return { file, stat };
  }
  await file?.close();
  return undefined;
}

function openNow(path: string, flags = 0): Promise<FileHandle | Unstorable | undefined> {
  return open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | flags).catch((error) =>
    isRefused(error) ? UNREADABLE : goneOr(error),
  );
}

/**
 * An entry that has become a regular file since it was listed counts as gone. So do pipes and sockets, because they mean
 * nothing without the process that made them.
 */
function unstorableKind(stat: Stats): Unstorable | undefined {
  if (stat.isFile()) {
    return undefined;
  }
  return stat.isFIFO() || stat.isSocket() ? undefined : DEVICE;
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && "code" in error && REFUSED.includes(String(error.code));
}

function goneOr(error: unknown): undefined {
  if (error instanceof Error && "code" in error && GONE.includes(String(error.code))) {
    return undefined;
  }
  throw error;
}
