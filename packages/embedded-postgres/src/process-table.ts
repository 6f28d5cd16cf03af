import { readFile } from "node:fs/promises";
import { outputOf, spawnProgram } from "./programs.ts";

/**
 * The arguments of a living process, joined by spaces. Empty for a process that is gone, or that is dead and only
 * waits for its parent (in a container it may wait for ever, and signal 0 would still find it).
 */
export async function commandLineOf(pid: number): Promise<string> {
  if (process.platform === "linux") {
    const words = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    return words.replaceAll("\0", " ").trim();
  }
  // Other systems pass no inherited descriptor to programs.
  const ps = spawnProgram("ps", ["-ww", "-p", String(pid), "-o", "command="], {});
  return (await outputOf("ps", ps).catch(() => "")).trim();
}
