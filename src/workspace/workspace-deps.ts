import type { Log } from "../core/basics/log.ts";
import type { BlobStore } from "../core/ports/blob-store.ts";
import type { Gateway } from "../core/ports/gateway.ts";
import type { RepositoryClones } from "../git/repository-clones.ts";
import type { Sandbox } from "../sandboxes/sandbox.ts";
import type { LargeBases } from "./large-bases.ts";
import type { PreparedEnvironments } from "./prepared-environments.ts";
import type { DirectoryQuota } from "./project-quota.ts";
import type { TooLargeFiles } from "./too-large-files.ts";

/** The dependencies of workspaces. */
export interface WorkspaceDeps {
  readonly dataDir: string;
  readonly blobs: Pick<BlobStore, "get" | "put" | "remove">;
  readonly sandbox: Sandbox;
  readonly repositories: Pick<RepositoryClones, "find" | "clone">;
  readonly prepared: PreparedEnvironments;
  /** Environment variables for all processes that use the gateway. */
  readonly variablesOf: (gateway: Gateway) => Readonly<Record<string, string>>;
  readonly setup: SetupLimits;
  readonly log: Log;
  /** The limit of a checkpoint. */
  readonly maxBytes: number;
  readonly largeBases: LargeBases;
  readonly tooLarge: TooLargeFiles;
  /** Limits the size of each workspace. Undefined: the file system cannot do that. */
  readonly quota?: DirectoryQuota | undefined;
}

export interface SetupLimits {
  /** The limit of each command. */
  readonly commandMs: number;
  /** The limit of all commands together. */
  readonly totalMs: number;
}
