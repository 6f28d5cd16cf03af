import { Client } from "undici";
import { createGuardedConnector, type GuardOptions } from "./guarded-connector.ts";

const TIMEOUT_MS = 10_000;
const TAIL_BYTES = 64 * 1024;
/** The end of a longer text is not reached. */
const TEXT_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Creates a function that returns the end of the text at an address, without credentials. It connects only where
 * `destinations` allows and follows no redirect. It keeps only the end in memory, however long the text is.
 */
export function createTailReader(options: Omit<GuardOptions, "connectMs">): (url: string) => Promise<string> {
  const connect = createGuardedConnector({ ...options, connectMs: TIMEOUT_MS });
  return async (url) => {
    const { origin, pathname, search } = new URL(url);
    const client = new Client(origin, { connect });
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const request = { method: "GET", path: `${pathname}${search}`, signal } as const;
      const { body, statusCode } = await client.request(request);
      // The body ends with the client, also unread.
      body.on("error", () => undefined);
      if (statusCode !== 200) {
        throw new Error(`The answer has the status ${statusCode}.`);
      }
      return await tailOf(body);
    } finally {
      await client.destroy();
    }
  };
}

async function tailOf(body: AsyncIterable<Buffer>): Promise<string> {
  let length = 0;
  let tail = Buffer.alloc(0);
  for await (const chunk of body) {
    length += chunk.length;
    if (length > TEXT_BYTES_MAX) {
      throw new Error(`The text is longer than ${TEXT_BYTES_MAX} bytes.`);
    }
    tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
  }
  return tail.toString();
}
