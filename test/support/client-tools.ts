import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const OUTPUT_BYTES_MAX = 16 * 2 ** 20;

/** Runs a program in `cwd` and returns its output. The error of one that fails contains its output. */
export async function runIn(cwd: string, command: string, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await run(command, args, { cwd, maxBuffer: OUTPUT_BYTES_MAX });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = Object(error);
    throw new Error(`${command} ${args.join(" ")}\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** Why `python3` cannot make environments on this machine, or undefined. In CI nothing is skipped. */
export async function reasonToSkipPython(): Promise<string | undefined> {
  try {
    await runIn(".", "python3", "-c", "import ensurepip, venv");
    return undefined;
  } catch (error) {
    if (process.env.CI === "true") {
      throw error;
    }
    return "there is no python3 with venv";
  }
}

/** Installs packages into an environment of their own and returns the folder of its programs. */
export async function pythonWith(directory: string, ...packages: string[]): Promise<string> {
  await runIn(".", "python3", "-m", "venv", directory);
  const programs = join(directory, "bin");
  await runIn(
    directory,
    join(programs, "pip"),
    "install",
    "--quiet",
    "--disable-pip-version-check",
    ...packages,
  );
  return programs;
}

export async function npmWith(directory: string, ...packages: string[]): Promise<string> {
  await mkdir(directory, { recursive: true });
  await runIn(directory, "npm", "install", "--no-audit", "--no-fund", "--prefix", directory, ...packages);
  return join(directory, "node_modules/.bin");
}
