import type { Stats } from "node:fs";
import { chmod, realpath, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { create, extract, type ReadEntry } from "tar";

export interface ArchiveLimits {
  /** Of the compressed archive. */
  readonly maxBytes: number;
  /** Of the files in it; a disk full of zeros compresses to little. */
  readonly maxUnpackedBytes: number;
}

/** Of a packing under which files change. */
const TRIES = 3;

export class ArchiveTooLarge extends Error {
  override readonly name = "ArchiveTooLarge";
}

/** The archive is damaged, or was made to write outside its directory. */
class ArchiveRefused extends Error {
  override readonly name = "ArchiveRefused";
}

/**
 * A gzip'd tar of the members of a directory. Symbolic links are kept as links and not followed. Sockets, pipes and
 * devices are left out: they mean nothing on another worker.
 */
export async function packDirectory(
  directory: string,
  members: readonly string[],
  limits: ArchiveLimits,
  isLeftOut: (path: string, stat: Stats) => boolean = () => false,
): Promise<Uint8Array> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await packOnce(directory, members, limits, isLeftOut);
    } catch (error) {
      // An agent that lives on between its turns tidies up when it likes.
      if (!isOfChange(error) || tries === TRIES) throw error;
    }
  }
}

/** A file was gone when it was looked at, or shorter than it had been. */
function isOfChange(error: unknown): boolean {
  return error instanceof Error && "code" in error && ["ENOENT", "EOF"].includes(String(error.code));
}

async function packOnce(
  directory: string,
  members: readonly string[],
  limits: ArchiveLimits,
  isLeftOut: (path: string, stat: Stats) => boolean,
): Promise<Uint8Array> {
  let unpackedBytes = 0;
  let bytes = 0;
  const isTooLarge = () => bytes > limits.maxBytes || unpackedBytes > limits.maxUnpackedBytes;
  const filter = (path: string, stat: Stats | ReadEntry): boolean => {
    if (!("isFile" in stat) || !isKept(stat) || isLeftOut(path, stat)) return false;
    unpackedBytes += stat.size;
    // The library cannot write parts of seconds far from now, and of links it throws where nobody hears it.
    for (const time of ["atime", "mtime"] as const) stat[time] = wholeSeconds(stat[time]);
    return !isTooLarge();
  };
  const pack = create({ cwd: directory, gzip: true, strict: true, filter }, [...members]);
  const chunks: Buffer[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // To the last, which no loop over it does: of files that vanish each is an error, and several are looked at at a time.
  pack.on("error", reject);
  pack.on("end", resolve);
  pack.on("data", (chunk) => {
    bytes += chunk.length;
    if (!isTooLarge()) return chunks.push(chunk);
    // Not paused: the files that it has open are read to their ends, or they would stay open for ever.
    reject(
      new ArchiveTooLarge(`over ${limits.maxBytes} bytes, or ${limits.maxUnpackedBytes} bytes unpacked`),
    );
  });
  await promise;
  if (unpackedBytes > limits.maxUnpackedBytes) {
    throw new ArchiveTooLarge(`over ${limits.maxUnpackedBytes} bytes unpacked`);
  }
  return Buffer.concat(chunks);
}

function wholeSeconds(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1_000) * 1_000);
}

function isKept(stat: Stats): boolean {
  return stat.isFile() || stat.isDirectory() || stat.isSymbolicLink();
}

/**
 * Unpacks into an empty directory. What is in the archive was written by an agent, so the links are made last: while
 * files are written there is no link that could lead one of them out. (The tar library's own care would change links
 * with absolute targets, which Python environments have.)
 */
export async function unpackArchive(archive: Uint8Array, directory: string): Promise<void> {
  const found = new Found();
  await extractFiles(archive, directory, found);
  if (found.refused !== undefined) {
    throw new ArchiveRefused(`the archive holds ${found.refused}`);
  }
  const root = await realpath(directory);
  for (const { path, target } of found.links) {
    await makeLink(root, path, target);
  }
  // The deepest first: what is in a directory that may not be written to is done before the directory.
  for (const { path, mode } of found.modes.toReversed()) {
    await chmod(join(root, path), mode);
  }
}

/** What an archive's entries say that is done after the files are there. */
class Found {
  readonly links: { readonly path: string; readonly target: string }[] = [];
  readonly modes: { readonly path: string; readonly mode: number }[] = [];
  refused: string | undefined;

  /** Whether the tar library is to write this entry. */
  take({ path, type, linkpath, mode }: ReadEntry): boolean {
    if (!isInside(path) || (type === "Link" && !isInside(linkpath ?? ""))) {
      this.refused ??= `a path that leads outside: ${path}`;
      return false;
    }
    if (type === "SymbolicLink") {
      this.links.push({ path, target: linkpath ?? "" });
      return false;
    }
    if (mode !== undefined && type !== "Link") {
      this.modes.push({ path, mode: mode & 0o7777 });
    }
    return true;
  }
}

function isInside(path: string): boolean {
  return path !== "" && !path.startsWith("/") && !path.split("/").includes("..");
}

async function extractFiles(archive: Uint8Array, directory: string, found: Found): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const unpack = extract({
    cwd: directory,
    strict: true,
    preserveOwner: false,
    // Files of zeros exceed any ratio; how large the files may be was checked when they were packed.
    maxDecompressionRatio: Number.POSITIVE_INFINITY,
    filter: (_path, entry) => "type" in entry && found.take(entry),
  });
  unpack.on("error", (error: unknown) =>
    reject(new ArchiveRefused("the archive is damaged", { cause: error })),
  );
  unpack.on("close", resolve);
  unpack.end(Buffer.from(archive));
  await promise;
}

async function makeLink(root: string, path: string, target: string): Promise<void> {
  const place = join(root, path);
  if ((await realpath(dirname(place))) !== dirname(place)) {
    throw new ArchiveRefused(`the archive holds a link below another link: ${path}`);
  }
  await symlink(target, place);
}
