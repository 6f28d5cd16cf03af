import { z } from "zod";
import { parseJson } from "../../core/parse-json.ts";
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
  /** Whether only the gateway asked for the usage, so that the client does not expect it. */
  readonly isAskedByUs: boolean;
}

/** Any request that names its model. */
export function unchanged(bytes: Buffer): ChatBody {
  const { model } = named.safeParse(parseJson(bytes.toString())).data ?? {};
  return { bytes, ...(model === undefined ? {} : { model }), isAskedByUs: false };
}

/** Makes a streaming chat report its usage, which it does only on request. */
export function askingForUsage(bytes: Buffer): ChatBody {
  const body = chat.safeParse(parseJson(bytes.toString())).data;
  if (body === undefined) {
    return { bytes, isAskedByUs: false };
  }
  const model = body.model === undefined ? {} : { model: body.model };
  const isTold = body.stream !== true || body.stream_options?.include_usage === true;
  if (isTold) {
    return { bytes, ...model, isAskedByUs: false };
  }
  const asking = { ...body, stream_options: { ...body.stream_options, include_usage: true } };
  return { bytes: Buffer.from(JSON.stringify(asking)), ...model, isAskedByUs: true };
}

const usageAlone = z.object({ choices: z.array(z.unknown()).length(0), usage: z.looseObject({}) });

/** The event that only exists because the usage was requested. */
export function isUsageAlone({ data }: SseEvent): boolean {
  return data.includes('"usage"') && usageAlone.safeParse(parseJson(data)).success;
}
