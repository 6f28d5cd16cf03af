import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { parseRunId } from "../../core/ids.ts";
import type { ApiDeps } from "../api-deps.ts";
import { problems } from "../schemas/problem.ts";

const ID = "0195b2a4-5c1f-7d90-a4c3-2e6f8b1d0a7c";
const config = { public: true } as const;
const Params = z.object({ id: z.string().describe("A UUID.") });

const OF_SESSION = {
  operationId: "getSessionRedirect",
  summary: "The conversation that a session shows",
  description: "Without a key, and telling nothing else. Of a session that there is not, nothing.",
  tags: ["conversations"],
  params: Params,
  response: {
    200: z
      .object({ conversation_id: z.uuid().optional().describe("Absent: there is no such session.") })
      .meta({
        id: "SessionRedirect",
        description: "Where a session leads.",
        examples: [{ conversation_id: ID }],
      }),
    ...problems(503),
  },
};
const OF_CONVERSATION = {
  operationId: "getConversationRedirect",
  summary: "The session that shows a conversation",
  description: "That of its newest run. Without a key, and telling nothing else.",
  tags: ["conversations"],
  params: Params,
  response: {
    200: z
      .object({ session_id: z.uuid().optional().describe("Absent: there is no such conversation.") })
      .meta({
        id: "ConversationRedirect",
        description: "Where a conversation leads.",
        examples: [{ session_id: ID }],
      }),
    ...problems(503),
  },
};

/** From an old link to a new one. The ids are random, and open nothing without a key. */
export function redirectRoutes({ runs }: ApiDeps): FastifyPluginAsyncZod {
  return async (app) => {
    app.get("/agent/sessions/:id/redirect", { schema: OF_SESSION, config }, async (request) => {
      const sessionId = parseRunId(request.params.id);
      const place = sessionId && (await runs.findPlace({ sessionId }));
      return place ? { conversation_id: place.conversationId } : {};
    });
    app.get("/agent/conversations/:id/redirect", { schema: OF_CONVERSATION, config }, async (request) => {
      const conversationId = parseRunId(request.params.id);
      const place = conversationId && (await runs.findPlace({ conversationId }));
      return place ? { session_id: place.sessionId } : {};
    });
  };
}
