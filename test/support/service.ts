import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { EmulatedGithub } from "./emulated-github.ts";
import type { EmulatedSlack } from "./emulated-slack.ts";
import { waitFor } from "./wait-for.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const READY_MS = 60_000;

/** The real service as a real process: `node src/main.js`, on a free port, with an environment of its own. */
export interface Service {
  readonly url: string;
  readonly apiKey: string;
  readonly pid: number;
  /** The complete output. */
  output(): string;
  /** Resolves with the exit code (null when a signal ended it) once the process has ended. */
  ended(): Promise<number | null>;
  /** Sends a signal and waits for the end. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>;
  signal(name: NodeJS.Signals): void;
}

export async function startService(dataDir: string, env: Record<string, string> = {}): Promise<Service> {
  const process = spawnService(dataDir, env);
  const url = await readyUrl(process).catch(async (error: unknown) => {
    await end(process.child, "SIGKILL");
    throw error;
  });
  const apiKey = env.ERRAND_ADMIN_KEY ?? (await readFile(join(dataDir, "api-key"), "utf8")).trim();
  return {
    url,
    apiKey,
    pid: process.child.pid ?? 0,
    output: process.output,
    ended: () => ended(process.child),
    end: (signal) => end(process.child, signal),
    signal: (name) => void process.child.kill(name),
  };
}

/** The variables that switch the Slack adapter on. `apiUrl` may be the address of a proxy before the emulator. */
export function slackEnvironment(
  { signingSecret, botToken, apiUrl: ownUrl }: EmulatedSlack,
  apiUrl: string = ownUrl,
): Record<string, string> {
  return { SLACK_SIGNING_SECRET: signingSecret, SLACK_BOT_TOKEN: botToken, SLACK_API_URL: apiUrl };
}

export function githubEnvironment(
  { app, apiUrl: ownUrl }: EmulatedGithub,
  apiUrl: string = ownUrl,
): Record<string, string> {
  return {
    GITHUB_APP_ID: String(app.id),
    GITHUB_APP_PRIVATE_KEY: app.privateKey,
    GITHUB_WEBHOOK_SECRET: app.webhookSecret,
    GITHUB_API_URL: apiUrl,
  };
}

export interface ServiceProcess {
  readonly child: ChildProcess;
  output(): string;
}

/** For starts that are meant to fail: the process and its output. */
export function spawnService(dataDir: string, env: Record<string, string> = {}): ServiceProcess {
  const child = spawn(process.execPath, [join(PROJECT, "src/main.js")], {
    // Without the file .env of a developer.
    cwd: tmpdir(),
    env: {
      PATH: process.env.PATH,
      HOME: dataDir,
      ERRAND_DATA_DIR: dataDir,
      ERRAND_PORT: "0",
      // Tests send more requests than users.
      ERRAND_RATE_LIMIT: "0",
      ERRAND_DRAIN_SECONDS: "0",
      ...(env.ERRAND_ROLE === undefined ? {} : { ERRAND_PUBLIC_URL: "http://127.0.0.1:8787" }),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (bytes: Buffer) => {
      printed += bytes.toString();
    });
  }
  return { child, output: () => printed };
}

async function readyUrl({ child, output }: ServiceProcess): Promise<string> {
  // The address on which it listens, which can differ from its public address.
  const said = () => /"address":"(http[^"]+)"/.exec(output())?.[1];
  await waitFor(() => said() !== undefined || isGone(child), {
    what: "the service to be ready",
    timeoutMs: READY_MS,
  });
  const url = said();
  if (url === undefined || isGone(child)) {
    throw new Error(`The service ended with ${child.exitCode}:\n${output()}`);
  }
  return url;
}

function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const gone = ended(child);
  if (!isGone(child)) {
    child.kill(signal);
  }
  return gone;
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (!isGone(child)) {
    await once(child, "exit");
  }
  return child.exitCode;
}

function isGone({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
