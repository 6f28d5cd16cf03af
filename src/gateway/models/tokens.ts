import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { Provider } from "./dialects.ts";

export interface Tokens {
  /** Includes cached tokens. */
  readonly input: number;
  /** The cached part of `input`. */
  readonly cachedInput: number;
  readonly output: number;
  readonly total: number;
}

export interface ReportedUsage {
  readonly tokens: Tokens;
  readonly model?: string;
}

export const NO_TOKENS: Tokens = { input: 0, cachedInput: 0, output: 0, total: 0 };

/** An implausible number is treated as missing. */
const count = z.int().nonnegative().optional().catch(undefined);
const cached = z.object({ cached_tokens: count }).optional().catch(undefined);
const name = z.string().optional().catch(undefined);

/** Of the chat and responses APIs: https://platform.openai.com/docs/api-reference */
const openaiUsage = z.object({
  prompt_tokens: count,
  input_tokens: count,
  prompt_tokens_details: cached,
  input_tokens_details: cached,
  completion_tokens: count,
  output_tokens: count,
  total_tokens: count,
});
const openaiPart = z.object({ model: name, usage: openaiUsage.optional().catch(undefined) });
const openaiResponse = openaiPart.extend({ response: openaiPart.optional().catch(undefined) });

/** https://docs.anthropic.com/en/api/messages-streaming */
const anthropicUsage = z.object({
  input_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  output_tokens: count,
});
const anthropicPart = z.object({ model: name, usage: anthropicUsage.optional().catch(undefined) });
const anthropicResponse = anthropicPart.extend({ message: anthropicPart.optional().catch(undefined) });

/** https://ai.google.dev/api/generate-content#UsageMetadata */
const geminiResponse = z.object({
  modelVersion: name,
  usageMetadata: z.object({
    promptTokenCount: count,
    toolUsePromptTokenCount: count,
    cachedContentTokenCount: count,
    candidatesTokenCount: count,
    thoughtsTokenCount: count,
    totalTokenCount: count,
  }),
});

/** The usage in a response or in one of its events. Later events repeat everything. */
export const READERS: Readonly<Record<Provider, (value: unknown) => ReportedUsage | undefined>> = {
  openai(value) {
    const response = openaiResponse.safeParse(value).data;
    const part = response?.usage === undefined ? response?.response : response;
    if (part?.usage === undefined) {
      return undefined;
    }
    const { usage } = part;
    const input = usage.prompt_tokens ?? usage.input_tokens ?? 0;
    const output = usage.completion_tokens ?? usage.output_tokens ?? 0;
    const { cached_tokens: cachedInput = 0 } =
      usage.prompt_tokens_details ?? usage.input_tokens_details ?? {};
    return usageOf({ input, cachedInput, output, total: usage.total_tokens ?? input + output }, part.model);
  },
  anthropic(value) {
    const response = anthropicResponse.safeParse(value).data;
    const part = response?.usage === undefined ? response?.message : response;
    if (part?.usage === undefined) {
      return undefined;
    }
    const { cache_read_input_tokens: cachedInput = 0, output_tokens: output = 0, ...rest } = part.usage;
    const input = (rest.input_tokens ?? 0) + (rest.cache_creation_input_tokens ?? 0) + cachedInput;
    return usageOf({ input, cachedInput, output, total: input + output }, part.model);
  },
  gemini(value) {
    const response = geminiResponse.safeParse(value).data;
    if (response === undefined) {
      return undefined;
    }
    const usage = response.usageMetadata;
    const input = (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0);
    const output = (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0);
    const total = usage.totalTokenCount ?? input + output;
    const cachedInput = usage.cachedContentTokenCount ?? 0;
    return usageOf({ input, cachedInput, output, total }, response.modelVersion);
  },
};

function usageOf(tokens: Tokens, model: string | undefined): ReportedUsage {
  return defined({ tokens, model });
}

/** Merges two reports about one response. Counts only grow, and some events report a part. */
export function grown(one: Tokens, other: Tokens): Tokens {
  const input = Math.max(one.input, other.input);
  const output = Math.max(one.output, other.output);
  return {
    input,
    cachedInput: Math.min(input, Math.max(one.cachedInput, other.cachedInput)),
    output,
    total: Math.max(one.total, other.total, input + output),
  };
}
