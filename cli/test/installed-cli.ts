import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { spawn as spawnTerminal } from "@lydell/node-pty";
import headless from "@xterm/headless";
import { waitFor } from "../../test/support/wait-for.ts";

const run = promisify(execFile);
const SOURCE = resolve(import.meta.dirname, "..");
const [COLUMNS, ROWS] = [120, 40];

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliCall {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The width of the terminal. */
  readonly columns?: number;
}

/** The packed program, installed in a project of its own as `npm install` or `npx` would do it. */
export class InstalledCli {
  readonly folder: string;
  readonly #terminals: Terminal[] = [];
  /** The variables of every call. The home directory is empty at first. */
  readonly env: Record<string, string>;

  private constructor(folder: string) {
    this.folder = folder;
    this.env = {
      HOME: join(folder, "home"),
      // The program needs no other Node than the one of the tests.
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      TERM: "xterm-256color",
      LANG: "C.UTF-8",
    };
  }

  static async create(): Promise<InstalledCli> {
    const folder = await mkdtemp(join(tmpdir(), "errand-cli-"));
    const copy = join(folder, "cli");
    for (const name of ["bin", "package.json", "README.md", "LICENSE"]) {
      await cp(join(SOURCE, name), join(copy, name), { recursive: true });
    }
    await run(process.execPath, [join(SOURCE, "build.js"), join(copy, "dist")]);
    await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: copy });
    const tarball = (await readdir(folder)).find((name) => name.endsWith(".tgz")) ?? "";
    await mkdir(join(folder, "home"));
    await mkdir(join(folder, "project"));
    await writeFile(join(folder, "project/package.json"), "{}");
    await run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(folder, tarball)], {
      cwd: join(folder, "project"),
    });
    return new InstalledCli(folder);
  }

  get program(): string {
    return join(this.folder, "project/node_modules/.bin/errand");
  }

  /** Runs the program with pipes, as a script does. */
  async call(
    args: readonly string[],
    { cwd = this.folder, env = {}, input = "" }: CliCall = {},
  ): Promise<CliResult> {
    const child = spawn(this.program, [...args], { cwd, env: { ...this.env, ...env } });
    child.stdin.on("error", () => undefined).end(input);
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    return { code: child.exitCode, stdout, stderr };
  }

  /** Runs the program on a terminal of 40 rows. */
  terminal(
    args: readonly string[],
    { columns = COLUMNS, cwd = this.folder, env = {} }: CliCall = {},
  ): Terminal {
    const terminal = new Terminal([this.program, ...args], { columns, cwd, env: { ...this.env, ...env } });
    this.#terminals.push(terminal);
    return terminal;
  }

  async remove(): Promise<void> {
    for (const terminal of this.#terminals) {
      terminal.kill();
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A program on a pseudo-terminal, and the screen that a person would see. */
export class Terminal {
  readonly #process: ReturnType<typeof spawnTerminal>;
  readonly #screen: InstanceType<typeof headless.Terminal>;
  readonly #exit: Promise<number>;
  #received = "";

  constructor(
    [program = "", ...args]: readonly string[],
    { columns, cwd, env }: Required<Omit<CliCall, "input">>,
  ) {
    const size = { cols: columns, rows: ROWS };
    this.#screen = new headless.Terminal({ ...size, scrollback: 1_000, allowProposedApi: true });
    this.#process = spawnTerminal(program, args, { ...size, cwd, env });
    this.#process.onData((data) => {
      this.#received += data;
      this.#screen.write(data);
    });
    this.#exit = new Promise((done) => this.#process.onExit(({ exitCode }) => done(exitCode)));
  }

  /** All that the program has written, with its control characters. */
  get received(): string {
    return this.#received;
  }

  /** The lines of the screen and above it, without the empty ones at the end. */
  get screen(): string {
    const { active } = this.#screen.buffer;
    const lines = Array.from(
      { length: active.length },
      (_, row) => active.getLine(row)?.translateToString(true) ?? "",
    );
    return lines.join("\n").trimEnd();
  }

  async waitForText(pattern: RegExp): Promise<void> {
    const isThere = () => (pattern.test(this.screen) ? true : undefined);
    await waitFor(isThere, { what: `${pattern} on the screen`, timeoutMs: 60_000 }).catch((error: Error) => {
      throw new Error(`${error.message}. The screen:\n${this.screen}`);
    });
  }

  type(keys: string): void {
    this.#process.write(keys);
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  /** The exit code. The last output may arrive later than the exit. */
  ended(): Promise<number> {
    return this.#exit;
  }
}
