import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * The program itself, from the package for this machine: what `opencode-ai` starts is a copy of it that an install
 * script makes, and ours runs none. npm installs what suits the machine; of two, one is for older processors.
 */
export function opencodeProgram(directory: string): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const base = `opencode-${platform}-${process.arch}`;
  const candidates = [base, `${base}-musl`, `${base}-baseline`, `${base}-baseline-musl`];
  const paths = candidates.map((name) => join(directory, "node_modules", name, "bin", "opencode"));
  return paths.find((path) => existsSync(path)) ?? join(directory, "node_modules", base, "bin", "opencode");
}
