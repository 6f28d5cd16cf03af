import { readFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import type { RunAgentRequest } from "@errand/client";
import { UsageError } from "./failure.ts";

const IMAGES: Readonly<Record<string, "image/png" | "image/jpeg" | "image/gif" | "image/webp">> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};
const TEXT_TYPES: Readonly<Record<string, string>> = {
  ".json": "application/json",
  ".md": "text/markdown",
  ".csv": "text/csv",
  ".pdf": "application/pdf",
  ".zip": "application/zip",
};

/** The files as a request has them. */
export async function filesOf(
  files: readonly string[],
): Promise<Pick<RunAgentRequest, "images" | "attachments">> {
  const images: NonNullable<RunAgentRequest["images"]> = [];
  const attachments: NonNullable<RunAgentRequest["attachments"]> = [];
  for (const file of files) {
    const bytes = await readFile(file).catch((error: Error) => {
      throw new UsageError(`The file cannot be read: ${error.message}`);
    });
    const data = bytes.toString("base64");
    const extension = extname(file).toLowerCase();
    const image = IMAGES[extension];
    if (image === undefined) {
      const mime_type =
        TEXT_TYPES[extension] ?? (bytes.includes(0) ? "application/octet-stream" : "text/plain");
      attachments.push({ file_name: basename(file), mime_type, data });
    } else {
      images.push({ data, mime_type: image });
    }
  }
  return { ...(images.length > 0 && { images }), ...(attachments.length > 0 && { attachments }) };
}
