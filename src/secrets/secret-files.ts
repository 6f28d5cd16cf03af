import { hkdfSync, randomBytes } from "node:crypto";
import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Derives a key for one purpose from the installation's secret key, so that one leaked key does not reveal another.
 */
export function deriveKey(secretKey: string, purpose: string): string {
  return Buffer.from(hkdfSync("sha256", secretKey, "errand", purpose, 32)).toString("base64url");
}

/** The secret in a file that only its owner may read. Creates it when there is none. */
export async function readOrCreateSecret(dataDir: string, name: string, make: () => string): Promise<string> {
  const kept = await readSecret(dataDir, name);
  if (kept !== undefined) {
    return kept;
  }
  const path = join(dataDir, name);
  const secret = make();
  // Written under another name first, so that a killed process does not leave half a secret.
  const partial = `${path}.${process.pid}.partial`;
  await writeFile(partial, `${secret}\n`, { mode: 0o600 });
  await chmod(partial, 0o600);
  await rename(partial, path);
  return secret;
}

/** The secret in such a file, if there is one. */
export async function readSecret(dataDir: string, name: string): Promise<string | undefined> {
  const kept = (await readFile(join(dataDir, name), "utf8").catch(ignoreMissing))?.trim();
  return kept === "" ? undefined : kept;
}

export function randomSecret(): string {
  return randomBytes(32).toString("base64url");
}

function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") {
    return undefined;
  }
  throw error;
}
