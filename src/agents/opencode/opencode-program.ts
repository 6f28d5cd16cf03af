import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * The program from the package for this machine. `opencode-ai` starts a copy that an install script makes, and Errand
 * runs no install scripts. npm installs what fits the machine; of two packages, one is for older processors.
 */
export function opencodeProgram(directory: string): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const base = `opencode-${platform}-${process.arch}`;
  const candidates = [base, `${base}-musl`, `${base}-baseline`, `${base}-baseline-musl`];
  const paths = candidates.map((name) => join(directory, "node_modules", name, "bin", "opencode"));
  return paths.find((path) => existsSync(path)) ?? join(directory, "node_modules", base, "bin", "opencode");
}
