import { chmod, realpath, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { extract, type ReadEntry } from "tar";

/** The archive is damaged, or would write outside of its directory. */
class ArchiveRefused extends Error {
  override readonly name = "ArchiveRefused";
}

/**
 * Unpacks into an empty directory. An agent made the content, so links are created last: while files are written, no
 * link can redirect them. (The tar library's own protection would change links with absolute targets, which Python
 * environments have.)
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
  // The deepest first, because the content of a read-only directory must be finished before it.
  for (const { path, mode } of found.modes.toReversed()) {
    await chmod(join(root, path), mode);
  }
}

/** What remains to do after the files are written. */
class Found {
  readonly links: { readonly path: string; readonly target: string }[] = [];
  readonly modes: { readonly path: string; readonly mode: number }[] = [];
  refused: string | undefined;

  /** Whether the tar library should write this entry. */
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
    // Files of zeros exceed any ratio. The size of the files was checked when they were packed.
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
