import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { FastifyReply } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { AppError } from "../../core/basics/errors.ts";
import { parseRunId } from "../../core/basics/ids.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import type { Run } from "../../core/model/runs/run.ts";
import type { Artifact, StoredFile } from "../../core/model/workspaces/artifact.ts";
import { PICTURE_TYPES } from "../../core/model/workspaces/picture.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import {
  attachmentHeader,
  type LinkTarget,
  Redirect,
  SignedLinks,
  SignedQuery,
} from "../auth/signed-links.ts";
import { ArtifactDetails, artifactDetailsOf, HandoffAttachments } from "../schemas/artifact-details.ts";
import { ConversationParams, RunParams, requireId, requireRunId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import { lastEndedTurn } from "./run-changes.ts";

type ArtifactDeps = Pick<ApiDeps, "blobs" | "clock" | "publicUrl" | "runs" | "sessionSecret" | "storage">;

const Params = z.object({ uid: z.string().describe("The id of an artifact, a UUID.") });
const UidParams = z.object({
  uid: z.string().describe("The id of an artifact, or the `document_uid` of a plan."),
});

const GET = {
  operationId: "getArtifact",
  summary: "Get an artifact",
  tags: ["artifacts"],
  description:
    "Files and pictures come with a URL for their download, plans with their text. Other artifacts are 404, because " +
    "the run shows everything of them.",
  params: UidParams,
  response: { 200: ArtifactDetails, ...problems(401, 404, 503) },
};
const HANDOFF = {
  operationId: "listHandoffAttachments",
  summary: "List the files of the last ended turn",
  description:
    "The patches and files that the last ended turn left, for a person or agent who continues the work.",
  tags: ["artifacts"],
  params: RunParams,
  response: { 200: HandoffAttachments, ...problems(401, 404, 503) },
};
const DOWNLOAD = {
  operationId: "downloadArtifact",
  summary: "Download the file of an artifact",
  tags: ["artifacts"],
  params: Params,
  response: { 302: Redirect, ...problems(401, 404, 503) },
};
const OF_RUN = {
  operationId: "downloadRunArtifact",
  summary: "Download the file of an artifact of a run",
  description: "Like the download of an artifact. A guest of a share link of the run may use it too.",
  tags: ["artifacts"],
  params: RunParams.extend(Params.shape),
  response: { 302: Redirect, ...problems(401, 404, 503) },
};
const SCREENSHOT = {
  operationId: "downloadConversationScreenshot",
  summary: "Download a picture of a conversation",
  tags: ["conversations"],
  params: ConversationParams.extend(Params.shape),
  response: { 302: Redirect, ...problems(401, 404, 503) },
};
const FILE = {
  operationId: "downloadArtifactFile",
  summary: "Download the file at a signed address",
  tags: ["artifacts"],
  params: Params,
  querystring: SignedQuery,
  response: {
    200: { description: "The file, with its own media type.", content: { "*/*": { schema: z.string() } } },
    ...problems(400, 403, 404, 503),
  },
};

/** Addresses that the holder may use without a key for a while. */
class FileLinks {
  readonly #deps: ArtifactDeps;
  readonly #links: SignedLinks;
  readonly #prefix: string;

  constructor(deps: ArtifactDeps, prefix: string) {
    this.#deps = deps;
    this.#links = new SignedLinks(deps, "artifact");
    this.#prefix = prefix;
  }

  of(artifact: Artifact, run: Run): { readonly expiresAt: Date; readonly url: string } {
    const { expiresAt, url } = this.#links.signUntil(this.#pathOf(artifact), targetOf(artifact, run));
    return { expiresAt, url: `${this.#deps.publicUrl()}${url}` };
  }

  redirect(reply: FastifyReply, artifact: Artifact, run: Run): FastifyReply {
    requireFile(artifact);
    return reply.redirect(this.#links.sign(this.#pathOf(artifact), targetOf(artifact, run)), 302);
  }

  open(query: z.output<typeof SignedQuery>, uid: string): ReturnType<SignedLinks["open"]> {
    return this.#links.open(query, uid);
  }

  #pathOf({ id }: Artifact): string {
    return `${this.#prefix}/agent/artifacts/${id}/file`;
  }
}

const config = { scope: "runs:read" } as const;

export function artifactRoutes(deps: ArtifactDeps): FastifyPluginAsyncZod {
  const withLink = { ...config, givesLink: true } as const;
  return async (app) => {
    const links = new FileLinks(deps, app.prefix);
    app.get("/agent/artifacts/:uid", { schema: GET, config: withLink }, async (request) => {
      const { artifact, run } = await getArtifactOrPlan(deps, request.params.uid, viewerOf(request));
      return artifactDetailsOf(artifact, {
        link: () => links.of(artifact, run),
        text: () => textOf(deps, artifact),
      });
    });
    const handoff = { schema: HANDOFF, config: withLink };
    app.get("/agent/runs/:runId/handoff/attachments", handoff, async (request) => {
      const run = await deps.runs.get({ id: requireRunId(request.params.runId) }, viewerOf(request));
      const artifacts = await deps.storage.files.artifactsOf([run.id]);
      const left = artifacts.filter(({ file, turn }) => file !== undefined && turn === lastEndedTurn(run));
      const files = left.filter(isFile);
      return { attachments: files.map((artifact) => attachmentOf(artifact, links.of(artifact, run).url)) };
    });
    await app.register(downloadRoutes(deps, links));
    const file = { schema: FILE, config: { public: true }, exposeHeadRoute: false } as const;
    app.get("/agent/artifacts/:uid/file", file, async (request, reply) => {
      const { uid } = request.params;
      const { artifact } = await getArtifact(deps, uid, links.open(request.query, uid));
      return sendFile(deps, reply, artifact);
    });
  };
}

/** Addresses that lead to the signed one of a file. */
function downloadRoutes(deps: ArtifactDeps, links: FileLinks): FastifyPluginAsyncZod {
  return async (app) => {
    app.get("/agent/artifacts/:uid/download", { schema: DOWNLOAD, config }, async (request, reply) => {
      const { artifact, run } = await getArtifact(deps, request.params.uid, viewerOf(request));
      return links.redirect(reply, artifact, run);
    });
    // The cookie of a share link is sent only to the addresses of its run.
    const ofRun = { schema: OF_RUN, config: { ...config, acceptsGuest: "any" } } as const;
    app.get("/agent/runs/:runId/artifacts/:uid/download", ofRun, async (request, reply) => {
      const { runId, uid } = request.params;
      const { artifact, run } = await getArtifact(deps, uid, viewerOf(request));
      if (run.id !== requireRunId(runId)) {
        throw unknownArtifact();
      }
      return links.redirect(reply, artifact, run);
    });
    const ofConversation = "/agent/conversations/:conversationId/screenshots/:uid/download";
    app.get(ofConversation, { schema: SCREENSHOT, config }, async (request, reply) => {
      const { conversationId, uid } = request.params;
      const { artifact, run } = await getArtifact(deps, uid, viewerOf(request));
      const isOfConversation = run.conversationId === requireId(conversationId, "conversation");
      if (!isOfConversation || artifact.body.type !== "SCREENSHOT") {
        throw unknownArtifact();
      }
      return links.redirect(reply, artifact, run);
    });
  };
}

/** Browsers must save what an agent made. They must not show it as a page of this server or run it. */
async function sendFile(
  { blobs }: Pick<ApiDeps, "blobs">,
  reply: FastifyReply,
  artifact: Artifact,
): Promise<FastifyReply> {
  const { fileName, mimeType, blobId, sizeBytes } = requireFile(artifact);
  await reply
    .type(mimeType)
    .header("content-disposition", attachmentHeader(fileName))
    .header("content-security-policy", "sandbox; default-src 'none'")
    .header("content-length", sizeBytes)
    .send(Readable.from(blobs.read(blobId)));
  return reply;
}

function targetOf({ id }: Artifact, { id: runId, teamId }: Run): LinkTarget {
  return { runId, teamId, id };
}

async function textOf({ blobs }: Pick<ApiDeps, "blobs">, { file }: Artifact): Promise<string> {
  return file === undefined ? "" : text(blobs.read(file.blobId));
}

function isFile({ body }: Artifact): boolean {
  return "mimeType" in body;
}

function attachmentOf(
  artifact: Artifact,
  url: string,
): z.output<typeof HandoffAttachments>["attachments"][number] {
  const { fileName, mimeType } = requireFile(artifact);
  return { attachment_id: artifact.id, filename: fileName, mime_type: mimeType, download_url: url };
}

/** Another team may have a plan of the same id, so the newest that the viewer can see counts. */
async function getArtifactOrPlan(
  deps: Pick<ApiDeps, "runs" | "storage">,
  uid: string,
  viewer: Viewer,
): Promise<{ artifact: Artifact; run: Run }> {
  const artifact = await getArtifact(deps, uid, viewer).catch(unlessMissing);
  if (artifact !== undefined) {
    return artifact;
  }
  for (const { id } of await deps.storage.files.findPlans(uid)) {
    const plan = await getArtifact(deps, id, viewer).catch(unlessMissing);
    if (plan !== undefined) {
      return plan;
    }
  }
  throw unknownArtifact();
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof AppError && error.code === "resource_not_found") {
    return undefined;
  }
  throw error;
}

/** An artifact is visible to everyone who can see its run. */
async function getArtifact(
  { runs, storage }: Pick<ApiDeps, "runs" | "storage">,
  uid: string,
  viewer: Viewer,
): Promise<{ artifact: Artifact; run: Run }> {
  const id = parseRunId(uid);
  const artifact = id === undefined ? undefined : await storage.files.findArtifact(id);
  if (artifact === undefined) {
    throw unknownArtifact();
  }
  const run = await runs.get({ id: artifact.runId }, viewer).catch((error: unknown) => {
    throw error instanceof AppError && error.code === "resource_not_found" ? unknownArtifact() : error;
  });
  return { artifact, run };
}

function requireFile({ body, file }: Artifact): StoredFile & { fileName: string; mimeType: string } {
  if (file === undefined || !("mimeType" in body)) {
    throw new AppError("resource_not_found", "The artifact has no file.");
  }
  const fileName = body.type === "FILE" ? body.fileName : `screenshot.${endingOf(body.mimeType)}`;
  return { ...file, fileName, mimeType: body.mimeType };
}

function endingOf(mimeType: string): string {
  return Object.entries(PICTURE_TYPES).find(([type]) => type === mimeType)?.[1] ?? "bin";
}

function unknownArtifact(): AppError {
  return new AppError("resource_not_found", "There is no such artifact.");
}
