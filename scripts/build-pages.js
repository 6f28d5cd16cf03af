/**
 * Builds the pages into `web/dist`. npm runs it after each installation, so that two commands start a server. Without
 * the development packages there is nothing to build with. An image gets the pages from an earlier stage.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

if (existsSync(`${root}node_modules/vite`)) {
  const { status } = spawnSync("npm", ["run", "--silent", "build", "-w", "web"], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
  process.exitCode = status ?? 1;
} else {
  process.stderr.write(
    "The pages are not built, because the development packages are not installed. Run npm ci without --omit=dev.\n",
  );
}
