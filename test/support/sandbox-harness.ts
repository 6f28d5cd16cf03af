import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Sandbox, SandboxCommand, SandboxExit, SandboxProcess } from "../../src/sandboxes/sandbox.ts";

/** The directories of a test, and what it started in them. */
export class SandboxHarness {
  readonly root: string;
  readonly workspace: string;
  readonly sandbox: Sandbox;
  readonly #started: SandboxProcess[] = [];

  private constructor(sandbox: Sandbox, root: string) {
    this.sandbox = sandbox;
    this.root = root;
    this.workspace = join(root, "workspace");
  }

  static async open(makeSandbox: (dataDir: string) => Sandbox): Promise<SandboxHarness> {
    const root = await mkdtemp(join(tmpdir(), "errand-sandbox-"));
    const harness = new SandboxHarness(makeSandbox(root), root);
    await mkdir(harness.workspace, { mode: 0o700 });
    return harness;
  }

  /** Kills what the test left, so that no test hands processes on to the next. */
  async close(): Promise<void> {
    await Promise.all(this.#started.map((process) => process.kill()));
    await rm(this.root, { recursive: true, force: true });
  }

  spawn(changes: Partial<SandboxCommand>): SandboxProcess {
    const command = {
      argv: ["/bin/sh", "-c", "true"] as const,
      env: { PATH: "/usr/bin:/bin" },
      cwd: this.workspace,
      writable: [this.workspace],
      readable: [],
      ...changes,
    };
    const process = this.sandbox.spawn(command);
    process.stdin.on("error", () => {});
    this.#started.push(process);
    return process;
  }

  shell(script: string, changes: Partial<SandboxCommand> = {}): SandboxProcess {
    return this.spawn({ argv: ["/bin/sh", "-c", script], ...changes });
  }

  /** What a script says and how it ends. */
  async run(
    script: string,
    changes: Partial<SandboxCommand> = {},
  ): Promise<SandboxExit & { out: string; err: string }> {
    const process = this.shell(script, changes);
    const [out, err, exit] = await Promise.all([text(process.stdout), text(process.stderr), process.exited]);
    return { ...exit, out, err };
  }
}
