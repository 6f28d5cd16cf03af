import type { Dirent, Stats } from "node:fs";
import { type FileHandle, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Header, type HeaderData, Pack, ReadEntry } from "tar";
import { identityOf } from "./base-manifest.ts";
import {
  isTooDeep,
  OpenDirectory,
  type OpenEntry,
  shownPath,
  TOO_DEEP,
  type Unstorable,
} from "./open-directory.ts";
import type { PackedFile, TooLargeFiles } from "./too-large-files.ts";

export interface ArchiveLimits {
  /** The limit of the compressed archive. */
  readonly maxBytes: number;
  /** The limit of the files in it, because a disk full of zeros compresses well. */
  readonly maxUnpackedBytes: number;
}

export class ArchiveTooLarge extends Error {
  override readonly name = "ArchiveTooLarge";

  constructor({ maxBytes, maxUnpackedBytes }: ArchiveLimits) {
    super(`over ${maxBytes} bytes, or ${maxUnpackedBytes} bytes unpacked`);
  }
}

/** Called with each entry that cannot be stored. */
export type ReportUnstorable = (path: string, reason: string) => void;

export interface PackOptions {
  /** Only these entries are looked at, and only below such directories. By default all. */
  readonly isWanted?: (path: string) => boolean;
  readonly isLeftOut?: (path: string, stat: Stats) => boolean;
  readonly report?: ReportUnstorable;
  /** Called with each entry before its content is read, also if it is left out. */
  readonly onEntry?: (path: string, stat: Stats) => void;
  readonly signal?: AbortSignal | undefined;
  /** What was too large in this process. */
  readonly tooLarge?: TooLargeFiles | undefined;
}

const READ_BYTES = 2 ** 20;
/** An archive may exceed its limits by this part until it is given up, so that small changes do not make it fit. */
const EXCESS = 1 / 64;

/**
 * Packs members of a directory as a gzipped tar. Symbolic links stay links and are not followed. Devices, files that
 * cannot be read and files in too many folders are left out and reported. Sockets, pipes, and files that disappear or are replaced meanwhile are left
 * out without a report. The tar library does not collect the files, because it opens them by path: an agent may change
 * files at any time, and a hostile one could redirect paths to our own files.
 */
export async function packDirectory(
  directory: string,
  members: readonly string[],
  limits: ArchiveLimits,
  options: PackOptions = {},
): Promise<Uint8Array> {
  const { signal, tooLarge } = options;
  const isPacked = (path: string, stat: Stats) => isMember(path, stat, members, options);
  const known = await tooLarge?.measure(directory, isPacked);
  if (known !== undefined && exceeds(limits, known.packedBytes, known.bytes)) {
    throw new ArchiveTooLarge(limits);
  }
  const packing = new Packing(limits, signal);
  try {
    for await (const entry of entriesBelow(await realpath(directory), members, options)) {
      await packing.add(entry);
    }
    return await packing.end();
  } catch (error) {
    if (error instanceof ArchiveTooLarge) {
      tooLarge?.set(directory, packing.files);
    }
    throw error;
  }
}

function exceeds(
  { maxBytes, maxUnpackedBytes }: ArchiveLimits,
  bytes: number,
  unpackedBytes: number,
): boolean {
  return bytes > maxBytes || unpackedBytes > maxUnpackedBytes;
}

/** Whether `entriesBelow` yields the file. */
function isMember(
  path: string,
  stat: Stats,
  members: readonly string[],
  { isLeftOut, isWanted }: PackOptions,
): boolean {
  for (let above = path; above !== "."; above = dirname(above)) {
    if (isWanted?.(above) === false || isLeftOut?.(above, stat) === true) {
      return false;
    }
  }
  return members.some((member) => path === member || path.startsWith(`${member}/`));
}

interface Entry extends OpenEntry {
  readonly path: string;
}

/** Directories come before their content. A file is open until the next entry is requested. */
async function* entriesBelow(
  root: string,
  members: readonly string[],
  { isLeftOut, isWanted, onEntry, report }: PackOptions,
): AsyncGenerator<Entry> {
  const paths = [""];
  for (const above of paths) {
    const opened = await OpenDirectory.open(root, above);
    if (opened !== undefined && "unstorable" in opened) {
      report?.(shownPath(above), opened.unstorable);
      continue;
    }
    await using directory = opened;
    for (const listed of await listOf(directory, above === "" ? members : undefined)) {
      const path = join(above, listed.name);
      const held = isWanted?.(path) === false ? undefined : await look(directory, path, listed);
      if (held !== undefined && "unstorable" in held) {
        report?.(shownPath(path), held.unstorable);
        continue;
      }
      await using _file = held?.file;
      if (held === undefined) {
        continue;
      }
      onEntry?.(path, held.stat);
      if (isLeftOut?.(path, held.stat) === true) {
        continue;
      }
      if (held.stat.isDirectory()) {
        paths.push(path);
      }
      yield { ...held, path };
    }
  }
}

async function look(
  directory: OpenDirectory | undefined,
  path: string,
  listed: Dirent,
): Promise<OpenEntry | Unstorable | undefined> {
  return isTooDeep(path) ? TOO_DEEP : directory?.look(listed);
}

async function listOf(
  directory: OpenDirectory | undefined,
  members: readonly string[] | undefined,
): Promise<readonly Dirent[]> {
  const listed = (await directory?.list()) ?? [];
  if (members === undefined) {
    return listed;
  }
  const missing = members.find((member) => !listed.some(({ name }) => name === member));
  if (missing !== undefined) {
    throw new Error(`There is no ${missing} to be packed.`);
  }
  return listed.filter(({ name }) => members.includes(name));
}

class Packing {
  /** The files so far, by path. */
  readonly files = new Map<string, PackedFile>();
  readonly #limits: ArchiveLimits;
  readonly #signal: AbortSignal | undefined;
  readonly #pack = new Pack({ gzip: true, strict: true });
  readonly #ended = Promise.withResolvers<void>();
  readonly #chunks: Buffer[] = [];
  /** The first path of a file with several names. */
  readonly #firsts = new Map<string, string>();
  #bytes = 0;
  #unpackedBytes = 0;

  constructor(limits: ArchiveLimits, signal: AbortSignal | undefined) {
    this.#limits = limits;
    this.#signal = signal;
    this.#ended.promise.catch(() => undefined);
    this.#pack.on("error", this.#ended.reject);
    this.#pack.on("end", this.#ended.resolve);
    this.#pack.on("data", (chunk) => {
      this.#chunks.push(chunk);
      this.#bytes += chunk.length;
    });
  }

  async add({ file, path, stat, target }: Entry): Promise<void> {
    const { mode, mtime } = stat;
    const about = { path, mode: mode & 0o7777, mtime: wholeSeconds(mtime) };
    if (target !== undefined) {
      return this.#write({ ...about, type: "SymbolicLink", linkpath: target });
    }
    if (file === undefined) {
      return this.#write({ ...about, type: "Directory" });
    }
    const first = this.#firstOf(path, stat);
    if (first !== undefined) {
      return this.#write({ ...about, type: "Link", linkpath: first });
    }
    this.#unpackedBytes += stat.size;
    const before = this.#bytes;
    try {
      await this.#write({ ...about, type: "File", size: stat.size }, file);
    } finally {
      const packedBytes = this.#bytes - before;
      this.files.set(path, { identity: identityOf(stat), packedBytes, bytes: stat.size });
    }
  }

  async end(): Promise<Uint8Array> {
    this.#pack.end();
    await this.#ended.promise;
    this.#requireRoom(0);
    return Buffer.concat(this.#chunks);
  }

  #firstOf(path: string, { dev, ino, nlink }: Stats): string | undefined {
    if (nlink === 1) {
      return undefined;
    }
    const key = `${dev}:${ino}`;
    const first = this.#firsts.get(key);
    if (first === undefined) {
      this.#firsts.set(key, path);
    }
    return first;
  }

  async #write(about: HeaderData, file?: FileHandle): Promise<void> {
    this.#requireRoom();
    const entry = new ReadEntry(new Header({ size: 0, ...about }));
    this.#pack.add(entry);
    if (file !== undefined) {
      await this.#copy(file, entry);
    }
    entry.end();
  }

  async #copy(file: FileHandle, entry: ReadEntry): Promise<void> {
    for (let left = entry.size; left > 0; ) {
      const buffer = Buffer.alloc(Math.min(READ_BYTES, left));
      const { bytesRead } = await file.read(buffer);
      // A file that has become shorter is filled with zeros, because its length is already written.
      const piece = bytesRead === 0 ? buffer : buffer.subarray(0, bytesRead);
      left -= piece.length;
      if (!entry.write(piece)) {
        await Promise.race([drained(entry), this.#ended.promise]);
      }
      this.#requireRoom();
    }
  }

  #requireRoom(excess = EXCESS): void {
    this.#signal?.throwIfAborted();
    if (exceeds(this.#limits, this.#bytes / (1 + excess), this.#unpackedBytes / (1 + excess))) {
      throw new ArchiveTooLarge(this.#limits);
    }
  }
}

/** The library cannot write fractions of seconds for distant times. */
function wholeSeconds(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1_000) * 1_000);
}

function drained(entry: ReadEntry): Promise<void> {
  return new Promise((resolve) => entry.once("drain", resolve));
}
