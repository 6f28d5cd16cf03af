import { openSync, readdirSync, readFileSync } from "node:fs";
import { StartupError } from "../core/basics/errors.ts";

/** The kernel's list of this process's descriptors. */
const DIRECTORY = "/proc/self/fdinfo";
const CLOSE_ON_EXEC = 0o2_000_000;
const LAST_STANDARD_STREAM = 2;

/** Each start of a program lists all numbers up to the highest inherited one. */
const HIGHEST = 16_383;
/** Descriptors above the highest inherited one that a start needs for a moment. */
const ROOM = 64;

/**
 * The descriptors that this process inherited, such as a lock held by the operator's script. Node opens its own ones
 * with the flag close-on-exec, so the others are inherited. They are read once, when the process starts. Node can
 * neither set the flag nor close them, because closing would release such a lock.
 *
 * macOS has no such list and needs none: Node's programs there inherit only what is passed to them.
 */
export const INHERITED: readonly number[] =
  process.platform === "linux" ? readdirSync(DIRECTORY).map(Number).filter(isInherited) : [];

/** What programs get in the places of inherited descriptors. */
export const NULL_DEVICE: number | "ignore" = INHERITED.length > 0 ? openSync("/dev/null", "r+") : "ignore";

/** Fails if the number of an inherited descriptor is too high to keep it from the programs that are started. */
export function refuseHighDescriptors(): void {
  const limit = Math.min(HIGHEST, openFilesLimit() - ROOM);
  const tooHigh = INHERITED.filter((descriptor) => descriptor > limit);
  if (tooHigh.length > 0) {
    throw new StartupError(
      `The server inherited file descriptors with numbers above ${limit} (${tooHigh.join(", ")}) and cannot keep them from agents: ` +
        `close them where the server is started (in bash: exec ${tooHigh[0]}>&-), or use lower numbers`,
    );
  }
}

function isInherited(descriptor: number): boolean {
  if (descriptor <= LAST_STANDARD_STREAM) {
    return false;
  }
  try {
    const info = readFileSync(`${DIRECTORY}/${descriptor}`, "utf8");
    const [, flags = ""] = /^flags:\s*([0-7]+)$/m.exec(info) ?? [];
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch (error) {
    // The descriptor by which the directory was read is closed again.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return false;
    }
    throw error;
  }
}

function openFilesLimit(): number {
  if (process.platform !== "linux") {
    return Number.POSITIVE_INFINITY;
  }
  const [, limit = "unlimited"] =
    /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
  return limit === "unlimited" ? Number.POSITIVE_INFINITY : Number(limit);
}
