import type { Artifact, ArtifactBody } from "../../model/workspaces/artifact.ts";
import { mimeTypeOf } from "../../model/workspaces/mime-types.ts";
import type { Collected } from "../../model/workspaces/workspace.ts";
import type { RunEdit } from "../../runs/run-edit.ts";

/** The log names only this many files that were left out. */
const LEFT_OUT_NAMED_MAX = 20;

/** Adds the collected files to the run. A file at the path of a `known` artifact becomes its next version. */
export function decideArtifacts(
  edit: RunEdit,
  { files, leftOut }: Collected,
  known: readonly Artifact[],
): void {
  const earlier = new Map(known.filter(isFile).map((artifact) => [artifact.key, artifact]));
  for (const { path, ...file } of files) {
    edit.addArtifact({ key: path, body: fileAt(path), file }, earlier.get(path));
  }
  if (leftOut.length === 0) {
    return;
  }
  edit.record({ kind: "artifact.left_out", files: leftOut.slice(0, LEFT_OUT_NAMED_MAX) });
}

/** The hashes of the known files, by path. */
export function hashesByPath(known: readonly Artifact[]): ReadonlyMap<string, string> {
  return new Map(known.filter(isFile).map(({ key, file }) => [key, file?.hash ?? ""]));
}

function isFile({ body }: Artifact): boolean {
  return body.type === "FILE";
}

function fileAt(filePath: string): ArtifactBody {
  const fileName = filePath.slice(filePath.lastIndexOf("/") + 1);
  return { type: "FILE", filePath, fileName, mimeType: mimeTypeOf(fileName) };
}
