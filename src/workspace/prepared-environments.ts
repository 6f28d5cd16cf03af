import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { arch, release } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import type { Log } from "../core/basics/log.ts";
import type { Preparation } from "../core/ports/workspace-provider.ts";
import { copyInto, isMissing, removeTree } from "./file-trees.ts";
import { WRITABLE_FOLDERS } from "./run-directory.ts";
import { type ClonedRepository, readRecord, type WorkspaceRecord, writeRecord } from "./workspace-record.ts";
import { findWritten, rewrite } from "./written-paths.ts";

export interface PreparedLimits {
  readonly maxEntries: number;
  readonly maxBytes: number;
  /** What commands download without naming a version becomes outdated. */
  readonly maxAgeMs: number;
}

const DEFAULT_LIMITS: PreparedLimits = { maxEntries: 10, maxBytes: 20 * 2 ** 30, maxAgeMs: 24 * 3_600_000 };
const ABOUT = "environment.json";
const REMAINS = /^\.(new|old)-/;
const REMAINS_MS = 3_600_000;

const about = z.object({
  madeAt: z.number(),
  bytes: z.number(),
  /** Files that contain the path where the environment was made, by folder. */
  written: z.record(z.string(), z.array(z.string())),
});
type About = z.infer<typeof about>;

/**
 * Caches workspaces after their setup commands, for the next run with the same setup: at `<data
 * directory>/environments/<key>`. An entry under its key is always complete.
 */
export class PreparedEnvironments {
  readonly #root: string;
  readonly #limits: PreparedLimits;
  readonly #log: Pick<Log, "warn">;

  constructor(dataDir: string, log: Pick<Log, "warn">, limits: Partial<PreparedLimits> = {}) {
    this.#root = resolve(dataDir, "environments");
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#log = log;
  }

  /** Fills the run directory `place` with the environment of this key; undefined when there is none. */
  async copyTo(place: string, key: string): Promise<WorkspaceRecord | undefined> {
    const entry = join(this.#root, key);
    const known = await this.#find(entry);
    if (known === undefined) {
      return undefined;
    }
    try {
      const record = await readRecord(entry);
      for (const folder of WRITABLE_FOLDERS) {
        await rm(join(place, folder), { recursive: true });
      }
      await copyInto(
        place,
        WRITABLE_FOLDERS.map((folder) => join(entry, folder)),
      );
      for (const folder of record.place === "" ? [] : WRITABLE_FOLDERS) {
        await rewrite(join(place, folder), known.written[folder] ?? [], record.place, place);
      }
      const now = new Date();
      await utimes(entry, now, now);
      return record.place === "" ? record : { ...record, place };
    } catch (error) {
      // Another process may have deleted it just now.
      this.#log.warn("prepared_environment.not_copied", { key, error });
      for (const folder of WRITABLE_FOLDERS) {
        await removeTree(join(place, folder));
      }
      for (const folder of WRITABLE_FOLDERS) {
        await mkdir(join(place, folder), { mode: 0o700 });
      }
      return undefined;
    }
  }

  /** Stores a copy of the run directory, without `leftOut` of its workspace. An existing entry is kept. */
  async keep(place: string, key: string, record: WorkspaceRecord, leftOut: readonly string[]): Promise<void> {
    const fresh = join(this.#root, `.new-${randomUUID()}`);
    try {
      await mkdir(fresh, { recursive: true, mode: 0o700 });
      await this.#fill(fresh, place, record, leftOut);
      await rename(fresh, join(this.#root, key)).catch((error) => {
        if (!isTaken(error)) {
          throw error;
        }
      });
      await this.#dropOldest();
    } catch (error) {
      // The run has its workspace. Only the next run waits longer.
      this.#log.warn("prepared_environment.not_stored", { key, error });
    } finally {
      await removeTree(fresh);
    }
  }

  async #fill(
    fresh: string,
    place: string,
    record: WorkspaceRecord,
    leftOut: readonly string[],
  ): Promise<void> {
    const written: About["written"] = {};
    let bytes = 0;
    for (const folder of WRITABLE_FOLDERS) {
      const found = await findWritten(join(place, folder), place);
      written[folder] = [...found.paths];
      bytes += found.bytes;
    }
    if (bytes > this.#limits.maxBytes / 2) {
      throw new Error(`It has ${bytes} bytes.`);
    }
    await copyInto(
      fresh,
      WRITABLE_FOLDERS.map((folder) => join(place, folder)),
    );
    for (const name of leftOut) {
      await removeTree(join(fresh, "workspace", name));
    }
    await writeRecord(fresh, record);
    const facts: About = { madeAt: Date.now(), bytes, written };
    await writeFile(join(fresh, ABOUT), JSON.stringify(facts), { mode: 0o600 });
  }

  async #find(entry: string): Promise<About | undefined> {
    try {
      const known = about.parse(JSON.parse(await readFile(join(entry, ABOUT), "utf8")));
      if (Date.now() - known.madeAt <= this.#limits.maxAgeMs) {
        return known;
      }
    } catch (error) {
      if (isMissing(error)) {
        return undefined;
      }
      this.#log.warn("prepared_environment.broken", { entry, error });
    }
    await this.#drop(entry);
    return undefined;
  }

  async #dropOldest(): Promise<void> {
    const names = await readdir(this.#root);
    const found = await Promise.all(names.map(async (name) => ({ name, ...(await this.#look(name)) })));
    const now = Date.now();
    for (const { name, usedAt } of found) {
      if (REMAINS.test(name) && now - usedAt > REMAINS_MS) {
        await removeTree(join(this.#root, name));
      }
    }
    let count = 0;
    let bytes = 0;
    const entries = found.filter(({ name }) => !REMAINS.test(name));
    for (const entry of entries.sort((left, right) => right.usedAt - left.usedAt)) {
      count += 1;
      bytes += entry.bytes;
      const isTooMuch = count > this.#limits.maxEntries || bytes > this.#limits.maxBytes;
      if (isTooMuch) {
        await this.#drop(join(this.#root, entry.name));
      }
    }
  }

  async #look(name: string): Promise<{ readonly usedAt: number; readonly bytes: number }> {
    const entry = join(this.#root, name);
    const usedAt = (await stat(entry).catch(() => undefined))?.mtimeMs ?? 0;
    const known = about.safeParse(
      await readFile(join(entry, ABOUT), "utf8")
        .then(JSON.parse)
        .catch(() => 0),
    );
    return { usedAt, bytes: known.data?.bytes ?? 0 };
  }

  /** An entry under its key is complete until it is removed. */
  async #drop(entry: string): Promise<void> {
    const old = join(this.#root, `.old-${randomUUID()}`);
    await rename(entry, old).catch(() => undefined);
    await removeTree(old);
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && ["ENOTEMPTY", "EEXIST"].includes(String(error.code));
}

/** The version of the format. Another number makes old prepared environments unused. */
const FORMAT = 2;

/**
 * Identifies runs whose setup would do the same. It includes the values of secrets, so that files which commands
 * wrote from secrets are only reused by runs with the same secrets.
 */
export function environmentKey(
  { gateway, plan, teamId, variables, withoutTeamToken }: Preparation,
  repositories: readonly ClonedRepository[],
  sandbox: string,
): string {
  const variablesInOrder = Object.entries(variables).sort(([left], [right]) => (left < right ? -1 : 1));
  const hasInternet = gateway.proxyUrl !== undefined;
  const machine = [arch(), release(), process.version, sandbox];
  const { image, setupCommands } = plan;
  const all = [
    FORMAT,
    machine,
    teamId,
    image ?? null,
    hasInternet,
    repositories,
    setupCommands,
    variablesInOrder,
    // Commands may have read repositories with the team's token.
    ...(withoutTeamToken === true ? ["without team token"] : []),
  ];
  return createHash("sha256").update(JSON.stringify(all)).digest("hex");
}
