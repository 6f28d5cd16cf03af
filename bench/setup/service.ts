import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Child, startChild } from "./child.ts";
import { findFreePort } from "./postgres.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const API_KEY = "benchmark-key-of-the-administrator";
export const SECRET_KEY = "benchmark-secret-key-of-the-installation";

export interface Service {
  readonly url: string;
  readonly child: Child;
  /** For requests as the administrator. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Starts Errand as `npm start` does: its log goes to a file, and its pool has the default size. `environment` holds
 * the variables that a figure changes; docs/benchmarks.md must name them.
 */
export async function startService(
  folder: string,
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const dataDir = join(folder, `service-${randomUUID()}`);
  await mkdir(dataDir, { recursive: true });
  const port = await findFreePort();
  const child = await startChild({
    program: process.execPath,
    parameters: ["--max-semi-space-size=16", join(PROJECT, "src/main.js")],
    environment: {
      HOME: dataDir,
      DATABASE_URL: databaseUrl,
      ERRAND_DATA_DIR: dataDir,
      ERRAND_PORT: String(port),
      ERRAND_PUBLIC_URL: `http://127.0.0.1:${port}`,
      ERRAND_ADMIN_KEY: API_KEY,
      ERRAND_SECRET_KEY: SECRET_KEY,
      ERRAND_ROLE: "api",
      // Requests are counted as by default, but the limit is never reached.
      ERRAND_RATE_LIMIT: "1000000",
      ...environment,
    },
    outputFile: join(dataDir, "output.txt"),
    // Printed at every log level.
    ready: /Errand is ready at (http\S+)/,
  });
  return { url: child.readyMatch[1] ?? "", child, headers: { authorization: `Bearer ${API_KEY}` } };
}

/** Starts a minimal server to compare with. */
export async function startFloor(
  folder: string,
  file: string,
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly url: string; readonly child: Child }> {
  const child = await startChild({
    program: process.execPath,
    parameters: [file],
    environment: { DATABASE_URL: databaseUrl, ...environment },
    outputFile: join(folder, `floor-${randomUUID()}.txt`),
    ready: /listening at (http\S+)/,
  });
  return { url: child.readyMatch[1] ?? "", child };
}
