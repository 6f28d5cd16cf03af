import type { RunId } from "../../basics/ids.ts";

/** The types of artifact in the API. The list is closed, because strict clients refuse other values. */
export const ARTIFACT_TYPES = ["PULL_REQUEST", "PLAN", "FILE", "SCREENSHOT", "EXTERNAL_REFERENCE"] as const;
export type ArtifactType = (typeof ARTIFACT_TYPES)[number];

/** What is shown of an artifact besides its id, by type. */
export type ArtifactBody =
  | { readonly type: "PULL_REQUEST"; readonly url: string; readonly branch: string }
  | { readonly type: "PLAN"; readonly documentUid: string; readonly title?: string }
  | { readonly type: "FILE"; readonly filePath: string; readonly fileName: string; readonly mimeType: string }
  | { readonly type: "SCREENSHOT"; readonly mimeType: string; readonly description?: string }
  | {
      readonly type: "EXTERNAL_REFERENCE";
      readonly referenceType: string;
      readonly url: string;
      readonly title?: string;
    };

/** Something that a run made. */
export interface Artifact {
  readonly id: string;
  readonly runId: RunId;
  /** Identifies the artifact among those of its run and type: the path of a file, the address of a pull request. */
  readonly key: string;
  /** 1, 2, 3 …: a new version of the same artifact keeps its id. */
  readonly version: number;
  /** The turn that made this version. */
  readonly turn: number;
  readonly body: ArtifactBody;
  /** The bytes, for types that have some. */
  readonly file?: StoredFile;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface StoredFile {
  readonly blobId: string;
  readonly sizeBytes: number;
  /** SHA-256, hexadecimal. */
  readonly hash: string;
}

export type NewArtifact = Pick<Artifact, "key" | "body" | "file">;

const UNKNOWN = "application/octet-stream";

/** The type depends only on the file name. An agent cannot choose the type of its file, and no browser guesses it. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["css", "text/css"],
  ["csv", "text/csv"],
  ["diff", "text/x-diff"],
  ["gif", "image/gif"],
  ["gz", "application/gzip"],
  ["html", "text/html"],
  ["jpeg", "image/jpeg"],
  ["jpg", "image/jpeg"],
  ["js", "text/javascript"],
  ["json", "application/json"],
  ["log", "text/plain"],
  ["md", "text/markdown"],
  ["patch", "text/x-diff"],
  ["pdf", "application/pdf"],
  ["png", "image/png"],
  ["svg", "image/svg+xml"],
  ["tar", "application/x-tar"],
  ["txt", "text/plain"],
  ["webp", "image/webp"],
  ["xml", "application/xml"],
  ["yaml", "application/yaml"],
  ["yml", "application/yaml"],
  ["zip", "application/zip"],
]);

export function mimeTypeOf(fileName: string): string {
  const extension = /\.([^.]+)$/.exec(fileName)?.[1]?.toLowerCase() ?? "";
  return TYPES.get(extension) ?? UNKNOWN;
}
