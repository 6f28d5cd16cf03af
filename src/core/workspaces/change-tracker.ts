import type { Gateway, PushedBranch } from "../agents/gateway.ts";
import type { RunId } from "../ids.ts";
import type { RepositoryName } from "../repositories/repository-name.ts";
import type { Workspace } from "./workspace.ts";

/** Where the changes of one run are: git runs in its sandbox, since the repositories there are the agent's to bend. */
export interface RunWorkspace {
  readonly runId: RunId;
  readonly workspace: Workspace;
  readonly gateway: Gateway;
  readonly image?: string;
}

/** What a run changes in the repositories of its workspace. */
export interface ChangeTracker {
  /** Remembers how the repositories stand, before a turn. */
  mark(site: RunWorkspace): Promise<void>;
  /** What has changed since that mark, or since the repositories were cloned; only those that changed. */
  diff(site: RunWorkspace, since: "mark" | "clone"): Promise<readonly RepositoryDiff[]>;
  /**
   * Commits what is not committed and pushes all there is since the clone to `branch`, which is made or moved. Undefined
   * when nothing is to be pushed. Repeatable.
   */
  push(site: RunWorkspace, push: BranchPush): Promise<PushedBranch | undefined>;
}

export interface RepositoryDiff {
  readonly repository: RepositoryName;
  /** A unified diff that `git apply` takes; cut at a bound, which `isCut` tells. */
  readonly patch: Uint8Array;
  readonly isCut: boolean;
  readonly filesChanged: number;
}

export interface BranchPush {
  readonly repository: RepositoryName;
  readonly branch: string;
  readonly message: string;
}
