import { z } from "zod";
import type { UpstreamResponse } from "../upstream.ts";

/** The messages of the batch API: https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md */
const object = z.object({
  oid: z.string().regex(/^[0-9a-f]{64}$/),
  size: z.int().min(0),
});

const OBJECTS_MAX = 1_000;

export const batchRequest = z.object({
  operation: z.enum(["download", "upload"]),
  objects: z.array(object).max(OBJECTS_MAX),
  ref: z.object({ name: z.string().max(1_000) }).optional(),
});
export type BatchRequest = z.infer<typeof batchRequest>;

export const ACTIONS = ["download", "upload", "verify"] as const;
export type LfsAction = (typeof ACTIONS)[number];

const action = z.object({
  href: z.url({ protocol: /^https?$/ }),
  header: z.record(z.string(), z.string()).default({}),
  expires_in: z.number().optional(),
});

export const batchResponse = z.object({
  objects: z
    .array(
      object.extend({
        actions: z.partialRecord(z.enum(ACTIONS), action).optional(),
        error: z.object({ code: z.int(), message: z.string() }).optional(),
      }),
    )
    .max(OBJECTS_MAX),
});
export type BatchResponse = z.infer<typeof batchResponse>;
export type ActionOfHost = z.infer<typeof action>;

export const LFS_JSON = "application/vnd.git-lfs+json";
const MESSAGE_BYTES_MAX = 4 * 2 ** 20;

/** The whole of a short text. Undefined: it is longer. */
export async function shortText(body: AsyncIterable<Buffer>): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MESSAGE_BYTES_MAX) {
      return undefined;
    }
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Undefined: it is no message of this kind. */
export function readMessage<T>(schema: z.ZodType<T>, text: string | undefined): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text ?? "")).data;
  } catch {
    return undefined;
  }
}

export function isSuccess({ status }: Pick<UpstreamResponse, "status">): boolean {
  return status >= 200 && status < 300;
}
