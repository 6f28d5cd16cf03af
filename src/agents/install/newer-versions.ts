import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { InstalledAgent } from "../../core/upkeep/agent-versions-check.ts";
import type { AgentDefinition, AgentPrograms } from "../agent-definition.ts";
import { isPackaged, type PackagedAgent } from "./agent-versions.ts";
import { compareVersions } from "./compare-versions.ts";
import { npmNewest } from "./npm-install.ts";

export interface NewerVersionsOptions {
  readonly agents: readonly AgentDefinition[];
  readonly programs: Pick<AgentPrograms, "current" | "isThere">;
  /** The environment of npm. */
  readonly variables: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

/** Less than a check of the doctor may take. */
const TIMEOUT_MS = 4_000;
const REMEMBERED_MS = 3_600_000;

/** Asks the registry for the newest versions of the agents that are installed here, at most once an hour. */
export class NewerVersions {
  readonly #options: NewerVersionsOptions;
  readonly #newest = new Map<string, { readonly version: string; readonly at: number }>();

  constructor(options: NewerVersionsOptions) {
    this.#options = options;
  }

  async list(): Promise<readonly InstalledAgent[]> {
    const { agents, programs } = this.#options;
    const current = await Promise.all(agents.filter(isPackaged).map((agent) => programs.current(agent)));
    const installed = await Promise.all(
      current.map(async (agent) => ((await programs.isThere(agent)) ? [agent] : [])),
    );
    return Promise.all(
      installed
        .flat()
        .filter(isPackaged)
        .map((agent) => this.#compare(agent)),
    );
  }

  async #compare({ name, npmPackage }: PackagedAgent): Promise<InstalledAgent> {
    const { version } = npmPackage;
    const newest = await this.#newestOf(npmPackage.name).catch(() => undefined);
    const isNewer = newest !== undefined && compareVersions(newest, version) > 0;
    return { name, version, newer: isNewer ? newest : newest && "none" };
  }

  async #newestOf(name: string): Promise<string> {
    const known = this.#newest.get(name);
    if (known !== undefined && performance.now() - known.at < REMEMBERED_MS) {
      return known.version;
    }
    const { timeoutMs = TIMEOUT_MS, variables } = this.#options;
    const directory = await mkdtemp(join(tmpdir(), "errand-npm-"));
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const version = await npmNewest(name, { directory, home: directory, variables, signal });
      this.#newest.set(name, { version, at: performance.now() });
      return version;
    } finally {
      // npm may still write after it was stopped.
      await rm(directory, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
    }
  }
}
