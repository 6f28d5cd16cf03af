import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { parseRunId } from "../../core/basics/ids.ts";
import type { ApiDeps } from "../api-deps.ts";
import { problems } from "../schemas/problem.ts";

const ID = "0195b2a4-5c1f-7d90-a4c3-2e6f8b1d0a7c";
const config = { public: true } as const;
const Params = z.object({ id: z.string().describe("A UUID.") });

const OF_SESSION = {
  operationId: "getSessionRedirect",
  summary: "Get the conversation of a session",
  description:
    "Requires no key, and reveals nothing else. The response is empty if the session does not exist.",
  tags: ["conversations"],
  params: Params,
  response: {
    200: z
      .object({ conversation_id: z.uuid().optional().describe("Absent if the session does not exist.") })
      .meta({
        id: "SessionRedirect",
        description: "The target of a session.",
        examples: [{ conversation_id: ID }],
      }),
    ...problems(503),
  },
};
const OF_CONVERSATION = {
  operationId: "getConversationRedirect",
  summary: "Get the session of a conversation",
  description:
    "The session of the newest run of the conversation. Requires no key, and reveals nothing else.",
  tags: ["conversations"],
  params: Params,
  response: {
    200: z
      .object({ session_id: z.uuid().optional().describe("Absent if the conversation does not exist.") })
      .meta({
        id: "ConversationRedirect",
        description: "The target of a conversation.",
        examples: [{ session_id: ID }],
      }),
    ...problems(503),
  },
};

/** Redirects old links to new ones. The ids are random and give no access without a key. */
export function redirectRoutes({ runs }: Pick<ApiDeps, "runs">): FastifyPluginAsyncZod {
  return async (app) => {
    app.get("/agent/sessions/:id/redirect", { schema: OF_SESSION, config }, async (request) => {
      const sessionId = parseRunId(request.params.id);
      const place = sessionId && (await runs.findSessionAndConversation({ sessionId }));
      return place ? { conversation_id: place.conversationId } : {};
    });
    app.get("/agent/conversations/:id/redirect", { schema: OF_CONVERSATION, config }, async (request) => {
      const conversationId = parseRunId(request.params.id);
      const place = conversationId && (await runs.findSessionAndConversation({ conversationId }));
      return place ? { session_id: place.sessionId } : {};
    });
  };
}
