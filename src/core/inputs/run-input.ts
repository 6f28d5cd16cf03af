import type { BlobStore } from "../ports/blob-store.ts";

export const INPUT_KINDS = ["attachment", "image"] as const;
export type InputKind = (typeof INPUT_KINDS)[number];

/** A file given to a run with its request. */
export interface RunInput {
  readonly kind: InputKind;
  /** As its giver called it: anybody's words. */
  readonly fileName: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly blobId: string;
}

export interface RequestFile extends Pick<RunInput, "kind" | "fileName" | "mimeType"> {
  readonly bytes: Uint8Array;
}

/** Stores the bytes. They are named by the change that makes the run, or pruned. */
export async function keepInputs(
  blobs: Pick<BlobStore, "put">,
  files: readonly RequestFile[],
): Promise<readonly RunInput[]> {
  const kept: RunInput[] = [];
  for (const { bytes, ...file } of files) {
    kept.push({ ...file, sizeBytes: bytes.length, blobId: await blobs.put(bytes) });
  }
  return kept;
}
