import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { withTimeout } from "../../core/basics/clock.ts";
import { defined } from "../../core/basics/defined.ts";
import { pathsInside, workspaceAccess } from "../../core/model/workspaces/workspace.ts";
import type { RunWorkspace } from "../../core/ports/workspace-provider.ts";
import type { Sandbox, SandboxExit } from "../../sandboxes/sandbox.ts";
import { removeTree } from "../file-trees.ts";
import { pathIn, sandboxOptionsOf } from "../sandbox-options.ts";

export interface SandboxedScript {
  readonly sandbox: Sandbox;
  readonly runWorkspace: RunWorkspace;
  readonly script: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Whether the script can reach the gateway. */
  readonly hasPortForward: boolean;
  /** In addition to the workspace. */
  readonly writable: readonly string[];
  /** Files for the script, in the directory `SCRATCH`. */
  readonly inputs?: Readonly<Record<string, string>>;
  readonly maxOutputBytes: number;
  readonly timeoutMs: number;
}

export interface ScriptEnd {
  readonly exit: SandboxExit | "time-out" | "cut";
  /** Programs that the agent left may have written this, so it must be checked. */
  readonly output: Buffer;
  readonly errorText: string;
}

const ERROR_BYTES = 2_000;
const DRAIN_MS = 2_000;
const GIT_SETTINGS = {
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "/bin/false",
  GIT_EDITOR: "/bin/false",
  // Other transports are programs that git would run.
  GIT_ALLOW_PROTOCOL: "http:https:file",
} as const;

/** Runs a script where the agent worked, with its own temporary directory. All its processes are ended afterwards. */
export async function runScript(call: SandboxedScript, runPath: string): Promise<ScriptEnd> {
  const scratch = join(runPath, `scratch-${randomUUID()}`);
  await mkdir(scratch, { mode: 0o700 });
  try {
    for (const [name, content] of Object.entries(call.inputs ?? {})) {
      await writeFile(join(scratch, name), content, { mode: 0o600 });
    }
    return await spawnScript(call, scratch);
  } finally {
    await removeTree(scratch);
  }
}

async function spawnScript(call: SandboxedScript, scratch: string): Promise<ScriptEnd> {
  const { args, env, hasPortForward, runWorkspace, sandbox, script, timeoutMs, writable } = call;
  const { workspace } = runWorkspace;
  const { hostPort, portForward, ...options } = sandboxOptionsOf(runWorkspace);
  const access = workspaceAccess(workspace);
  const inside = sandbox.spawn({
    ...options,
    ...defined({
      portForward: hasPortForward && portForward !== undefined ? portForward : undefined,
      hostPort: hasPortForward && hostPort !== undefined ? hostPort : undefined,
    }),
    argv: ["/bin/sh", "-c", script, "sh", ...args],
    env: {
      ...pathIn(runWorkspace.image),
      ...env,
      ...GIT_SETTINGS,
      HOME: scratch,
      TMPDIR: scratch,
      SCRATCH: scratch,
    },
    cwd: pathsInside(workspace).directory,
    ...access,
    writable: [...access.writable, scratch, ...writable],
    readable: [],
  });
  inside.stdin.on("error", () => undefined).end();
  const output = new LimitedOutput(inside.stdout, call.maxOutputBytes);
  const errorText = new LimitedOutput(inside.stderr, ERROR_BYTES);
  const finished = Promise.race([inside.exited, output.full.then(() => "cut" as const)]);
  const exit = await withTimeout(finished, timeoutMs, { onTimeout: () => "time-out" as const });
  await inside.kill();
  const drained = Promise.all([output.closed, errorText.closed]);
  await withTimeout(drained, DRAIN_MS);
  // It may have ended just before its last output was read.
  const ended = output.isFull ? "cut" : exit;
  return { exit: ended, output: output.bytes(), errorText: errorText.bytes().toString("utf8").trim() };
}

/** Keeps a stream up to a limit. */
class LimitedOutput {
  readonly full: Promise<void>;
  readonly closed: Promise<void>;
  isFull = false;
  readonly #chunks: Buffer[] = [];
  #length = 0;

  constructor(stream: Readable, maxBytes: number) {
    const full = Promise.withResolvers<void>();
    this.full = full.promise;
    this.closed = new Promise((resolve) => stream.once("close", resolve));
    stream.on("error", () => undefined);
    stream.on("data", (chunk: Buffer) => {
      const left = maxBytes - this.#length;
      if (left > 0) {
        this.#chunks.push(chunk.subarray(0, left));
      }
      this.#length += chunk.length;
      if (chunk.length <= left) {
        return;
      }
      this.isFull = true;
      full.resolve();
    });
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}
