import { posix } from "node:path";
import { TMP_BYTES } from "../sandbox-limits.ts";
import { ImageError } from "./docker-cli.ts";

const VOLUMES_MAX = 50;
const PATH_LENGTH_MAX = 1_000;

/** Without control characters. */
const PATH = /^\/[^\p{Cc}]+$/u;

/**
 * The directories that an image declares as volumes. Docker would store them on the host's disk, where no limit of the
 * run applies, and would copy the image's files into them.
 */
export function volumesOf(
  image: string,
  declared: Readonly<Record<string, unknown>> | null | undefined,
): readonly string[] {
  const paths = new Set(Object.keys(declared ?? {}).map((path) => posix.resolve("/", path)));
  if (paths.size > VOLUMES_MAX) {
    throw new ImageError(`The image ${image} declares more than ${VOLUMES_MAX} volumes.`);
  }
  const invalid = [...paths].find((path) => !PATH.test(path) || path.length > PATH_LENGTH_MAX);
  if (invalid !== undefined) {
    throw new ImageError(`The image ${image} declares a volume that no container can have.`);
  }
  return [...paths];
}

/**
 * Puts memory of the run at these paths, in which no program can be started. The option `--tmpfs` does not replace a
 * volume: docker then creates both.
 */
export function volumeArgs(volumes: readonly string[]): readonly string[] {
  return volumes.flatMap((path) => [
    ...["--mount", `type=tmpfs,${quoted(`target=${path}`)},tmpfs-size=${TMP_BYTES},tmpfs-mode=1777`],
  ]);
}

/** The fields form a line of CSV, in which a quote is doubled. */
export function quoted(field: string): string {
  return /[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
