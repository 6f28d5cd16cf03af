import type { RunId } from "../core/basics/ids.ts";
import type { Artifact } from "../core/model/workspaces/artifact.ts";
import type { InputFile } from "../core/model/workspaces/input-file.ts";
import type { RepositoryChanges } from "../core/model/workspaces/repository-changes.ts";
import type { FileStore } from "../core/ports/stores/file-store.ts";
import type { RunChange } from "../core/ports/stores/run-change.ts";
import { Batcher, READ_TOGETHER_MAX } from "./batcher.ts";
import type { Statements, Tx } from "./database.ts";
import {
  type Artifact as ArtifactRow,
  type RunInput as InputRow,
  Prisma,
  type RepositoryChange as RepositoryChangeRow,
} from "./generated/client.ts";
import { ARTIFACT_BODY, CHANGED_FILES } from "./json-columns.ts";
import { parseJsonColumn, selectList, toJson, withoutNulls } from "./rows.ts";

const ARTIFACTS_OF = `
  SELECT ${selectList(Object.values(Prisma.ArtifactScalarFieldEnum))} FROM artifacts
  WHERE run_id = ANY ($1::uuid[]) ORDER BY created_at, key COLLATE "C"`;
const PLANS = `
  SELECT ${selectList(Object.values(Prisma.ArtifactScalarFieldEnum))} FROM artifacts
  WHERE type = 'PLAN' AND body ->> 'documentUid' = $1 ORDER BY created_at DESC, id DESC LIMIT 100`;

export class PrismaFileStore implements FileStore {
  readonly #database: Statements;
  readonly #artifacts: Batcher<readonly RunId[], ArtifactRow[]>;

  constructor(database: Statements) {
    this.#database = database;
    this.#artifacts = artifactReadsOf(database);
  }

  async inputsOf(runId: RunId): Promise<readonly InputFile[]> {
    const rows = await this.#database.query((client) =>
      client.runInput.findMany({ where: { runId, followUpId: null }, orderBy: { position: "asc" } }),
    );
    return rows.map(inputOf);
  }

  async artifactsOf(runIds: readonly RunId[]): Promise<readonly Artifact[]> {
    if (runIds.length === 0) {
      return [];
    }
    return (await this.#artifacts.do(runIds)).map(artifactOf);
  }

  async findArtifact(id: string): Promise<Artifact | undefined> {
    const row = await this.#database.query((client) => client.artifact.findUnique({ where: { id } }));
    return row === null ? undefined : artifactOf(row);
  }

  async findPlans(documentUid: string): Promise<readonly Artifact[]> {
    const rows = await this.#database.rows<ArtifactRow>({ text: PLANS, values: [documentUid] });
    return rows.map(artifactOf);
  }

  async changesOf(runId: RunId): Promise<readonly RepositoryChanges[]> {
    const rows = await this.#database.query((client) =>
      client.repositoryChange.findMany({ where: { runId }, orderBy: [{ owner: "asc" }, { name: "asc" }] }),
    );
    return rows.map(changesIn);
  }
}

/** Each read of a run has its artifacts, and many are read at the same time. */
function artifactReadsOf(database: Pick<Statements, "rows">): Batcher<readonly RunId[], ArtifactRow[]> {
  return new Batcher({
    itemsMax: READ_TOGETHER_MAX,
    perform: async (reads) => {
      const rows = await database.rows<ArtifactRow>({
        text: ARTIFACTS_OF,
        values: [[...new Set(reads.flat())]],
      });
      return reads.map((ids) => rows.filter(({ runId }) => ids.some((id) => id === runId)));
    },
  });
}

/** The changes in repositories that the run's row causes. A foreign key makes sure that their blobs exist. */
export async function replaceChanges(
  tx: Tx,
  runId: RunId,
  changes: NonNullable<RunChange["changes"]>,
): Promise<void> {
  await tx.repositoryChange.deleteMany({ where: { runId } });
  await tx.repositoryChange.createMany({
    data: changes.map(({ files, ...row }) => ({ ...row, runId, files: toJson(files) })),
  });
}

function changesIn({ files, runId, ...row }: RepositoryChangeRow): RepositoryChanges {
  const location = { table: "repository_changes", id: runId, column: "files" } as const;
  return {
    ...withoutNulls<Omit<RepositoryChanges, "files">>(row),
    files: parseJsonColumn(CHANGED_FILES, files, location),
  };
}

/** The rows of a change's files. A foreign key makes sure that their blobs exist. */
export async function addFiles(
  tx: Tx,
  runId: RunId,
  { inputs, artifacts }: Required<Pick<RunChange, "inputs" | "artifacts">>,
): Promise<void> {
  if (inputs.length > 0) {
    await tx.runInput.createMany({ data: inputs.map((input, position) => ({ ...input, runId, position })) });
  }
  for (const artifact of artifacts) {
    const columns = artifactColumns(artifact);
    await tx.artifact.upsert({ where: { id: artifact.id }, create: columns, update: columns });
  }
}

/** Keeps the blobs of follow-ups. A follow-up itself says what it brought. */
export async function addFollowUpFiles(
  tx: Tx,
  runId: RunId,
  followUps: RunChange["followUps"],
): Promise<void> {
  const files = followUps.flatMap(({ files: brought = [], id: followUpId }) =>
    brought.map(({ path: _path, sha256: _sha256, ...input }) => ({ ...input, followUpId })),
  );
  if (files.length === 0) {
    return;
  }
  const { _max } = await tx.runInput.aggregate({ where: { runId }, _max: { position: true } });
  const next = (_max.position ?? -1) + 1;
  await tx.runInput.createMany({
    data: files.map((file, index) => ({ ...file, runId, position: next + index })),
  });
}

function inputOf({ kind, fileName, mimeType, sizeBytes, blobId }: InputRow): InputFile {
  return { kind, fileName, mimeType, sizeBytes, blobId };
}

function artifactOf({ runId, body, type: _type, blobId, sizeBytes, hash, ...row }: ArtifactRow): Artifact {
  const file =
    blobId === null || sizeBytes === null || hash === null ? {} : { file: { blobId, sizeBytes, hash } };
  const location = { table: "artifacts", id: row.id, column: "body" } as const;
  return { ...row, runId, body: parseJsonColumn(ARTIFACT_BODY, body, location), ...file };
}

function artifactColumns({ body, file, ...artifact }: Artifact) {
  const { blobId = null, sizeBytes = null, hash = null } = file ?? {};
  return { ...artifact, type: body.type, body: toJson(body), blobId, sizeBytes, hash };
}
