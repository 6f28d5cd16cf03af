import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { Artifact } from "../../core/model/workspaces/artifact.ts";
import { Timestamp } from "./text.ts";

const download = {
  content_type: z.string().describe("The media type, derived from the file's name."),
  download_url: z.string().describe("The file. The URL works without a key until `expires_at`."),
  expires_at: Timestamp.describe("When `download_url` stops to work."),
  description: z.string().optional().describe("What the file shows, if the agent said so."),
};

function detailsOf<Type extends string, Data extends z.ZodType>(type: Type, data: Data) {
  return z.object({
    artifact_uid: z.uuid().describe("The artifact's id."),
    artifact_type: z.literal(type),
    created_at: Timestamp.describe("When the artifact was first created. Newer versions keep this time."),
    data: data.describe("The newest version."),
  });
}

const common = {
  artifact_uid: "0195b2a8-4d2e-7f60-a1b2-c3d4e5f60718",
  created_at: "2026-03-01T09:04:31.250Z",
};
const link = {
  download_url:
    "https://errand.example.com/api/v1/agent/artifacts/0195b2a8-4d2e-7f60-a1b2-c3d4e5f60718/file?run=…",
  expires_at: "2026-03-01T09:14:31.000Z",
};

const FileArtifactDetails = detailsOf(
  "FILE",
  z.object({
    ...download,
    filename: z.string().describe("The last segment of the path."),
    filepath: z.string().describe("The path in the workspace."),
    size_bytes: z.int().optional().describe("The size in bytes."),
  }),
).meta({
  id: "FileArtifactDetails",
  description: "A file that a run made.",
  examples: [
    {
      ...common,
      artifact_type: "FILE",
      data: {
        content_type: "text/markdown",
        ...link,
        filename: "report.md",
        filepath: "artifacts/report.md",
      },
    },
  ],
});

const ScreenshotArtifactDetails = detailsOf("SCREENSHOT", z.object(download)).meta({
  id: "ScreenshotArtifactDetails",
  description: "A picture that a run made.",
  examples: [{ ...common, artifact_type: "SCREENSHOT", data: { content_type: "image/png", ...link } }],
});

const PlanArtifactDetails = detailsOf(
  "PLAN",
  z.object({
    content: z.string().describe("The text of the plan. Empty: the plan has none."),
    content_type: z.string().describe("The media type of the text."),
    document_uid: z.string().describe("The plan's id."),
    notebook_uid: z.string().describe("The same as `document_uid`."),
    title: z.string().optional().describe("A title for people."),
    url: z.string().optional().describe("The URL where it can be viewed."),
  }),
).meta({
  id: "PlanArtifactDetails",
  description: "A plan that a run made.",
  examples: [
    {
      ...common,
      artifact_type: "PLAN",
      data: {
        content: "1. Measure",
        content_type: "text/markdown",
        document_uid: "p-1",
        notebook_uid: "p-1",
      },
    },
  ],
});

export const ArtifactDetails = z
  .discriminatedUnion("artifact_type", [FileArtifactDetails, ScreenshotArtifactDetails, PlanArtifactDetails])
  .meta({
    id: "ArtifactDetails",
    description: "An artifact with its content, or with an address where it can be downloaded.",
    examples: [{ ...common, artifact_type: "SCREENSHOT", data: { content_type: "image/png", ...link } }],
  });
export type ArtifactDetails = z.output<typeof ArtifactDetails>;

/** What is read only for the kinds that need it. */
export interface ArtifactContents {
  link(): { readonly url: string; readonly expiresAt: Date };
  text(): Promise<string>;
}

const PLAN_TYPE = "text/markdown";

/** Other kinds have neither a file nor a text, so there is nothing to get. */
export async function artifactDetailsOf(
  { body, createdAt, file, id }: Artifact,
  contents: ArtifactContents,
): Promise<ArtifactDetails> {
  const base = { artifact_uid: id, created_at: createdAt.toISOString() };
  if (body.type === "PLAN") {
    const { documentUid, title } = body;
    const ids = { document_uid: documentUid, notebook_uid: documentUid };
    const named = title === undefined ? {} : { title };
    const data = { content: await contents.text(), content_type: PLAN_TYPE, ...ids, ...named };
    return { ...base, artifact_type: body.type, data };
  }
  if ((body.type !== "FILE" && body.type !== "SCREENSHOT") || file === undefined) {
    throw new AppError("resource_not_found", "The artifact has no file.");
  }
  const { expiresAt, url } = contents.link();
  const data = { content_type: body.mimeType, download_url: url, expires_at: expiresAt.toISOString() };
  if (body.type === "SCREENSHOT") {
    return {
      ...base,
      artifact_type: body.type,
      data: { ...data, ...defined({ description: body.description }) },
    };
  }
  const names = { filename: body.fileName, filepath: body.filePath, size_bytes: file.sizeBytes };
  return { ...base, artifact_type: body.type, data: { ...data, ...names } };
}

const HandoffAttachment = z
  .object({
    attachment_id: z.uuid().describe("The id of the artifact."),
    filename: z.string().describe("The name of the file."),
    mime_type: z.string().describe("The media type, derived from the file's name."),
    download_url: z.string().describe("The file. The URL works for five minutes without a key."),
  })
  .meta({
    id: "HandoffAttachment",
    description: "A file of the last ended turn.",
    examples: [
      {
        attachment_id: common.artifact_uid,
        filename: "all.diff",
        mime_type: "text/x-diff",
        download_url: link.download_url,
      },
    ],
  });

export const HandoffAttachments = z
  .object({ attachments: z.array(HandoffAttachment).describe("Oldest first.") })
  .meta({
    id: "HandoffAttachments",
    description: "The patches and files that the last ended turn of a run left.",
    examples: [{ attachments: [] }],
  });
