import { statfs } from "node:fs/promises";
import { ProgramError, runProgram } from "../child-process/run-program.ts";
import { KIBIBYTE } from "../core/basics/byte-units.ts";

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
