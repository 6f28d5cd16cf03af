import { AppError, invalidMember } from "../../core/basics/errors.ts";
import type { RequestFile } from "../../core/model/workspaces/input-file.ts";
import { PICTURE_TYPES, pictureTypeOf } from "../../core/model/workspaces/picture.ts";
import type { RunAgentRequest, RunFollowupRequest } from "../schemas/run-requests.ts";
import type { ApiLimits } from "./api-limits.ts";

type FileMembers = Pick<RunAgentRequest, "images" | "attachments">;
type ImageType = NonNullable<FileMembers["images"]>[number]["mime_type"];
type Limits = Pick<ApiLimits, "attachmentBytes" | "attachmentsBytes">;

/** Decodes the files of a request. Refuses invalid base64, files that are too large, and images of another type. */
export function requestFilesOf(
  { images = [], attachments = [] }: FileMembers,
  limits: Limits,
): readonly RequestFile[] {
  const files = [
    ...attachments.map(({ file_name, mime_type, data }, index): RequestFile => {
      const bytes = decode(`attachments.${index}.data`, data, limits);
      return { kind: "attachment", fileName: file_name, mimeType: essenceOf(mime_type), bytes };
    }),
    ...images.map(({ mime_type, data }, index): RequestFile => {
      const bytes = decode(`images.${index}.data`, data, limits);
      requireImage(`images.${index}.data`, bytes, mime_type);
      const fileName = `image-${index + 1}.${PICTURE_TYPES[mime_type]}`;
      return { kind: "image", fileName, mimeType: mime_type, bytes };
    }),
  ];
  const total = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (total > limits.attachmentsBytes) {
    const message = `must have at most ${limits.attachmentsBytes} bytes in total, including the images`;
    throw invalidMember("attachments", message);
  }
  return files;
}

/** The same for a follow-up, whose files may have been uploaded to another server before. */
export function followUpFilesOf(
  { attachments = [], images }: Pick<RunFollowupRequest, "attachments" | "images">,
  limits: Limits,
): readonly RequestFile[] {
  const unknown = attachments.findIndex(({ attachment_id }) => attachment_id !== undefined);
  if (unknown !== -1) {
    throw new AppError("operation_not_supported", "This server has no uploaded files.", {
      remedy: "Send file_name, mime_type and data of the file.",
      issues: [{ path: `attachments.${unknown}.attachment_id`, message: "is unknown" }],
    });
  }
  const sent = attachments.map(({ data = "", file_name = "", mime_type = "" }) => ({
    data,
    file_name,
    mime_type,
  }));
  return requestFilesOf({ attachments: sent, images }, limits);
}

/** Checks the text first, because Node ignores invalid characters. */
function decode(path: string, data: string, { attachmentBytes }: Limits): Buffer {
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) {
    throw invalidMember(path, "must be base64");
  }
  const bytes = Buffer.from(data, "base64");
  if (bytes.length <= attachmentBytes) {
    return bytes;
  }
  throw invalidMember(path, `must have at most ${attachmentBytes} bytes`);
}

function requireImage(path: string, bytes: Buffer, type: ImageType): void {
  if (pictureTypeOf(bytes) === type) {
    return;
  }
  throw invalidMember(path, `must be an image of the type ${type}`);
}

/** Removes the parameters of a media type, which agents do not need. */
function essenceOf(mimeType: string): string {
  return mimeType.split(";", 1).join("").trim().toLowerCase();
}
