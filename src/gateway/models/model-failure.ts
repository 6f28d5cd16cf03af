import { z } from "zod";
import { parseJson } from "../../core/basics/parse-json.ts";
import type { ModelFailure } from "../../core/ports/gateway.ts";

const MESSAGE_CHARS = 500;

const word = z.union([z.string(), z.int()]).optional().catch(undefined);
const errorBody = z.object({ message: z.string(), type: word, code: word, status: word });
/** An error in any dialect. Some send a plain string. */
const withError = z.object({ error: z.union([errorBody, z.string().transform((message) => ({ message }))]) });
/** An error of the responses API: https://platform.openai.com/docs/api-reference/responses-streaming */
const failedResponse = z.object({ type: z.literal("response.failed"), response: withError });
const errorEvent = errorBody.extend({ type: z.literal("error") });
const withMessage = z.union([
  z.object({ message: z.string() }),
  z.object({ detail: z.string() }).transform(({ detail }) => ({ message: detail })),
]);

type RecordedUpdate = { readonly message: string } & Partial<z.infer<typeof errorBody>>;

/** An error inside a response that began successfully. */
export function failureWithin(value: unknown): ModelFailure | undefined {
  const failed =
    withError.safeParse(value).data?.error ?? failedResponse.safeParse(value).data?.response.error;
  const error: RecordedUpdate | undefined = failed ?? errorEvent.safeParse(value).data;
  return error === undefined ? undefined : { status: statusOf(error), message: error.message };
}

/** The message in the body of an error. */
export function messageIn(body: string): string {
  const value = parseJson(body);
  const [first] = Array.isArray(value) ? value : [value];
  const error: RecordedUpdate | undefined =
    withError.safeParse(first).data?.error ?? withMessage.safeParse(first).data;
  return error?.message ?? body;
}

/** One paragraph for people. */
export function shortened(message: string): string {
  const line = message.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length <= MESSAGE_CHARS ? line : `${line.slice(0, MESSAGE_CHARS)} …`;
}

/** The HTTP status that the error would have had before the response began. */
const STATUSES: Readonly<Record<string, number>> = {
  authentication_error: 401,
  context_length_exceeded: 400,
  insufficient_quota: 429,
  invalid_prompt: 400,
  invalid_request_error: 400,
  not_found_error: 404,
  overloaded_error: 529,
  permission_error: 403,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  request_too_large: 413,
};
const ANY_FAILURE = 500;

function statusOf({ code, status, type }: RecordedUpdate): number {
  for (const word of [code, status, type]) {
    const number = Number(word);
    if (number >= 400 && number < 600) {
      return number;
    }
    if (typeof word === "string" && Object.hasOwn(STATUSES, word)) {
      return STATUSES[word] ?? ANY_FAILURE;
    }
  }
  return ANY_FAILURE;
}
