import { hashOf } from "../../basics/hash-of.ts";
import { retry, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import { isSameName, type RepositoryName } from "../../model/repositories/repository-name.ts";
import type { CollectedFile, WorkspacePlan } from "../../model/workspaces/workspace.ts";
import type { LeftOutWork, RepositoryDiff } from "../../ports/change-tracker.ts";
import type { RunWorkspace } from "../../ports/workspace-provider.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";

export interface PatchFilesDeps extends Pick<AttemptDeps, "blobs" | "changes" | "clock"> {
  readonly runWorkspace: RunWorkspace;
  readonly plan: WorkspacePlan;
  /** Records that something could not be stored. */
  readonly problem: (what: string, error: unknown) => void;
}

export interface Changed {
  readonly files: readonly CollectedFile[];
  readonly repositories: readonly RepositoryName[];
  /** The same by repository. */
  readonly diffs: readonly StoredDiff[];
  readonly leftOut: readonly LeftOutWork[];
}

/** A diff whose patch is stored. */
export interface StoredDiff extends RepositoryDiff {
  readonly file: CollectedFile;
}

/** Stores the changes of a run as patch files for people. A failure is recorded and has no other effect. */
export class PatchFiles {
  readonly #deps: PatchFilesDeps;

  constructor(deps: PatchFilesDeps) {
    this.#deps = deps;
  }

  /** Records the state of the repositories before a turn. */
  async takeSnapshot(): Promise<void> {
    const { changes, problem, runWorkspace } = this.#deps;
    await changes
      .takeSnapshot(runWorkspace)
      .catch((error) => problem("The changes of this turn cannot be told from earlier ones", error));
  }

  /** Brings work from elsewhere into the checked-out branches, and returns where it was. */
  async fastForward(): Promise<readonly LeftOutWork[]> {
    const { changes, problem, runWorkspace } = this.#deps;
    try {
      return await changes.fastForward(runWorkspace);
    } catch (error) {
      problem("Other branches and worktrees could not be searched for work", error);
      return [];
    }
  }

  /** The changes of this turn. Undefined: they are unknown. */
  ofTurn(turn: number): Promise<Changed | undefined> {
    return this.#collect("snapshot", `turn-${turn}`);
  }

  /** The changes of all turns. Undefined: they are unknown. `written`: files that tools of the agent wrote. */
  ofRun(written: readonly string[] = []): Promise<Changed | undefined> {
    return this.#collect("clone", "all", written);
  }

  async #collect(
    since: "snapshot" | "clone",
    name: string,
    written: readonly string[] = [],
  ): Promise<Changed | undefined> {
    const { changes, problem, runWorkspace } = this.#deps;
    try {
      const diffs: StoredDiff[] = [];
      const { diffs: found, leftOut } = await changes.diff(runWorkspace, since, written);
      for (const diff of found) {
        diffs.push({ ...diff, file: await this.#store(diff, name) });
      }
      return {
        files: diffs.map(({ file }) => file),
        repositories: diffs.map(({ repository }) => repository),
        diffs,
        leftOut,
      };
    } catch (error) {
      problem("The changes could not be stored as a patch", error);
      return undefined;
    }
  }

  async #store({ isCut, patch, repository }: RepositoryDiff, name: string): Promise<CollectedFile> {
    const { blobs, clock, problem } = this.#deps;
    const path = `changes/${this.#folderOf(repository)}/${name}.diff`;
    if (isCut) {
      problem(`${path} is too long and was cut`, undefined);
    }
    const blobId = await retry(clock, WHILE_UNAVAILABLE, () => blobs.put(patch));
    return { path, blobId, sizeBytes: patch.length, hash: await hashOf(patch) };
  }

  /**
   * The folder has the name of the repository, as in the workspace. With its owner, if two repositories have the same
   * name.
   */
  #folderOf({ name, owner }: RepositoryName): string {
    const alike = this.#deps.plan.repositories.filter((each) => isSameName(each.name, name));
    return alike.length > 1 ? `${owner}-${name}` : name;
  }
}
