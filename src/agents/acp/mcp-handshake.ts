import { z } from "zod";
import { parseJson } from "../../core/basics/parse-json.ts";

/** What one server may send until it has answered. */
export const ANSWER_BYTES_MAX = 2 ** 20;
const REASON_CHARS = 300;

const ID = 1;

/** https://modelcontextprotocol.io/specification/2025-06-18/basic/lifecycle */
export const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: ID,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "errand", version: "1" },
  },
});

const answer = z.object({
  id: z.literal(ID),
  result: z.looseObject({ protocolVersion: z.string() }).optional(),
  error: z.looseObject({ message: z.string().catch("an error without a message") }).optional(),
});

export interface HandshakeAnswer {
  /** Undefined: the server is initialized. */
  readonly problem: string | undefined;
}

/** The answer to INITIALIZE in a message of the server. Undefined: the message is another one. */
export function answerIn(message: string): HandshakeAnswer | undefined {
  const { data } = answer.safeParse(parseJson(message));
  if (data === undefined || (data.result === undefined && data.error === undefined)) {
    return undefined;
  }
  const { error } = data;
  return {
    problem: error === undefined ? undefined : `it refused to be initialized: ${shortReason(error.message)}`,
  };
}

/** Cut between words, because a part of a secret could not be recognized and removed. */
export function shortReason(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > REASON_CHARS ? `${line.slice(0, REASON_CHARS).replace(/\S+$/, "")}…` : line;
}
