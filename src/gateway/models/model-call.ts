import type { ModelProvider } from "../../config/models.ts";
import { bodyOf, type Call, hasBody } from "../call.ts";
import { CREDENTIALS, without } from "../headers.ts";
import { Refusal } from "../refusal.ts";
import type { UpstreamRequest } from "../upstream.ts";
import type { Dialect, Provider, Route } from "./dialects.ts";
import { requestingUsage, unchanged } from "./requested-usage.ts";

/** One call of a model, with its destination. */
export interface ModelCall extends Call {
  readonly provider: Provider;
  readonly dialect: Dialect;
  readonly server: ModelProvider;
  readonly route: Route;
}

export interface CallBody {
  readonly body?: AsyncIterable<Buffer> | Buffer;
  /** If it is known. */
  readonly model?: string;
  /** As in `ChatBody`. */
  readonly isUsageAdded: boolean;
  /** Must be called when it was sent. */
  readonly release: () => void;
}

const CHAT_BYTES_MAX = 8 * 2 ** 20;
/** Query parameters that contain keys. */
const KEY_PARAMETERS = ["key", "api_key", "api-key", "access_token", "token"];
const NOTHING = { isUsageAdded: false, release: () => undefined } as const;

/**
 * Reads a chat completely, if there is room, so that its usage can be requested. `needsModel`: every other body that
 * names the model is read too, and refused while there is no room.
 */
export async function readCallBody(
  { request, route }: ModelCall,
  buffers: BufferLimit,
  { maxBytes, needsModel }: { readonly maxBytes: number; readonly needsModel: boolean },
): Promise<CallBody> {
  if (!hasBody(request)) {
    return NOTHING;
  }
  const body = bodyOf(request, maxBytes);
  const known = route.model === undefined ? {} : { model: route.model };
  const isRead = route.reportsUsageOnRequest || (needsModel && route.model === undefined);
  if (!isRead) {
    return { ...NOTHING, body, ...known };
  }
  if (request.headers["content-encoding"] !== undefined) {
    throw new Refusal(415, "Send the body unpacked.");
  }
  const { passing, release, whole } = await buffers.read(body, needsModel ? maxBytes : CHAT_BYTES_MAX);
  if (passing !== undefined && needsModel) {
    release();
    throw new Refusal(429, "Too many large requests at a time.", { "retry-after": "2" });
  }
  if (passing !== undefined) {
    return { ...NOTHING, body: passing, release };
  }
  try {
    const { bytes, ...usage } = route.reportsUsageOnRequest ? requestingUsage(whole) : unchanged(whole);
    return { body: bytes, release, ...usage };
  } catch {
    release();
    // Deeply nested JSON can be read but not written.
    throw new Refusal(400, "The body is nested too deeply.");
  }
}

/** Removes every key that the client sent, and adds the real key. */
export function upstreamRequestOf(call: ModelCall, body: CallBody["body"]): UpstreamRequest {
  const { dialect, request, server, signal } = call;
  const length = Buffer.isBuffer(body) ? ["content-length"] : [];
  const headers = {
    ...without(request.headers, [...CREDENTIALS, "accept-encoding", "origin", "referer", ...length]),
    // A compressed response could not be read here.
    "accept-encoding": "identity",
    ...(server.key === undefined ? {} : dialect.keyHeaders(server.key)),
  };
  const upstreamRequest = { url: urlOf(call), method: request.method ?? "GET", headers, signal };
  return body === undefined ? upstreamRequest : { ...upstreamRequest, body };
}

function urlOf({ path, query, server }: ModelCall): URL {
  const url = new URL(`${server.baseUrl}${path}${query}`);
  for (const name of KEY_PARAMETERS) {
    url.searchParams.delete(name);
  }
  return url;
}

/** Limits what a gateway holds in memory, over all its calls. */
export class BufferLimit {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** Reads a body completely if it fits `maxBytes` and the limit. Otherwise returns what was read, and the rest. */
  async read(body: AsyncIterable<Buffer>, maxBytes: number): Promise<BufferedBody> {
    const iterator = body[Symbol.asyncIterator]();
    const buffers: Buffer[] = [];
    let bytes = 0;
    const release = (): void => {
      this.#left += bytes;
      bytes = 0;
    };
    try {
      while (bytes <= maxBytes && this.#left > 0) {
        const next = await iterator.next();
        if (next.done === true) {
          return { whole: Buffer.concat(buffers), release };
        }
        buffers.push(next.value);
        bytes += next.value.length;
        this.#left -= next.value.length;
      }
    } catch (error) {
      release();
      throw error;
    }
    return { passing: continued(buffers, iterator), release };
  }
}

export type BufferedBody = {
  /** Must be called when the body is no longer needed; can be repeated. */
  readonly release: () => void;
} & (
  | { readonly whole: Buffer; readonly passing?: undefined }
  | { readonly passing: AsyncIterable<Buffer>; readonly whole?: undefined }
);

/** What was already read, followed by the rest. */
export async function* continued(
  begun: readonly Buffer[],
  rest: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer, void> {
  yield* begun;
  yield* { [Symbol.asyncIterator]: () => rest };
}
