import type { FastifyInstance, FastifyReply } from "fastify";
import manifest from "../../../package.json" with { type: "json" };

/** Each answer names the version of the server. */
export function nameVersion(app: FastifyInstance): void {
  app.addHook("onRequest", (_request, reply, done) => {
    reply.header("errand-version", manifest.version);
    done();
  });
}

/** Where a new resource is, if not below the address of the request. */
const COLLECTIONS: readonly (readonly [address: RegExp, collection: string])[] = [
  [/\/keys\/(?:exchange|[^/]+\/rotate)$/, "/keys"],
  [/\/test$/, "/deliveries"],
];

/** Each answer 201 names the address of the new resource. */
export function nameLocations(app: FastifyInstance): void {
  app.addHook("preSerialization", ({ url }, reply, payload, done) => {
    if (reply.statusCode === 201) {
      nameLocation(url, reply, Object(payload));
    }
    done(null, payload);
  });
}

function nameLocation(
  url: string,
  reply: FastifyReply,
  made: { readonly id?: string; readonly uid?: string },
): void {
  const { id, uid = id } = made;
  if (uid !== undefined) {
    const [address = ""] = url.split("?", 1);
    const collection = COLLECTIONS.reduce((path, [from, to]) => path.replace(from, to), address);
    reply.header("location", `${collection}/${encodeURIComponent(uid)}`);
  }
}
