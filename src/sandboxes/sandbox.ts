import type { Readable, Writable } from "node:stream";

/** Where an agent's processes live. One folder a way; each passes `test/contract/sandbox-contract.ts`. */
export interface Sandbox {
  readonly name: string;
  /** Whether processes inside are kept from the host's files, processes and network. */
  readonly isolated: boolean;
  /** Undefined when it can be used here; else why not, and what would help, in one sentence. */
  unavailable(): Promise<string | undefined>;
  spawn(command: SandboxCommand): SandboxProcess;
}

export interface SandboxCommand {
  readonly argv: readonly [string, ...string[]];
  /** The whole environment of the process; nothing of ours is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Directories the process may write to, visible under the same path. */
  readonly writable: readonly string[];
  /** Files and directories it may read besides the system's own, visible under the same path. */
  readonly readable: readonly string[];
}

export interface SandboxProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the process has ended; never rejects. A failed start is code 127 with its reason in `reason`. */
  readonly exited: Promise<SandboxExit>;
  /** Kills the process and all it started, also what left its process group; resolves when they are gone. */
  kill(): Promise<void>;
}

export interface SandboxExit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly reason?: string;
}
