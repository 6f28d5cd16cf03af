import type { RunAgentRequest } from "@errand/client";
import { issuesOf, problemAtOf } from "../edit/issues.ts";
import { bytes } from "./format.ts";

/** A file that goes with a request. */
export interface Attachment {
  readonly name: string;
  readonly type: string;
  readonly size: number;
  /** Base64. */
  readonly data: string;
}

/** What the server accepts in one request. */
export interface AttachmentLimits {
  readonly files: number;
  readonly fileBytes: number;
  readonly totalBytes: number;
}

export interface Chosen {
  readonly files: readonly Attachment[];
  /** Why others were not attached, a sentence for each. */
  readonly problems: readonly string[];
}

type ImageType = NonNullable<RunAgentRequest["images"]>[number]["mime_type"];

/** Pictures that browsers draw without running anything in them, unlike SVG. Models see the same ones. */
export const PICTURES: ReadonlySet<string> = new Set<ImageType>([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

/** So many pictures are shown to the model. Further ones are files only. */
const IMAGES_MAX = 5;

/** Why the file cannot go with the others. Undefined: it can. */
export function refusalOf(
  { name, size }: Pick<Attachment, "name" | "size">,
  files: readonly Attachment[],
  limits: AttachmentLimits,
): string | undefined {
  const total = files.reduce((sum, each) => sum + each.size, size);
  if (size > limits.fileBytes) {
    return `“${name}” was not attached: it has ${bytes(size)}, and a file may have ${bytes(limits.fileBytes)}.`;
  }
  if (files.length >= limits.files) {
    return `“${name}” was not attached: a message may have ${limits.files} files.`;
  }
  return total > limits.totalBytes
    ? `“${name}” was not attached: the files of a message may have ${bytes(limits.totalBytes)} together, and this would make ${bytes(total)}.`
    : undefined;
}

/** The members of a request that contain the files. */
export function membersOf(files: readonly Attachment[]): Pick<RunAgentRequest, "images" | "attachments"> {
  const { images, others } = parted(files);
  return {
    ...(images.length === 0
      ? {}
      : { images: images.map(({ data, type }) => ({ data, mime_type: type as ImageType })) }),
    ...(others.length === 0
      ? {}
      : {
          attachments: others.map(({ name, type, data }) => ({ file_name: name, mime_type: type, data })),
        }),
  };
}

/** What the server finds wrong with the file. */
export function problemOfFile(
  file: Attachment,
  files: readonly Attachment[],
  error: unknown,
): string | undefined {
  const { images, others } = parted(files);
  const problemAt = problemAtOf(issuesOf(error));
  return images.includes(file)
    ? problemAt(`images.${images.indexOf(file)}`)
    : problemAt(`attachments.${others.indexOf(file)}`);
}

function parted(files: readonly Attachment[]) {
  const images = files.filter(({ type }) => PICTURES.has(type)).slice(0, IMAGES_MAX);
  return { images, others: files.filter((file) => !images.includes(file)) };
}
