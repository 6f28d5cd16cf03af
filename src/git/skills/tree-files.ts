import type { MirrorReader } from "../mirror.ts";

/** A file of a commit. */
export interface TreeFile {
  readonly path: string;
  readonly objectId: string;
  readonly sizeBytes: number;
  readonly isExecutable: boolean;
}

const LISTING_BYTES = 16 * 2 ** 20;
/** The output of `cat-file --batch` for an object besides its content. */
const HEADER_BYTES = 200;
const ENTRY = /^(?<mode>100\d{3}) blob (?<objectId>[\da-f]{40,64}) +(?<size>\d+)\t(?<path>.+)$/s;
const EXECUTABLE = "100755";

/** The regular files of a commit at and below `paths`, without links and submodules. */
export async function listTree(
  mirror: MirrorReader,
  commit: string,
  paths: readonly string[],
): Promise<readonly TreeFile[]> {
  const args = ["ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--", ...paths];
  const listing = await mirror.git(args, LISTING_BYTES);
  return listing
    .toString()
    .split("\0")
    .flatMap((entry) => fileOf(entry) ?? []);
}

/** The contents of the files, in their order. */
export async function readTreeFiles(
  mirror: MirrorReader,
  files: readonly TreeFile[],
): Promise<readonly Buffer[]> {
  if (files.length === 0) {
    return [];
  }
  const asked = files.map(({ objectId }) => `${objectId}\n`).join("");
  const maxBytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes + HEADER_BYTES, 0);
  const answer = await mirror.git(["cat-file", "--batch"], maxBytes, asked);
  let at = 0;
  return files.map(({ sizeBytes }) => {
    const begin = answer.indexOf("\n", at) + 1;
    at = begin + sizeBytes + 1;
    return answer.subarray(begin, begin + sizeBytes);
  });
}

function fileOf(entry: string): TreeFile | undefined {
  const { mode, objectId, size, path } = ENTRY.exec(entry)?.groups ?? {};
  if (objectId === undefined || path === undefined) {
    return undefined;
  }
  return { path, objectId, sizeBytes: Number(size), isExecutable: mode === EXECUTABLE };
}
