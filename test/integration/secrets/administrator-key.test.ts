import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { Storage } from "../../../src/core/ports/stores/storage.ts";
import { type AdministratorKeyDeps, ensureAdministratorKey } from "../../../src/secrets/administrator-key.ts";
import { makeTemporaryFolder } from "../../support/data-dir.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { InMemoryPubSub } from "../../support/memory/in-memory-pubsub.ts";
import { createInMemoryStorage } from "../../support/memory/storage/in-memory-storage.ts";

let storage: Storage;
let dataDir: string;
beforeEach(async () => {
  storage = createInMemoryStorage({
    clock: new ManualClock(),
    pubsub: new InMemoryPubSub(),
    sendJobs: () => undefined,
  });
  dataDir = await makeTemporaryFolder();
});

function ensureKey(changes: Partial<AdministratorKeyDeps> = {}): Promise<string | undefined> {
  return ensureAdministratorKey({
    ...{ dataDir, apiKey: undefined, isShared: true, storage },
    newKey: () => "a new key",
    hintOf: (key) => key.slice(0, 2),
    hashers: [hash],
    ...changes,
  });
}

function hash(key: string): string {
  return `hash of ${key}`;
}

async function isSet(key: string): Promise<boolean> {
  return (await storage.keys.findByHash(hash(key))) !== undefined;
}

function readKeyFile(): Promise<string> {
  return readFile(join(dataDir, "api-key"), "utf8");
}

/** Returns the storage as a process sees it that checked for a key just before the key was set. */
function storageBeforeKeyExists(): Pick<Storage, "administrators" | "keys"> {
  const { administrators, keys } = storage;
  const setFirst: typeof administrators.setFirst = (...args) => administrators.setFirst(...args);
  const set: typeof administrators.set = (...args) => administrators.set(...args);
  return { keys, administrators: { set, setFirst, exists: async () => false } };
}

describe("administrator keys on a shared database", () => {
  test("the first process creates the key and stores it in a file", async () => {
    expect(await ensureKey()).toBe(join(dataDir, "api-key"));

    expect([await readKeyFile(), await isSet("a new key")]).toEqual(["a new key\n", true]);
  });

  test("a later process creates no key", async () => {
    await storage.administrators.set(hash("theirs"), "th");

    expect(await ensureKey()).toBeUndefined();

    expect(await readdir(dataDir)).toEqual([]);
    expect([await isSet("theirs"), await isSet("a new key")]).toEqual([true, false]);
  });

  test("a process that loses the race to create the key leaves the other key in force and no file", async () => {
    await storage.administrators.set(hash("theirs"), "th");

    expect(await ensureKey({ storage: storageBeforeKeyExists() })).toBeUndefined();

    expect(await readdir(dataDir)).toEqual([]);
    expect([await isSet("theirs"), await isSet("a new key")]).toEqual([true, false]);
  });

  test("the process with the key file recognizes its key, also if it was stored under an earlier secret", async () => {
    await ensureKey();

    expect(await ensureKey()).toBe(join(dataDir, "api-key"));
    expect(await ensureKey({ hashers: [(key) => `new ${hash(key)}`, hash] })).toBe(join(dataDir, "api-key"));
    expect(await isSet("a new key")).toBe(true);
  });

  test("a key file whose key is not in force is left unchanged", async () => {
    await storage.administrators.set(hash("theirs"), "th");
    await writeFile(join(dataDir, "api-key"), "an old key\n");

    expect(await ensureKey()).toBeUndefined();

    expect([await readKeyFile(), await isSet("an old key"), await isSet("theirs")]).toEqual([
      "an old key\n",
      false,
      true,
    ]);
  });

  test("the operator's key stays the same key under a new secret", async () => {
    await ensureKey({ apiKey: "own" });
    const before = await storage.keys.findByHash(hash("own"));
    const newHash = (key: string) => `new ${hash(key)}`;

    await ensureKey({ apiKey: "own", hashers: [newHash, hash] });

    expect(await storage.keys.findByHash(newHash("own"))).toEqual(before);
    expect(await isSet("own")).toBe(false);
  });

  test("the operator's key replaces any other key and is not written to a file", async () => {
    await ensureKey();

    expect(await ensureKey({ apiKey: "the operator's" })).toBeUndefined();

    expect([await isSet("the operator's"), await isSet("a new key")]).toEqual([true, false]);
    expect(await readKeyFile()).toBe("a new key\n");
  });
});

test("a process with a database of its own puts the key from its file in force", async () => {
  await ensureKey({ isShared: false });
  await writeFile(join(dataDir, "api-key"), "replaced\n");

  expect(await ensureKey({ isShared: false })).toBe(join(dataDir, "api-key"));

  expect([await isSet("replaced"), await isSet("a new key")]).toEqual([true, false]);
});
