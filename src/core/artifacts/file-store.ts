import type { RunId } from "../ids.ts";
import type { RunInput } from "../inputs/run-input.ts";
import type { Artifact } from "./artifact.ts";

/** What was given to runs and what they made. Stored by changes of their run; the bytes are blobs. */
export interface FileStore {
  /** In the order in which they were given. */
  inputsOf(runId: RunId): Promise<readonly RunInput[]>;
  /** Of several runs at once, the oldest first, those of one moment by their key. */
  artifactsOf(runIds: readonly RunId[]): Promise<readonly Artifact[]>;
  findArtifact(id: string): Promise<Artifact | undefined>;
}
