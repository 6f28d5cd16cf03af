import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { parseJson } from "../../core/basics/parse-json.ts";
import type { SseEvent } from "./sse-events.ts";

const options = z.looseObject({ include_usage: z.unknown().optional() }).nullish();
const named = z.looseObject({ model: z.string() });
const chat = z.looseObject({
  model: z.string().optional(),
  stream: z.unknown().optional(),
  stream_options: options,
});

export interface ChatBody {
  readonly bytes: Buffer;
  readonly model?: string;
  /** The gateway has added the request for the usage, so the client does not expect it. */
  readonly isUsageAdded: boolean;
}

/** Any request that names its model. */
export function unchanged(bytes: Buffer): ChatBody {
  const { model } = named.safeParse(parseJson(bytes.toString())).data ?? {};
  return defined({ bytes, model, isUsageAdded: false });
}

/** Makes a streaming chat report its usage, which it does only on request. */
export function requestingUsage(bytes: Buffer): ChatBody {
  const body = chat.safeParse(parseJson(bytes.toString())).data;
  if (body === undefined) {
    return { bytes, isUsageAdded: false };
  }
  const model = body.model === undefined ? {} : { model: body.model };
  const isAlreadyRequested = body.stream !== true || body.stream_options?.include_usage === true;
  if (isAlreadyRequested) {
    return { bytes, ...model, isUsageAdded: false };
  }
  const requesting = { ...body, stream_options: { ...body.stream_options, include_usage: true } };
  return { bytes: Buffer.from(JSON.stringify(requesting)), ...model, isUsageAdded: true };
}

const usageOnly = z.object({ choices: z.array(z.unknown()).length(0), usage: z.looseObject({}) });

/** The event that only exists because the usage was requested. */
export function isUsageOnly({ data }: SseEvent): boolean {
  return data.includes('"usage"') && usageOnly.safeParse(parseJson(data)).success;
}
