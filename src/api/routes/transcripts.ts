import { Readable } from "node:stream";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Run } from "../../core/model/runs/run.ts";
import { eventPages } from "../../core/runs/event-pages.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { attachmentHeader, Redirect, SignedLinks, SignedQuery } from "../auth/signed-links.ts";
import { eventJson } from "../events/event-text.ts";
import { ConversationParams, RunParams, requireRunId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import { findContinued } from "./conversations.ts";

type TranscriptDeps = Pick<ApiDeps, "clock" | "runs" | "sessionSecret">;

const LINK = {
  operationId: "getRunTranscript",
  summary: "Download the raw event log of a run",
  tags: ["runs"],
  params: RunParams,
  response: { 302: Redirect, ...problems(401, 404, 503) },
};
const OF_CONVERSATION = {
  ...LINK,
  operationId: "getConversationTranscript",
  summary: "Download the raw event log of the newest run of a conversation",
  tags: ["conversations"],
  params: ConversationParams,
};
const FILE = {
  operationId: "downloadRunTranscript",
  summary: "Download the file at a signed address",
  description: "One event per line, as JSON, in order.",
  tags: ["runs"],
  querystring: SignedQuery,
  response: {
    200: { description: "The event log.", content: { "application/x-ndjson": { schema: z.string() } } },
    ...problems(400, 403, 404, 503),
  },
};

const FILE_PATH = "/agent/transcript-files";

export function transcriptRoutes(deps: TranscriptDeps): FastifyPluginAsyncZod {
  const { runs } = deps;
  const links = new SignedLinks(deps, "transcript");
  const config = { scope: "runs:read" } as const;
  return async (app) => {
    const linkTo = ({ id: runId, teamId }: Run) => links.sign(`${app.prefix}${FILE_PATH}`, { runId, teamId });
    app.get("/agent/runs/:runId/transcript", { schema: LINK, config }, async (request, reply) => {
      const run = await runs.get({ id: requireRunId(request.params.runId) }, viewerOf(request));
      return reply.redirect(linkTo(run), 302);
    });
    const path = "/agent/conversations/:conversationId/transcript";
    app.get(path, { schema: OF_CONVERSATION, config }, async (request, reply) => {
      const run = await findContinued(deps, request.params.conversationId, viewerOf(request));
      return reply.redirect(linkTo(run), 302);
    });
    const file = { schema: FILE, config: { public: true }, exposeHeadRoute: false } as const;
    app.get(FILE_PATH, file, async (request, reply) => {
      const viewer = links.open(request.query);
      const run = await runs.get({ id: viewer.onlyRunId }, viewer);
      // The schema cannot type a stream of text.
      await reply
        .type("application/x-ndjson; charset=utf-8")
        .header("content-disposition", attachmentHeader(`run-${run.id}.jsonl`))
        .send(Readable.from(linesOf(runs, run)) as never);
      return reply;
    });
  };
}

/** Reads a page only after the previous one was sent, so that a slow reader costs no more memory than a fast one. */
async function* linesOf(runs: ApiDeps["runs"], run: Run): AsyncGenerator<string> {
  for await (const page of eventPages(runs, run)) {
    for (const event of page) {
      yield `${JSON.stringify(eventJson(event))}\n`;
    }
  }
}
