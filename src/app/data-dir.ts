import { access, constants, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { StartupError } from "../core/basics/errors.ts";
import { reasonOf } from "./system.ts";

/** Makes the data directory if it is missing. Rejects with a `StartupError` if it is not all this user's. */
export async function makeDataDir(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StartupError(`ERRAND_DATA_DIR=${path} cannot be made: ${reasonOf(error)}`);
  }
  if (!(await mayUse(path, constants.R_OK | constants.W_OK | constants.X_OK))) {
    throw new StartupError(`ERRAND_DATA_DIR=${path} may not be written by this user. ${REMEDY}`);
  }
  for (const name of NEEDED) {
    if (!(await mayUse(join(path, name), constants.R_OK))) {
      throw new StartupError(
        `ERRAND_DATA_DIR=${path} contains ${name}, which this user may not read. ${REMEDY}`,
      );
    }
  }
}

/** What every start reads, if it exists. */
const NEEDED = ["api-key", "secret-key", "disk-id", "postgres"];
const REMEDY = "Start Errand as its owner, or name another directory.";

/** True also for what does not exist. */
async function mayUse(path: string, mode: number): Promise<boolean> {
  try {
    await access(path, mode);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT";
  }
}
