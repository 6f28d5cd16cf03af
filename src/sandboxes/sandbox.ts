import type { Readable, Writable } from "node:stream";

/** Where an agent's processes live. One folder a way; each passes `test/contract/sandbox-contract.ts`. */
export interface Sandbox {
  readonly name: string;
  /** Whether processes inside are kept from the host's files, processes and network. */
  readonly isolated: boolean;
  /** Whether commands may name a container image. Where not, such a command ends with code 127 and the reason. */
  readonly hasImages: boolean;
  /** Undefined when it can be used here; else why not, and what would help, in one sentence. */
  unavailable(): Promise<string | undefined>;
  /** What it does not keep agents from, and what would help: a sentence each, for the operator. */
  weaknesses(): Promise<readonly string[]>;
  spawn(command: SandboxCommand): SandboxProcess;
  /**
   * Ends what workers of this data directory left running when they were killed; how many of its processes or
   * containers that were. Called when a worker starts, before its first command. Living workers' are left alone.
   */
  sweep(): Promise<number>;
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
  /** A port of its own loopback that leads to a socket of ours. There is no other network. */
  readonly portForward?: PortForward;
  /** The container image whose files are the system's own; refused by a sandbox that has no images. */
  readonly image?: string;
  /** Whom it belongs to: told to the operator beside its processes, and nothing secret. */
  readonly label?: string;
}

/** What the gateway's `door` is; a port of the sandbox that leads to a unix socket of the host. */
export interface PortForward {
  readonly socketPath: string;
  readonly port: number;
}

export interface SandboxProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /**
   * Resolves when the process has ended; never rejects. A failed start is code 127 with its reason in `reason`; with
   * any other code, or none, `reason` says what ended a process that did not end by itself, such as a limit.
   */
  readonly exited: Promise<SandboxExit>;
  /** Kills the process and all it started, also what left its process group; resolves when they are gone. */
  kill(): Promise<void>;
}

export interface SandboxExit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly reason?: string;
}
