import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { lstat, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CliError, EXIT } from "./failure.ts";

/** A server that was started on this machine, as it described itself in its data directory. */
export interface LocalServer {
  readonly folder: string;
  /** Where it listens, for example `http://127.0.0.1:8787`. */
  readonly url: string;
  /** Known only to the server and to who may read its data directory. */
  readonly secret: string;
}

const PROOF_TIMEOUT_MS = 5_000;
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/**
 * The data directory that a command uses: the one of the variable, otherwise the nearest `.errand` in this directory or
 * above it that belongs to this user. Another user could have made one in a shared directory such as `/tmp`.
 */
export async function findDataFolder(file: string, own: string | undefined): Promise<string | undefined> {
  if (own !== undefined) {
    return (await stat(join(own, file)).catch(() => undefined)) && own;
  }
  for (const folder of dataFolders(process.cwd())) {
    if ((await isOwnFolder(folder)) && (await isOwnFile(join(folder, file)))) {
      return folder;
    }
  }
  return undefined;
}

/** A link, or a directory that others can write, could contain files that another user has put there. */
async function isOwnFolder(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  const isWritable = process.platform !== "win32" && ((found?.mode ?? 0) & 0o022) !== 0;
  return found?.isDirectory() === true && found.uid === (process.getuid?.() ?? found.uid) && !isWritable;
}

async function isOwnFile(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isFile() === true && found.uid === (process.getuid?.() ?? found.uid);
}

/** The server of a data directory, if it has started and was not stopped. */
export async function readLocalServer(folder: string): Promise<LocalServer | undefined> {
  const text = await readFile(join(folder, "server.json"), "utf8").catch(() => "");
  try {
    const { secret, url } = JSON.parse(text);
    return typeof secret === "string" && URL.canParse(url) ? { folder, secret, url } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether an address leads to this machine. No address: the one of the server is taken. */
export function isLoopback(url: string | undefined): boolean {
  return url === undefined || LOOPBACK.includes(new URL(url).hostname);
}

/**
 * The address under which a request reaches the server, or undefined if `url` is another one. Without TLS it is the
 * address that the server wrote, because `localhost` may lead to another program on the same port.
 */
export function addressOf(server: LocalServer, url: string | undefined): string | undefined {
  const written = new URL(server.url);
  const { host, port, protocol } = new URL(url ?? server.url);
  if (protocol !== written.protocol || port !== written.port) {
    return undefined;
  }
  if (host !== written.host && !isLoopback(url)) {
    return undefined;
  }
  return url !== undefined && protocol === "https:" ? url : server.url;
}

/** Rejects unless the program at the address has the secret of the data directory. */
export async function requireProof({ folder, secret, url }: LocalServer, address: string): Promise<void> {
  const nonce = randomBytes(32).toString("hex");
  const expected = createHmac("sha256", secret).update(`${url}\n${nonce}`).digest("hex");
  const answer = await fetch(`${address}/server-proof?nonce=${nonce}`, {
    redirect: "error",
    signal: AbortSignal.timeout(PROOF_TIMEOUT_MS),
  })
    .then(async (response) => (await response.json()) as { readonly proof?: unknown } | null)
    .catch((error: Error) => error);
  if (answer instanceof Error || !isSame(String(answer?.proof), expected)) {
    throw new CliError(
      answer instanceof Error && answer.name !== "SyntaxError"
        ? `The server of ${folder} does not answer at ${address}.`
        : `Another program than the server of ${folder} answers at ${address}. No key was sent to it.`,
      answer instanceof Error && /certificate/i.test(String(answer.cause))
        ? "Set ERRAND_URL to the name in the server's certificate, and NODE_EXTRA_CA_CERTS to the file of its authority."
        : "Start the server again with npm start, or set ERRAND_URL and ERRAND_API_KEY to another server and its key.",
      EXIT.notAllowed,
    );
  }
}

function isSame(text: string, expected: string): boolean {
  return text.length === expected.length && timingSafeEqual(Buffer.from(text), Buffer.from(expected));
}

function dataFolders(directory: string): readonly string[] {
  const parent = dirname(directory);
  return [join(directory, ".errand"), ...(parent === directory ? [] : dataFolders(parent))];
}
