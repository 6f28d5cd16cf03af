import { createHash } from "node:crypto";
import { access, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { AgentDefinition, NpmPackage } from "../agent-definition.ts";
import { compareVersions } from "./compare-versions.ts";
import { LOCKFILE_NAME } from "./lockfile.ts";

const UPDATE = z.object({ version: z.string(), folder: z.string().regex(/^[A-Za-z0-9.+-]+$/) });
const RECORD = z.object({
  /** The version of the catalogue when this was written. */
  catalogue: z.string(),
  /** Absent: the version of the catalogue. */
  inUse: UPDATE.optional(),
  previous: UPDATE.optional(),
});
type VersionRecord = z.infer<typeof RECORD>;

const RECORD_NAME = "record.json";
const HASH_LENGTH = 8;

export type PackagedAgent = AgentDefinition & { readonly npmPackage: NpmPackage };

export interface AgentVersion {
  readonly npmPackage: NpmPackage;
  /** Whether an operator chose it on this machine. Otherwise it is the one of the catalogue. */
  readonly isUpdate: boolean;
}

export interface KnownVersions {
  readonly inUse: AgentVersion;
  /** What was in use before. Undefined: the version never changed. */
  readonly previous?: AgentVersion;
}

/**
 * The versions of agents that an operator chose on this machine, below `<dataDir>/agent-versions/<name>`: a record, and a
 * directory with the lockfile of each version. The record is replaced as a whole. One that cannot be read, or whose
 * lockfile is missing, counts as none.
 */
export class AgentVersions {
  readonly #root: string;

  constructor(dataDir: string) {
    this.#root = join(dataDir, "agent-versions");
  }

  /** The agent in the version that its next run uses. */
  async current<Agent extends AgentDefinition>(agent: Agent): Promise<Agent> {
    return isPackaged(agent) ? { ...agent, npmPackage: (await this.of(agent)).inUse.npmPackage } : agent;
  }

  async of(agent: PackagedAgent): Promise<KnownVersions> {
    const record = await this.#read(agent);
    if (record === undefined) {
      return { inUse: { npmPackage: agent.npmPackage, isUpdate: false } };
    }
    const previous = await this.#find(agent, record.previous);
    const inUse = isOutdated(record, agent.npmPackage.version) ? undefined : record.inUse;
    return defined({ inUse: await this.#find(agent, inUse), previous });
  }

  folderOf({ name }: AgentDefinition): string {
    return join(this.#root, name);
  }

  /** Writes the lockfile of a version, which is not in use by that. */
  async add(agent: PackagedAgent, version: string, lockfile: string): Promise<NpmPackage> {
    const hash = createHash("sha256").update(lockfile).digest("hex").slice(0, HASH_LENGTH);
    const lockDirectory = join(this.folderOf(agent), `${version}-${hash}`);
    await mkdir(lockDirectory, { recursive: true });
    await replace(join(lockDirectory, LOCKFILE_NAME), lockfile);
    return { name: agent.npmPackage.name, version, lockDirectory };
  }

  /** From now on, runs use this version. The version that was in use becomes the previous one. */
  async use(agent: PackagedAgent, next: NpmPackage): Promise<void> {
    const { inUse } = await this.of(agent);
    const record: VersionRecord = defined({
      catalogue: agent.npmPackage.version,
      inUse: updateOf(agent, next),
      previous: updateOf(agent, inUse.npmPackage),
    });
    await mkdir(this.folderOf(agent), { recursive: true });
    await replace(join(this.folderOf(agent), RECORD_NAME), `${JSON.stringify(record)}\n`);
  }

  /** Removes what changes that failed or were killed left, and the lockfiles of versions before the previous one. */
  async removeLeftovers(agent: PackagedAgent): Promise<void> {
    const { inUse, previous } = (await this.#read(agent)) ?? {};
    const kept = new Set([RECORD_NAME, inUse?.folder, previous?.folder]);
    const folder = this.folderOf(agent);
    const others = (await readdir(folder)).filter((name) => !kept.has(name));
    await Promise.all(others.map((name) => rm(join(folder, name), { recursive: true, force: true })));
  }

  async #read(agent: PackagedAgent): Promise<VersionRecord | undefined> {
    const path = join(this.folderOf(agent), RECORD_NAME);
    const text = await readFile(path, "utf8").catch(() => "{}");
    try {
      return RECORD.safeParse(JSON.parse(text)).data;
    } catch {
      return undefined;
    }
  }

  async #find(agent: PackagedAgent, update: VersionRecord["inUse"]): Promise<AgentVersion> {
    const lockDirectory = update && join(this.folderOf(agent), update.folder);
    const { name } = agent.npmPackage;
    return update !== undefined && lockDirectory !== undefined && (await exists(lockDirectory))
      ? { npmPackage: { name, version: update.version, lockDirectory }, isUpdate: true }
      : { npmPackage: agent.npmPackage, isUpdate: false };
  }
}

export function isPackaged<Agent extends AgentDefinition>(agent: Agent): agent is Agent & PackagedAgent {
  return agent.npmPackage !== undefined;
}

/** A release of Errand with a newer version of the agent than the operator's replaces it. */
function isOutdated({ catalogue, inUse }: VersionRecord, version: string): boolean {
  return inUse === undefined || (catalogue !== version && compareVersions(inUse.version, version) <= 0);
}

/** Undefined: it is the version of the catalogue. */
function updateOf({ npmPackage }: PackagedAgent, { lockDirectory, version }: NpmPackage) {
  const isOfCatalogue = lockDirectory === npmPackage.lockDirectory;
  return isOfCatalogue
    ? undefined
    : { version, folder: lockDirectory.slice(dirname(lockDirectory).length + 1) };
}

/** Another process reads the old content or the new one, also after a crash. */
async function replace(path: string, text: string): Promise<void> {
  const written = `${path}.${process.pid}.new`;
  try {
    await writeFile(written, text, { flush: true });
    await rename(written, path);
  } catch (error) {
    await rm(written, { force: true });
    throw error;
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
