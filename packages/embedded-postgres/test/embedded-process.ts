import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";

export const PACKAGE = resolve(import.meta.dirname, "..");

export type EmbeddedProcessOptions = {
  readonly dataDir: string;
  /** The folder of the package. Default: this one. */
  readonly root?: string;
  readonly sharedDir?: string;
  readonly uid?: number;
  readonly gid?: number;
  readonly detached?: boolean;
};

type Answer = { readonly url?: string; readonly error?: string; readonly lastWords?: string };

/** A child process that runs an embedded PostgreSQL. A test that starts one must end it with `end`. */
export class EmbeddedProcess {
  readonly child: ChildProcess;

  constructor({
    dataDir,
    root = PACKAGE,
    sharedDir = `${dataDir}.shared`,
    ...options
  }: EmbeddedProcessOptions) {
    const main = join(import.meta.dirname, "embedded-process-main.ts");
    this.child = fork(main, [root, dataDir, sharedDir], { ...options, cwd: "/", execArgv: [] });
  }

  /** The address, or the reason why there is none. */
  async answer(): Promise<Answer> {
    const ended = once(this.child, "exit").then(() => [{ error: "the process ended without a word" }]);
    const [answer] = await Promise.race([once(this.child, "message"), ended]);
    return answer;
  }

  async url(): Promise<string> {
    const { url, error } = await this.answer();
    if (url === undefined) {
      throw new Error(error);
    }
    return url;
  }

  async end(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const exited = once(this.child, "exit");
      this.child.kill(signal);
      await exited;
    }
  }
}
