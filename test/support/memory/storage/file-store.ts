import type { RunId } from "../../../../src/core/basics/ids.ts";
import type { Artifact } from "../../../../src/core/model/workspaces/artifact.ts";
import type { InputFile } from "../../../../src/core/model/workspaces/input-file.ts";
import type { RepositoryChanges } from "../../../../src/core/model/workspaces/repository-changes.ts";
import type { FileStore } from "../../../../src/core/ports/stores/file-store.ts";
import type { RunChange } from "../../../../src/core/ports/stores/run-change.ts";
import type { InMemoryStatements, Tx } from "./in-memory-database.ts";

export class InMemoryFileStore implements FileStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  inputsOf(runId: RunId): Promise<readonly InputFile[]> {
    return this.#database.read(({ inputs }) => inputs.get(runId) ?? []);
  }

  artifactsOf(runIds: readonly RunId[]): Promise<readonly Artifact[]> {
    return this.#database.read(({ artifacts }) =>
      Array.from(artifacts.values().filter(({ runId }) => runIds.includes(runId))).sort(byAge),
    );
  }

  findArtifact(id: string): Promise<Artifact | undefined> {
    return this.#database.read(({ artifacts }) => artifacts.get(id));
  }

  findPlans(documentUid: string): Promise<readonly Artifact[]> {
    return this.#database.read(({ artifacts }) =>
      Array.from(
        artifacts.values().filter(({ body }) => body.type === "PLAN" && body.documentUid === documentUid),
      )
        .sort(byAge)
        .toReversed(),
    );
  }

  changesOf(runId: RunId): Promise<readonly RepositoryChanges[]> {
    return this.#database.read(({ changes }) => (changes.get(runId) ?? []).toSorted(byName));
  }
}

export function addFiles({ tables }: Tx, runId: RunId, change: RunChange): void {
  const { artifacts = [], changes, inputs = [] } = change;
  if (changes !== undefined) {
    tables.changes.set(runId, changes);
  }
  if (inputs.length > 0) {
    tables.inputs.set(runId, inputs);
  }
  for (const artifact of artifacts) {
    tables.artifacts.set(artifact.id, artifact);
  }
}

function byName(a: RepositoryChanges, b: RepositoryChanges): number {
  return `${a.owner}/${a.name}` < `${b.owner}/${b.name}` ? -1 : 1;
}

function byAge(a: Artifact, b: Artifact): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.key < b.key ? -1 : 1);
}
