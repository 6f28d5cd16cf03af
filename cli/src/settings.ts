import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { CliError, EXIT, UsageError } from "./failure.ts";
import { addressOf, findDataFolder, isLoopback, readLocalServer, requireProof } from "./local-server.ts";

/** A server and a key for it, under a name. */
export interface Context {
  readonly url: string;
  readonly apiKey: string;
}

/** What is kept between two commands. */
interface Stored {
  /** The name of the context that is used. */
  readonly current?: string;
  readonly contexts: Readonly<Record<string, Context>>;
  readonly defaults: Readonly<Partial<Record<DefaultName, string>>>;
  /** The id of the last run that was started, by the address of the server. */
  readonly lastRuns: Readonly<Record<string, string>>;
}

/** Where requests go. */
export interface Connection extends Context {
  /** Where the address and the key come from, for people. */
  readonly origin: string;
}

export const DEFAULT_NAMES = ["agent", "environment", "model"] as const;
export type DefaultName = (typeof DEFAULT_NAMES)[number];

export const LOCAL_URL = "http://127.0.0.1:8787";
/** The variable of the public command line. */
export const FORMER_VARIABLE = "WARP_API_KEY";
const EMPTY: Stored = { contexts: {}, defaults: {}, lastRuns: {} };

/** The contexts, defaults and last runs of this user: a file that only the user can read. */
export class Settings {
  readonly file: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(env: NodeJS.ProcessEnv = process.env) {
    this.#env = env;
    this.file = join(folderOf(env), "config.json");
  }

  async read(): Promise<Stored> {
    const text = await readFile(this.file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") {
        return "{}";
      }
      throw error;
    });
    try {
      return { ...EMPTY, ...(JSON.parse(text) as Partial<Stored>) };
    } catch {
      throw new CliError(`The file ${this.file} is not JSON.`, "Repair it, or delete it and log in again.");
    }
  }

  async change(edit: (stored: Stored) => Stored): Promise<void> {
    const text = `${JSON.stringify(edit(await this.read()), null, 2)}\n`;
    await mkdir(dirname(this.file), { recursive: true, mode: 0o700 });
    const draft = `${this.file}.${randomUUID()}`;
    await writeFile(draft, text, { mode: 0o600, flag: "wx" });
    await rename(draft, this.file);
  }

  /**
   * Finds the server and the key: options first, then the variables, then the current context, then a server that
   * was started in this directory or one above it. An address that the user has not named gets a key only after the
   * server there has proved that the data directory is its own.
   */
  async connection(options: { readonly url?: string; readonly context?: string } = {}): Promise<Connection> {
    const { ERRAND_API_KEY: apiKey, ERRAND_CONTEXT, ERRAND_URL } = this.#env;
    const { contexts, current } = await this.read();
    const name = options.context ?? ERRAND_CONTEXT;
    if (name !== undefined) {
      const context = contexts[name];
      if (context === undefined) {
        const known = Object.keys(contexts).join(", ") || "none";
        throw new UsageError(
          `There is no context "${name}".`,
          `Known contexts: ${known}. Add one: errand login`,
        );
      }
      const url = options.url === undefined ? context.url : serverAddress(options.url);
      return { ...context, url, origin: `context ${name}` };
    }
    const text = options.url ?? ERRAND_URL;
    const url = text ? serverAddress(text) : undefined;
    if (apiKey) {
      return { url: url ?? (await this.#urlForVariable()), apiKey, origin: "ERRAND_API_KEY" };
    }
    const known = url === undefined ? current : nameOf(contexts, url);
    const context = known === undefined ? undefined : contexts[known];
    if (context !== undefined) {
      return { ...context, origin: `context ${known}` };
    }
    const local = await this.#localKey(url);
    if (local !== undefined) {
      return local;
    }
    if (url !== undefined && this.#env.WARP_API_KEY) {
      // Only for an address that the user has named: the key may belong to another service.
      return { url, apiKey: this.#env.WARP_API_KEY, origin: FORMER_VARIABLE };
    }
    throw notSignedIn(url, Object.keys(contexts));
  }

  /** The address of the server that was started in this directory or one above it, after its proof. */
  async localUrl(): Promise<string | undefined> {
    const folder = await findDataFolder("server.json", this.#env.ERRAND_DATA_DIR);
    const server = folder === undefined ? undefined : await readLocalServer(folder);
    if (server !== undefined) {
      await requireProof(server, server.url);
    }
    return server?.url;
  }

  async #urlForVariable(): Promise<string> {
    const url = await this.localUrl();
    if (url === undefined) {
      throw new UsageError(
        "ERRAND_API_KEY is set, but not the server that may get the key.",
        `Set ERRAND_URL to its address, for example ERRAND_URL=${LOCAL_URL}`,
      );
    }
    return url;
  }

  /** The key that a server on this machine wrote. It is sent only to that server. */
  async #localKey(url: string | undefined): Promise<Connection | undefined> {
    const folder = await findDataFolder("api-key", this.#env.ERRAND_DATA_DIR);
    if (folder === undefined) {
      return undefined;
    }
    const server = await readLocalServer(folder);
    if (server === undefined && isLoopback(url)) {
      throw new CliError(`The server of ${folder} does not run.`, "Start it with npm start.");
    }
    const address = server === undefined ? undefined : addressOf(server, url);
    if (server === undefined || address === undefined) {
      return undefined;
    }
    await requireProof(server, address);
    const file = join(folder, "api-key");
    return { url: address, apiKey: (await readFile(file, "utf8")).trim(), origin: file };
  }
}

function notSignedIn(url: string | undefined, contexts: readonly string[]): CliError {
  const choice = contexts.length === 0 ? "" : ` Or choose one of ${contexts.join(", ")}: --context NAME`;
  return url === undefined
    ? new CliError("You are not signed in.", `Run: errand login${choice}`, EXIT.notAllowed)
    : new CliError(`You are not signed in to ${url}.`, `Run: errand login --url ${url}`, EXIT.notAllowed);
}

function folderOf({ ERRAND_CONFIG_DIR, XDG_CONFIG_HOME, APPDATA }: NodeJS.ProcessEnv): string {
  if (ERRAND_CONFIG_DIR) {
    return ERRAND_CONFIG_DIR;
  }
  const base = process.platform === "win32" ? APPDATA : XDG_CONFIG_HOME;
  return join(base || join(homedir(), ".config"), "errand");
}

function nameOf(contexts: Stored["contexts"], url: string): string | undefined {
  return Object.keys(contexts).find((name) => contexts[name]?.url === url);
}

/** The address of a server in the form in which it is kept: without the path of the API and without a slash. */
export function serverAddress(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      `"${text}" is not the address of a server.`,
      "For example: https://errand.example.com",
    );
  }
  return (url.origin + url.pathname).replace(/\/+$/, "").replace(/\/api\/v1$/, "");
}
