import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { PullRequestStatus } from "../../core/model/repositories/pull-request-status.ts";
import type { Artifact, ArtifactType } from "../../core/model/workspaces/artifact.ts";
import { Timestamp } from "./text.ts";

const ArtifactUid = z.uuid().describe("The artifact's id.");
const MimeType = z.string().describe("The media type, derived from the file's name.");
const Title = z.string().optional().describe("A title for people.");
const PageUrl = z.string().describe("The URL where it can be viewed.");

const IDS: Readonly<Record<ArtifactType, string>> = {
  FILE: "FileArtifact",
  PULL_REQUEST: "PullRequestArtifact",
  PLAN: "PlanArtifact",
  SCREENSHOT: "ScreenshotArtifact",
  EXTERNAL_REFERENCE: "ExternalReferenceArtifact",
};

function typed<Type extends ArtifactType, Data extends z.ZodType>(type: Type, data: Data) {
  return z
    .object({
      artifact_type: z.literal(type),
      created_at: Timestamp.describe("When the artifact was first created. Newer versions keep this time."),
      data: data.describe("Details that depend on the type."),
    })
    .meta({ id: IDS[type], description: `An artifact of the type \`${type}\`.` });
}

export const ArtifactItem = z
  .discriminatedUnion("artifact_type", [
    typed(
      "FILE",
      z.object({
        artifact_uid: ArtifactUid,
        filepath: z.string().describe("The path in the workspace."),
        filename: z.string().describe("The last segment of the path."),
        mime_type: MimeType,
        size_bytes: z.int().optional().describe("The size of the newest version."),
      }),
    ),
    typed(
      "PULL_REQUEST",
      z.object({
        url: PageUrl,
        branch: z.string().describe("The branch that the pull request merges."),
        status: z
          .enum(["open", "draft", "merged", "closed", "unknown"])
          .describe(
            "What the platform last said. `unknown`: it has not been asked, or another one is newer.",
          ),
      }),
    ),
    typed("PLAN", z.object({ document_uid: z.string().describe("The plan's id."), title: Title })),
    typed(
      "SCREENSHOT",
      z.object({
        artifact_uid: ArtifactUid,
        mime_type: z.string().describe("The media type that the bytes of the picture have."),
        description: z.string().optional().describe("What the agent did when it made the picture."),
      }),
    ),
    typed(
      "EXTERNAL_REFERENCE",
      z.object({
        reference_type: z.string().describe("The kind of reference, as the agent names it."),
        url: PageUrl,
        title: Title,
      }),
    ),
  ])
  .meta({
    id: "ArtifactItem",
    description: "A result of a run.",
    examples: [
      {
        artifact_type: "FILE",
        created_at: "2026-03-01T09:04:31.250Z",
        data: {
          artifact_uid: "0195b2a8-4d2e-7f60-a1b2-c3d4e5f60718",
          filepath: "artifacts/report.md",
          filename: "report.md",
          mime_type: "text/markdown",
          size_bytes: 1834,
        },
      },
    ],
  });
export type ArtifactItem = z.output<typeof ArtifactItem>;

export function artifactItemOf(
  { id, body, file, createdAt }: Artifact,
  pullRequest?: PullRequestStatus,
): ArtifactItem {
  const created_at = createdAt.toISOString();
  switch (body.type) {
    case "FILE": {
      const size = file === undefined ? {} : { size_bytes: file.sizeBytes };
      const { filePath: filepath, fileName: filename, mimeType: mime_type } = body;
      const data = { artifact_uid: id, filepath, filename, mime_type, ...size };
      return { artifact_type: body.type, created_at, data };
    }
    case "PULL_REQUEST": {
      const status = pullRequest?.url === body.url ? pullRequest.state : "unknown";
      return { artifact_type: body.type, created_at, data: { url: body.url, branch: body.branch, status } };
    }
    case "PLAN":
      return {
        artifact_type: body.type,
        created_at,
        data: { document_uid: body.documentUid, ...titleOf(body) },
      };
    case "SCREENSHOT": {
      const { description, mimeType: mime_type } = body;
      const data = { artifact_uid: id, mime_type, ...defined({ description }) };
      return { artifact_type: body.type, created_at, data };
    }
    case "EXTERNAL_REFERENCE": {
      const data = { reference_type: body.referenceType, url: body.url, ...titleOf(body) };
      return { artifact_type: body.type, created_at, data };
    }
    default:
      return body satisfies never;
  }
}

function titleOf({ title }: { readonly title?: string }): { title?: string } {
  return title === undefined ? {} : { title };
}
