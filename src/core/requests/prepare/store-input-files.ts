import type { InputFile, RequestFile } from "../../model/workspaces/input-file.ts";
import type { BlobStore } from "../../ports/blob-store.ts";

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
