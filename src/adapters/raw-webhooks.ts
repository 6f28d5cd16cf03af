import type { FastifyInstance } from "fastify";
import type { RefusedRequests } from "./refused-requests.ts";

/**
 * Leaves the bodies of this scope unparsed, because a signature is over the bytes. `refused` gets the requests that the
 * server refuses before their signature is checked, for example because of their length.
 */
export function keepBodiesRaw(server: FastifyInstance, refused: RefusedRequests): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  server.addHook("onError", (request, _reply, { code }, done) => {
    refused.add(request.id, code);
    done();
  });
}
