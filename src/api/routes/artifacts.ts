import { Readable } from "node:stream";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Artifact, StoredFile } from "../../core/artifacts/artifact.ts";
import { AppError } from "../../core/errors.ts";
import { parseRunId } from "../../core/ids.ts";
import type { Viewer } from "../../core/people/principal.ts";
import type { Run } from "../../core/runs/run.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { SignedLinks } from "../auth/signed-links.ts";
import { attachmentHeader, Redirect, SignedQuery } from "../http/downloads.ts";
import { ArtifactItem, artifactItemOf } from "../schemas/artifact.ts";
import { problems } from "../schemas/problem.ts";

type ArtifactDeps = Pick<ApiDeps, "blobs" | "clock" | "runs" | "sessionSecret" | "storage">;

const Params = z.object({ uid: z.string().describe("A UUID.") });

const GET = {
  operationId: "getArtifact",
  summary: "Get an artifact",
  tags: ["artifacts"],
  params: Params,
  response: { 200: ArtifactItem, ...problems(401, 404, 503) },
};
const DOWNLOAD = {
  operationId: "downloadArtifact",
  summary: "Download the file of an artifact",
  tags: ["artifacts"],
  params: Params,
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

export function artifactRoutes(deps: ArtifactDeps): FastifyPluginAsyncZod {
  const links = new SignedLinks(deps, "artifact");
  const config = { scope: "runs:read", acceptsCookie: true } as const;
  return async (app) => {
    app.get("/agent/artifacts/:uid", { schema: GET, config }, async (request) => {
      const { artifact } = await getArtifact(deps, request.params.uid, viewerOf(request));
      return artifactItemOf(artifact);
    });
    app.get("/agent/artifacts/:uid/download", { schema: DOWNLOAD, config }, async (request, reply) => {
      const { artifact, run } = await getArtifact(deps, request.params.uid, viewerOf(request));
      requireFile(artifact);
      const path = `${app.prefix}/agent/artifacts/${artifact.id}/file`;
      const { id: runId, teamId } = run;
      return reply.redirect(links.sign(path, { runId, teamId, id: artifact.id }), 302);
    });
    const file = { schema: FILE, config: { public: true }, exposeHeadRoute: false } as const;
    app.get("/agent/artifacts/:uid/file", file, async (request, reply) => {
      const { uid } = request.params;
      const { artifact } = await getArtifact(deps, uid, links.open(request.query, uid));
      const { fileName, mimeType, blobId, sizeBytes } = requireFile(artifact);
      // Browsers must save what an agent made. They must not show it as a page of this server or run it.
      await reply
        .type(mimeType)
        .header("content-disposition", attachmentHeader(fileName))
        .header("content-security-policy", "sandbox; default-src 'none'")
        .header("content-length", sizeBytes)
        .send(Readable.from(deps.blobs.read(blobId)) as never);
      return reply;
    });
  };
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
  const fileName = body.type === "FILE" ? body.fileName : "screenshot";
  return { ...file, fileName, mimeType: body.mimeType };
}

function unknownArtifact(): AppError {
  return new AppError("resource_not_found", "There is no such artifact.");
}
