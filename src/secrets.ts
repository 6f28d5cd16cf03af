import { hkdfSync, randomBytes } from "node:crypto";
import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A key for one purpose, made from the installation's secret key: what leaks of one says nothing of another. */
export function deriveKey(secretKey: string, purpose: string): string {
  return Buffer.from(hkdfSync("sha256", secretKey, "errand", purpose, 32)).toString("base64url");
}

/** A secret kept in a file that only its owner may read; made when it is not there. */
export async function keepSecret(dataDir: string, name: string, make: () => string): Promise<string> {
  const path = join(dataDir, name);
  const kept = await readFile(path, "utf8").catch(ignoreMissing);
  if (kept !== undefined && kept.trim() !== "") return kept.trim();
  const secret = make();
  // Under another name first: a process killed while writing must not leave half a secret.
  const partial = `${path}.${process.pid}.partial`;
  await writeFile(partial, `${secret}\n`, { mode: 0o600 });
  await chmod(partial, 0o600);
  await rename(partial, path);
  return secret;
}

export function randomSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** Replaces every known secret in a text. Short values are left alone: they would tear ordinary words apart. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const known = secrets.filter((secret) => secret.length >= MIN_LENGTH).flatMap(spellingsOf);
  return (text) => known.reduce((clean, secret) => clean.replaceAll(secret, "[redacted]"), text);
}

const MIN_LENGTH = 8;

/** A secret as it stands, inside JSON, and in base64. */
function spellingsOf(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  return [...new Set([secret, escaped, Buffer.from(secret).toString("base64")])];
}

function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}
