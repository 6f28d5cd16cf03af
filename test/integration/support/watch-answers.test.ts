import Fastify, { type FastifyInstance } from "fastify";
import { afterEach, expect, test } from "vitest";
import { AnswerJudge } from "../../support/openapi-answers.ts";
import { type WatchedAnswers, watchAnswers } from "../../support/watch-answers.ts";

const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const PATHS = {
  "/api/v1/named": { get: { responses: { 200: { content: { "application/json": { schema } } } } } },
  "/api/v1/gone": { delete: { responses: { 204: {} } } },
  "/api/v1/moved": { get: { responses: { 302: {} } } },
  "/api/v1/file": { get: { responses: { 200: { content: { "text/plain": { schema: {} } } } } } },
};

let server: FastifyInstance;
afterEach(() => server.close());

/** Sends one request to a server that answers it with the status, the content type and the body. */
async function answered(
  [method, path]: readonly [string, string],
  { status = 200, type = "", body = "" }: { status?: number; type?: string; body?: string },
): Promise<WatchedAnswers> {
  server = Fastify();
  const document = { paths: PATHS, components: { schemas: {}, responses: {} } };
  server.decorate("swagger", () => document as never);
  server.route({
    method: method as "GET",
    url: path,
    handler: (_request, reply) => {
      if (type !== "") {
        void reply.type(type);
      }
      return reply.code(status).send(body === "" ? undefined : body);
    },
  });
  const answers = watchAnswers(server, () => new AnswerJudge(document));
  const url = await server.listen({ port: 0, host: "127.0.0.1" });
  await (await fetch(`${url}${path}`, { method, redirect: "manual" })).text();
  return answers;
}

const NAMED = ["GET", "/api/v1/named"] as const;
const json = { type: "application/json" };

test.each([
  [NAMED, { ...json, body: '{"name":"a"}' }],
  [["DELETE", "/api/v1/gone"] as const, { status: 204 }],
  [["GET", "/api/v1/moved"] as const, { status: 302 }],
  [["GET", "/api/v1/file"] as const, { type: "text/plain", body: "a" }],
  [["GET", "/elsewhere"] as const, { status: 204 }],
])("a documented answer is accepted: %j %j", async (route, answer) => {
  const answers = await answered(route, answer);

  expect(answers.verify).not.toThrow();
});

test.each([
  [NAMED, { ...json, body: '{"name":1}' }, "must be string"],
  [NAMED, { ...json, body: '{"name":"a","secret":1}' }, "additional properties"],
  [NAMED, { status: 204 }, "the status is not documented"],
  [NAMED, { type: "text/plain", body: "a" }, "the content type text/plain"],
  [["DELETE", "/api/v1/gone"] as const, { status: 202 }, "the status is not documented"],
  [["GET", "/api/v1/moved"] as const, { status: 303 }, "the status is not documented"],
  [["GET", "/api/v1/file"] as const, { type: "text/html", body: "a" }, "the content type text/html"],
  [["GET", "/api/v1/secret"] as const, { type: "text/plain", body: "a" }, "is no operation"],
])("an answer that the document does not describe is found: %j %j", async (route, answer, reason) => {
  const answers = await answered(route, answer);

  expect(answers.verify).toThrow(reason);
});
