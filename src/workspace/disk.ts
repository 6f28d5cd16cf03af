import { link, mkdir, readFile, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ProgramError, runProgram } from "../child-process/run-program.ts";
import { GIBIBYTE, KIBIBYTE } from "../core/basics/byte-units.ts";
import { type Check, fail, ok, warn } from "../core/ports/check.ts";

const FILE = "disk-id";

/** The id of a data directory, by which runs find the worker that has their files. Made at the first call. */
export async function diskIdOf(dataDir: string): Promise<string> {
  const path = join(dataDir, FILE);
  return (await readFile(path, "utf8").catch(() => undefined)) ?? (await makeId(dataDir, path));
}

/** A link appears with its whole content, and another process may have been first. */
async function makeId(dataDir: string, path: string): Promise<string> {
  const id = crypto.randomUUID();
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFile(`${path}.${id}`, id, { mode: 0o600 });
  await link(`${path}.${id}`, path).catch((error) => {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) {
      throw error;
    }
  });
  await rm(`${path}.${id}`);
  return readFile(path, "utf8");
}

/** A workspace may need two copies while it is unpacked. */
const WARN_BYTES = 5 * GIBIBYTE;
const FAIL_BYTES = GIBIBYTE / 2;

/** Checks the free space for workspaces and the embedded database. */
export function diskCheck(dataDir: string): Check {
  return {
    name: "disk",
    async run() {
      const { bavail, bsize } = await statfs(dataDir);
      const free = bavail * bsize;
      const message = `${(free / GIBIBYTE).toFixed(1)} GiB are free for the data directory.`;
      if (free >= WARN_BYTES) {
        return ok(message);
      }
      return (free < FAIL_BYTES ? fail : warn)(
        message,
        "Make room, or move ERRAND_DATA_DIR to a larger disk.",
      );
    },
  };
}

/**
 * The space that a file tree takes, by `du`, because a walk in this process would delay everything else. 0 if it does not
 * exist. Files may appear and disappear meanwhile, and some may be unreadable: then it is the size of the rest.
 */
export async function diskSizeOf(path: string): Promise<number> {
  const { stdout } = await runProgram("du", ["-sk", path], {}).catch((error) =>
    error instanceof ProgramError ? error.end : { stdout: "" },
  );
  return (Number.parseInt(stdout, 10) || 0) * KIBIBYTE;
}

export async function freeBytesOf(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
