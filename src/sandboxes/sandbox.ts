import type { Readable, Writable } from "node:stream";
import type { ImageSource } from "../core/ports/image-source.ts";

/** Where the processes of an agent run. Each kind has a folder and passes `test/contract/sandbox-contract.ts`. */
export interface Sandbox {
  readonly name: string;
  /** Whether processes inside are kept from the host's files, processes and network. */
  readonly isolated: boolean;
  /** Whether processes inside have a loopback of their own. If not, they reach their gateway at a port of the machine. */
  readonly hasLoopback: boolean;
  /** Whether commands may name a container image. If not, such a command ends with code 127 and the reason. */
  readonly hasImages: boolean;
  /** Pulls the images of commands before they start. Without it, `spawn` does. */
  readonly images?: ImageSource;
  /** Whether directories can have another path inside. If not, `mounts` is not used. */
  readonly hasMounts: boolean;
  /** Undefined when the sandbox can be used here. Otherwise the reason and a remedy in one sentence. */
  unavailable(): Promise<string | undefined>;
  /** What the sandbox does not prevent, with a remedy: one sentence each, for the operator. */
  weaknesses(): Promise<readonly string[]>;
  spawn(command: SandboxCommand): SandboxProcess;
  /**
   * Ends what killed workers of this data directory left running, and returns the number of processes or containers.
   * Also removes images that are no longer used.
   * A worker calls it at its start, before its first command. Those of live workers are left alone.
   */
  sweep(): Promise<number>;
}

export interface SandboxCommand {
  readonly argv: readonly [string, ...string[]];
  /** The whole environment of the process. Nothing of ours is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Directories that the process may write to, under the same path. */
  readonly writable: readonly string[];
  /** Directories that the process may write to, under a path of their own. */
  readonly mounts?: readonly DirectoryMount[];
  /** Files and directories that it may read besides those of the system, under the same path. */
  readonly readable: readonly string[];
  /** A port on its own loopback that leads to a socket of ours. There is no other network. */
  readonly portForward?: PortForward;
  /** Without a loopback of its own: the port of the machine on which its gateway listens. */
  readonly hostPort?: number;
  /** The container image that provides the system's files. A sandbox without images refuses it. */
  readonly image?: string;
  /** A program of Errand that starts no other program. Without any isolation, nothing else is started. */
  readonly isBuiltIn?: boolean;
  /** The owner of the process, shown to the operator. It contains nothing secret. */
  readonly label?: string;
}

/** A directory of this machine, and its path inside. */
export interface DirectoryMount {
  readonly source: string;
  readonly target: string;
}

/** The same as the gateway's port forward: a port in the sandbox that leads to a unix socket of the host. */
export interface PortForward {
  readonly socketPath: string;
  readonly port: number;
}

export interface SandboxProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /**
   * Resolves when the process has ended; never rejects. A failed start is code 127 with its reason in `reason`. With
   * any other code or none, `reason` says what ended the process from outside, such as a limit.
   */
  readonly exited: Promise<SandboxExit>;
  /** Kills the process and everything it started, in whatever process group. Resolves when they are gone. */
  kill(): Promise<void>;
  /** The processes that run inside. Empty where they cannot be listed. */
  list(): Promise<readonly ListedProcess[]>;
  /** Kills these, except those that have ended meanwhile. */
  end(processes: readonly ListedProcess[]): Promise<void>;
}

export interface ListedProcess {
  /** As the sandbox counts. */
  readonly pid: number;
  /** Tells it from another process that gets its number later. */
  readonly startTime: string;
  /** Undefined: the process that started it has ended, or is not inside. */
  readonly parent?: number | undefined;
  readonly argv: readonly string[];
}

export interface SandboxExit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly reason?: string;
  /** What the operator can do about the reason. */
  readonly remedy?: string;
  /** The image that the command names cannot be used here. */
  readonly isImageProblem?: boolean;
}
