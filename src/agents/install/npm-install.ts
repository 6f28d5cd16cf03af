import { startProgram } from "../../child-process/start-program.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { NpmPackage } from "../agent-definition.ts";

/** How much of the end of npm's output is kept. */
const LAST_OUTPUT_CHARS = 1_000;

export interface NpmInstall {
  readonly npmPackage: Pick<NpmPackage, "name" | "version">;
  /** The target directory, which contains nothing but `package.json` and `package-lock.json`. */
  readonly directory: string;
  /** npm's home directory for this installation. */
  readonly home: string;
  /** PATH, and the settings that lead npm to its registry. None of our keys. */
  readonly variables: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

const TIMEOUT_MINUTES = 15;

const FLAGS = [
  // npm runs outside of every sandbox, so no program of a package may run.
  "--ignore-scripts",
  // Also where the operator's settings for npm turn it off.
  "--package-lock",
  ...["--no-audit", "--no-fund", "--no-update-notifier", "--no-global"],
  ...["--omit=dev", "--loglevel=error", "--no-progress"],
];

/**
 * Installs what the lockfile of a directory names, and nothing else: npm refuses a package whose checksum differs. Fails
 * with `environment_setup_failed` and npm's last output.
 */
export async function npmInstall(install: NpmInstall): Promise<void> {
  const {
    npmPackage: { name, version },
    directory,
    signal,
  } = install;
  const args = ["ci", "--prefix", directory, ...FLAGS];
  const ending = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MINUTES * 60_000)]);
  const env = { npm_config_cache: `${install.home}/cache`, ...install.variables, HOME: install.home };
  const npm = startProgram("npm", args, { cwd: directory, env, signal: ending });
  npm.stdin.on("error", () => undefined).end();
  let said = "";
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      said = (said + text).slice(-4 * LAST_OUTPUT_CHARS);
    });
  }
  const { promise: ended, resolve } = Promise.withResolvers<string | undefined>();
  npm.once("error", (error) => resolve(reasonOf(error, signal.aborted)));
  npm.once("close", (code) => resolve(code === 0 ? undefined : lastWords(said, code)));
  const problem = await ended;
  if (problem !== undefined) {
    throw failed(`${name}@${version}`, problem);
  }
}

function failed(what: string, problem: string): AppError {
  return new AppError(
    "environment_setup_failed",
    `The agent's package ${what} could not be installed. ${problem}`,
    {
      remedy:
        "Check that this machine reaches the npm registry (npm_config_registry, HTTPS_PROXY) and has room on its disk.",
    },
  );
}

function reasonOf(error: Error, isStopped: boolean): string {
  if ("code" in error && error.code === "ENOENT") {
    return "There is no program npm on the PATH: install Node.js together with npm.";
  }
  if (error.name !== "AbortError") {
    return error.message;
  }
  return isStopped ? "The installation was stopped." : `npm did not end within ${TIMEOUT_MINUTES} minutes.`;
}

function lastWords(said: string, code: number | null): string {
  const output = withoutCredentials(said).trim().slice(-LAST_OUTPUT_CHARS);
  return output === "" ? `npm ended with exit code ${code}.` : `npm reported: ${output}`;
}

/** The address of a registry may contain a name and a password, and npm prints settings in its errors. */
function withoutCredentials(text: string): string {
  return text
    .replace(/\/\/[^/@\s]+@/g, "//…@")
    .replace(/(_auth\w*|_password|password|token)(\s*[=:]\s*)\S+/gi, "$1$2…")
    .replace(/\bnpm_[A-Za-z0-9]{20,}/g, "…");
}
