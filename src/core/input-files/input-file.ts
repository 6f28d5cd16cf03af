import type { BlobStore } from "../ports/blob-store.ts";

export const INPUT_KINDS = ["attachment", "image"] as const;
export type InputKind = (typeof INPUT_KINDS)[number];

/** A file in the request of a run. */
export interface InputFile {
  readonly kind: InputKind;
  /** The name that the caller gave; untrusted. */
  readonly fileName: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly blobId: string;
}

/** A file of a follow-up. It has a place of its own in the workspace. */
export interface FollowUpFile extends InputFile {
  /** Relative to the workspace's directory. */
  readonly path: string;
  readonly sha256: string;
}

export interface RequestFile extends Pick<InputFile, "kind" | "fileName" | "mimeType"> {
  readonly bytes: Uint8Array;
}

/** Stores the bytes. The change that creates the run or the follow-up references them; otherwise they are pruned. */
export async function storeInputFiles(
  blobs: Pick<BlobStore, "put">,
  files: readonly RequestFile[],
): Promise<readonly InputFile[]> {
  const kept: InputFile[] = [];
  for (const { bytes, ...file } of files) {
    kept.push({ ...file, sizeBytes: bytes.length, blobId: await blobs.put(bytes) });
  }
  return kept;
}
