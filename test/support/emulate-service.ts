import { readdir, readFile } from "node:fs/promises";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { createEmulator, type SeedConfig } from "emulate";
import type { FrontAnswer, FrontRequest } from "./front-server.ts";

type Stored<Row> = Row & { readonly id: number };

export interface EmulateCollection<Row> {
  all(): Stored<Row>[];
  insert(row: Row & { readonly id?: number }): Stored<Row>;
  update(id: number, changes: Partial<Row>): Stored<Row> | undefined;
  delete(id: number): boolean;
}

interface EmulateStore {
  collection<Row>(name: string): EmulateCollection<Row>;
  setData(name: string, value: unknown): void;
}

interface EmulateInternals {
  readonly app: { fetch(request: Request): Promise<Response> };
  readonly store: EmulateStore;
  /** The tokens that the emulator accepts, with the login of each. */
  readonly tokens: ReadonlyMap<string, { readonly login: string; readonly installation?: object }>;
}

export interface EmulatedService extends Omit<EmulateInternals, "app"> {
  readonly generatedSecrets: readonly { readonly kind: string; readonly value: string }[];
  call(request: FrontRequest): Promise<FrontAnswer>;
  stop(): Promise<void>;
}

type Register = (
  app: EmulateInternals["app"],
  store: EmulateStore,
  webhooks: unknown,
  baseUrl: string,
  tokens: EmulateInternals["tokens"],
) => void;

interface Plugin {
  register: Register;
}

const waiting = new Map<string, (internals: EmulateInternals) => void>();
const wrapped = new WeakSet<Plugin>();

/**
 * Starts one service of `emulate` and returns its store and its in-process `fetch`, which the package does not
 * export. For this, the plugin is read from the package's bundle and its `register` is wrapped. `baseUrl` must be
 * unique, because it identifies concurrent starts.
 */
export async function startEmulateService(
  service: "slack" | "github",
  { baseUrl, seed }: { readonly baseUrl: string; readonly seed: SeedConfig },
): Promise<EmulatedService> {
  wrapRegister(await loadPlugin(`${service}Plugin`));
  let internals: EmulateInternals | undefined;
  waiting.set(baseUrl, (captured) => {
    internals = captured;
  });
  const emulator = await createEmulator({ service, port: 0, baseUrl, seed }).finally(() =>
    waiting.delete(baseUrl),
  );
  if (!internals) {
    throw new Error("emulate no longer calls register of the plugin in its bundle");
  }
  const { app, store, tokens } = internals;
  return {
    store,
    tokens,
    generatedSecrets: emulator.generatedSecrets,
    call: (request) => callApp(app, baseUrl, request),
    stop: () => emulator.close(),
  };
}

/**
 * Returns the plugin from the chunk of the bundle that exports it. Chunk names are hashes, so all chunks are
 * searched.
 */
export async function loadPlugin(name: string): Promise<Plugin> {
  const manifest = findPackageJSON("emulate", import.meta.url);
  if (!manifest) {
    throw new Error("emulate is not installed");
  }
  const folder = join(dirname(manifest), "dist");
  for (const file of await readdir(folder)) {
    if (!/^dist-\w+\.js$/.test(file)) {
      continue;
    }
    const path = join(folder, file);
    if (!new RegExp(`^ {2}${name},?$`, "m").test(await readFile(path, "utf8"))) {
      continue;
    }
    const exports: Record<string, unknown> = await import(pathToFileURL(path).href);
    const plugin = exports[name];
    if (isPlugin(plugin)) {
      return plugin;
    }
  }
  throw new Error(`emulate's bundle has no ${name} with a register function: its internals have changed`);
}

function isPlugin(value: unknown): value is Plugin {
  return (
    typeof value === "object" && value !== null && "register" in value && typeof value.register === "function"
  );
}

function wrapRegister(plugin: Plugin): void {
  if (wrapped.has(plugin)) {
    return;
  }
  wrapped.add(plugin);
  const register = plugin.register;
  plugin.register = (app, store, webhooks, baseUrl, tokens) => {
    register.call(plugin, app, store, webhooks, baseUrl, tokens);
    waiting.get(baseUrl)?.({ app, store, tokens });
  };
}

async function callApp(
  app: EmulateInternals["app"],
  baseUrl: string,
  { method, path, search, headers, body }: FrontRequest,
): Promise<FrontAnswer> {
  const hasBody = method !== "GET" && method !== "HEAD";
  const request = new Request(new URL(path + search, baseUrl), {
    method,
    headers: withoutLength(headers),
    body: hasBody ? new Uint8Array(body) : null,
  });
  const response = await app.fetch(request);
  return {
    status: response.status,
    headers: Object.fromEntries(withoutLength(response.headers)),
    body: Buffer.from(await response.arrayBuffer()),
  };
}

/** The header gives the length of a body that may be rewritten on the way. */
function withoutLength(headers: Headers): Headers {
  const copy = new Headers(headers);
  copy.delete("content-length");
  return copy;
}
