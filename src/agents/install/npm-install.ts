import { startProgram } from "../../child-process/start-program.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { NpmPackage } from "../agent-definition.ts";

/** How much of the end of npm's output is kept. */
const LAST_OUTPUT_CHARS = 1_000;

export interface NpmCall {
  /** npm's working directory. */
  readonly directory: string;
  /** npm's home directory for this call. */
  readonly home: string;
  /** PATH, and the settings that lead npm to its registry. None of our keys. */
  readonly variables: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** The directory contains nothing but `package.json` and `package-lock.json`. */
export interface NpmInstall extends NpmCall {
  readonly npmPackage: Pick<NpmPackage, "name" | "version">;
}

const TIMEOUT_MINUTES = 15;

/** npm runs outside of every sandbox, so no program of a package may run. */
const NO_SCRIPTS = "--ignore-scripts";

const FLAGS = [
  NO_SCRIPTS,
  // Also where the operator's settings for npm turn it off.
  "--package-lock",
  ...["--no-audit", "--no-fund", "--no-update-notifier", "--no-global"],
  ...["--omit=dev", "--loglevel=error", "--no-progress"],
];

const LOCK_FLAGS = [
  ...[NO_SCRIPTS, "--package-lock", "--package-lock-only", "--omit-lockfile-registry-resolved"],
  ...["--no-audit", "--no-fund", "--no-update-notifier", "--no-global", "--loglevel=error", "--no-progress"],
];

/**
 * Installs what the lockfile of a directory names, and nothing else: npm refuses a package whose checksum differs. Fails
 * with `environment_setup_failed` and npm's last output.
 */
export async function npmInstall({ npmPackage: { name, version }, ...call }: NpmInstall): Promise<void> {
  const what = `The agent's package ${name}@${version} could not be installed.`;
  await runNpm(["ci", "--prefix", call.directory, ...FLAGS], call, what);
}

/** Writes the `package-lock.json` of the `package.json` in a directory, without addresses of a registry. */
export async function npmLock(call: NpmCall): Promise<void> {
  const what = "The dependencies of the agent's package could not be resolved.";
  await runNpm(["install", "--prefix", call.directory, ...LOCK_FLAGS], call, what);
}

/** The newest version of a package, as its publisher tagged it. */
export async function npmNewest(name: string, call: NpmCall): Promise<string> {
  const args = ["view", `${name}@latest`, "version", "--loglevel=error", "--no-update-notifier"];
  return (await runNpm(args, call, `The newest version of ${name} could not be read.`)).trim();
}

/** Returns what npm wrote to its standard output. `what` begins the message of a failure. */
async function runNpm(args: readonly string[], call: NpmCall, what: string): Promise<string> {
  const { directory, home, signal, variables } = call;
  const ending = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MINUTES * 60_000)]);
  const env = { npm_config_cache: `${home}/cache`, ...variables, HOME: home };
  const npm = startProgram("npm", args, { cwd: directory, env, signal: ending });
  npm.stdin.on("error", () => undefined).end();
  let [answer, said] = ["", ""];
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      said = (said + text).slice(-4 * LAST_OUTPUT_CHARS);
    });
  }
  npm.stdout.on("data", (text: string) => {
    answer = (answer + text).slice(-LAST_OUTPUT_CHARS);
  });
  const { promise: ended, resolve } = Promise.withResolvers<string | undefined>();
  npm.once("error", (error) => resolve(reasonOf(error, signal.aborted)));
  npm.once("close", (code) => resolve(code === 0 ? undefined : lastWords(said, code)));
  const problem = await ended;
  if (problem !== undefined) {
    throw failed(what, problem);
  }
  return answer;
}

function failed(what: string, problem: string): AppError {
  return new AppError("environment_setup_failed", `${what} ${problem}`, {
    remedy:
      "Check that this machine reaches the npm registry (npm_config_registry, HTTPS_PROXY) and has room on its disk.",
  });
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
