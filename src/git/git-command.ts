import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { startProgram } from "../child-process/start-program.ts";
import { defined } from "../core/basics/defined.ts";

export interface GitCall {
  /** The git program, by name or path. */
  readonly program: string;
  readonly args: readonly string[];
  /** The repository, created by `init`. */
  readonly gitDir: string;
  /** The work tree; a bare repository has none. */
  readonly workTree?: string;
  readonly input?: string;
  readonly config?: Readonly<Record<string, string>>;
  readonly maxOutputBytes: number;
  /** The largest file that git may write, such as a pack. Git itself has no limit on what it fetches. */
  readonly maxFileBytes?: number;
  /** Called with each line of git's progress, which is then no part of its output. Git must be told to report it. */
  readonly onProgress?: (line: string) => void;
  /** Ends git and all its child processes. */
  readonly signal: AbortSignal;
}

/** The error of a failed git call. `message` is git's output without our settings. */
export class GitFailure extends Error {
  override readonly name = "GitFailure";
  readonly kind: "missing" | "failed" | "too-large" | "aborted";

  constructor(kind: GitFailure["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}

const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin";
const STDERR_CHARS = 2_000;
const NOT_FOUND_BY_SHELL = 127;
/** The shell counts in these blocks. Those of bash are twice as large outside of its POSIX mode. */
const LIMIT_BLOCK_BYTES = 512;
const LIMITED = 'ulimit -f "$0" && exec "$@"';
/** Git's message when the program that writes the pack was ended because of its size. */
const LIMIT_MET = /invalid index-pack output/i;
const BROKEN_OFF = /disconnect|RPC failed|hung up/i;

/**
 * Runs git without anything of the machine: no settings, hooks or credential helpers of its user, no terminal
 * prompts, none of our environment. Settings are passed in environment variables, so that no token appears in a
 * process list.
 */
export async function git(call: GitCall): Promise<Buffer> {
  const child = start(call);
  const abort = (): void => killGroup(child.pid);
  call.signal.addEventListener("abort", abort, { once: true });
  if (call.signal.aborted) {
    abort();
  }
  try {
    return await outcome(child, call);
  } finally {
    call.signal.removeEventListener("abort", abort);
  }
}

type Child = ChildProcessWithoutNullStreams;

function start({ program: git, args, gitDir, workTree, config = {}, maxFileBytes }: GitCall): Child {
  const [program, ...rest] =
    maxFileBytes === undefined
      ? ([git, ...args] as const)
      : (["sh", "-c", LIMITED, String(Math.ceil(maxFileBytes / LIMIT_BLOCK_BYTES)), git, ...args] as const);
  // A process group of its own, because git uses child processes for the network, which outlive it when it is killed.
  const paths = defined({ GIT_DIR: gitDir, GIT_WORK_TREE: workTree });
  // Git looks for the files of a work tree in its working directory.
  const options = { cwd: workTree ?? "/", env: environment(paths, config), detached: true } as const;
  return startProgram(program, rest, options);
}

function environment(
  paths: Readonly<Record<string, string>>,
  config: Readonly<Record<string, string>>,
): Record<string, string> {
  const settings = Object.entries({ ...SAFE_SETTINGS, ...config });
  const numbered = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    PATH: SYSTEM_PATH,
    // The directory in which libcurl would look for a .netrc.
    HOME: "/nonexistent",
    LC_ALL: "C",
    ...paths,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_TERMINAL_PROMPT: "0",
    GIT_LITERAL_PATHSPECS: "1",
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(numbered),
  };
}

const SAFE_SETTINGS = {
  "core.hooksPath": "/dev/null",
  "credential.helper": "",
  "protocol.allow": "never",
  // Git's own maintenance finishes before git returns, instead of in a background process.
  "gc.autoDetach": "false",
  "maintenance.autoDetach": "false",
  // Always one pack, whose size can be limited.
  "fetch.unpackLimit": "1",
  // A stalled connection ends by itself, even if this process is gone.
  "http.lowSpeedLimit": "1",
  "http.lowSpeedTime": "30",
} as const;

async function outcome(
  child: Child,
  { input, maxOutputBytes, onProgress, signal }: GitCall,
): Promise<Buffer> {
  const exit = exitOf(child);
  // Git may end before it has read everything.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const [output, errorText, code] = await Promise.all([
    collect(child, maxOutputBytes),
    (onProgress === undefined ? text(child.stderr) : withoutProgress(child.stderr, onProgress)).then((said) =>
      said.slice(-STDERR_CHARS).trim(),
    ),
    exit,
  ]);
  if (signal.aborted) {
    throw new GitFailure("aborted", "git was ended");
  }
  if (output === undefined) {
    throw new GitFailure("too-large", `git said more than ${maxOutputBytes} bytes`);
  }
  if (code === 0) {
    return output;
  }
  throw failureOf(code, errorText);
}

function failureOf(code: number | undefined, errorText: string): GitFailure {
  if (code === undefined || code === NOT_FOUND_BY_SHELL) {
    return new GitFailure("missing", "there is no git");
  }
  if (LIMIT_MET.test(errorText) && !BROKEN_OFF.test(errorText)) {
    return new GitFailure("too-large", errorText);
  }
  return new GitFailure("failed", errorText === "" ? `git ended with ${code}` : errorText);
}

/** Undefined: it could not be started. */
function exitOf(child: Child): Promise<number | undefined> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(undefined));
    child.once("exit", (code) => resolve(code ?? -1));
  });
}

/** Git's progress and that of the host, each with its share or count. */
const PROGRESS = /^(?:remote: )?[A-Z][a-z]+ [a-z]+: +\d+/;

async function withoutProgress(stderr: Readable, onProgress: (line: string) => void): Promise<string> {
  let said = "";
  let rest = "";
  for await (const chunk of stderr.setEncoding("utf8") as AsyncIterable<string>) {
    // Git writes its progress into one line, again and again.
    const lines = (rest + chunk).split(/\r|\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (PROGRESS.test(line)) {
        onProgress(line.trimEnd());
      } else {
        said = `${said}${line}\n`.slice(-STDERR_CHARS);
      }
    }
  }
  return said + rest;
}

/** Undefined: the output exceeded the limit. */
async function collect(child: Child, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBytes) {
      chunks.push(chunk);
    } else {
      killGroup(child.pid);
    }
  }
  return bytes <= maxBytes ? Buffer.concat(chunks) : undefined;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) {
    return;
  }
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // The process is already gone. macOS reports that differently before the parent has waited for it.
    const isGone =
      error instanceof Error && "code" in error && ["ESRCH", "EPERM"].includes(String(error.code));
    if (!isGone) {
      throw error;
    }
  }
}
