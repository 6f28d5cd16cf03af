import type { RunId } from "../../basics/ids.ts";
import type { Artifact } from "../../model/workspaces/artifact.ts";
import type { InputFile } from "../../model/workspaces/input-file.ts";
import type { RepositoryChanges } from "../../model/workspaces/repository-changes.ts";

/** The inputs, the artifacts and the changes of runs. Changes of the run store them; their bytes are blobs. */
export interface FileStore {
  /** The files of the request, in its order. */
  inputsOf(runId: RunId): Promise<readonly InputFile[]>;
  /** The artifacts of several runs, oldest first; those of the same time by their key. */
  artifactsOf(runIds: readonly RunId[]): Promise<readonly Artifact[]>;
  findArtifact(id: string): Promise<Artifact | undefined>;
  /** The plans with this document id, of all teams. Newest first. */
  findPlans(documentUid: string): Promise<readonly Artifact[]>;
  /** What the run has changed in its repositories, by owner and name. */
  changesOf(runId: RunId): Promise<readonly RepositoryChanges[]>;
}
