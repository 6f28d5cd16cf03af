import { statfs } from "node:fs/promises";
import { GIBIBYTE } from "../core/basics/byte-units.ts";
import { type Check, fail, ok, warn } from "../core/ports/check.ts";

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
