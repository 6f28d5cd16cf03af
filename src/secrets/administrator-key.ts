import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Storage } from "../core/ports/stores/storage.ts";
import { readOrCreateSecret, readSecret } from "./secret-files.ts";

const KEY_FILE = "api-key";

export interface AdministratorKeyDeps {
  readonly dataDir: string;
  /** The operator's own key; undefined: Errand creates one in a file. */
  readonly apiKey: string | undefined;
  /** Whether other processes use the same database. */
  readonly isShared: boolean;
  readonly newKey: () => string;
  readonly hintOf: (key: string) => string;
  /** How keys are hashed now, and how they were hashed before. */
  readonly hashers: readonly [KeyHasher, ...KeyHasher[]];
  readonly storage: Pick<Storage, "administrators" | "keys">;
}
type KeyHasher = (key: string) => string;

/** Makes sure that the administrator has a key. Returns the path of its file; undefined: this process has none. */
export async function ensureAdministratorKey(deps: AdministratorKeyDeps): Promise<string | undefined> {
  const { apiKey, dataDir, hashers, hintOf, isShared, newKey, storage } = deps;
  if (apiKey === undefined && isShared) {
    return keepFirstKey(deps);
  }
  const key = apiKey ?? (await readOrCreateApiKey(dataDir, newKey));
  const [hash, ...former] = hashers;
  const formerHashes = former.map((hashAsFormerly) => hashAsFormerly(key));
  await storage.administrators.set(hash(key), hintOf(key), formerHashes);
  return apiKey === undefined ? join(dataDir, KEY_FILE) : undefined;
}

/** The key in the file, created when there is none. */
export function readOrCreateApiKey(dataDir: string, newKey: () => string): Promise<string> {
  return readOrCreateSecret(dataDir, KEY_FILE, newKey);
}

/** On a shared database the first process creates the key. Returns undefined when another process has it. */
async function keepFirstKey(deps: AdministratorKeyDeps): Promise<string | undefined> {
  const { dataDir, hashers, hintOf, newKey, storage } = deps;
  const kept = await readSecret(dataDir, KEY_FILE);
  if (kept === undefined && (await storage.administrators.exists())) {
    return undefined;
  }
  // Written to the file first, because a key that is stored only as a hash would be lost.
  const key = kept ?? (await readOrCreateApiKey(dataDir, newKey));
  const isFirst = await storage.administrators.setFirst(hashers[0](key), hintOf(key));
  const path = join(dataDir, KEY_FILE);
  if (isFirst || (await isStored(key, deps))) {
    return path;
  }
  if (kept === undefined) {
    await rm(path, { force: true });
  }
  return undefined;
}

async function isStored(key: string, { hashers, storage }: AdministratorKeyDeps): Promise<boolean> {
  for (const hash of hashers) {
    if ((await storage.keys.findByHash(hash(key))) !== undefined) {
      return true;
    }
  }
  return false;
}
