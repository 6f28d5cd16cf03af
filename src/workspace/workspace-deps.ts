import type { Gateway } from "../core/agents/gateway.ts";
import type { BlobStore } from "../core/ports/blob-store.ts";
import type { Log } from "../core/ports/log.ts";
import type { RepositoryClones } from "../git/repository-clones.ts";
import type { Sandbox } from "../sandboxes/sandbox.ts";
import type { PreparedEnvironments } from "./prepared-environments.ts";

/** What workspaces are made with. */
export interface WorkspaceDeps {
  readonly dataDir: string;
  readonly blobs: Pick<BlobStore, "get" | "put" | "remove">;
  readonly sandbox: Sandbox;
  readonly repositories: Pick<RepositoryClones, "find" | "clone">;
  readonly prepared: PreparedEnvironments;
  /** What all processes that go through the gateway are told of it. */
  readonly variablesOf: (gateway: Gateway) => Readonly<Record<string, string>>;
  readonly setup: SetupLimits;
  readonly log: Log;
  /** Of a checkpoint. */
  readonly maxBytes: number;
}

export interface SetupLimits {
  /** For each command. */
  readonly commandMs: number;
  /** For all of them. */
  readonly totalMs: number;
}
