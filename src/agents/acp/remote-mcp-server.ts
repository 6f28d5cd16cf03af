import { once } from "node:events";
import { type IncomingMessage, request as openRequest } from "node:http";
import { StringDecoder } from "node:string_decoder";
import type { Gateway } from "../../core/ports/gateway.ts";
import {
  ANSWER_BYTES_MAX,
  answerIn,
  type HandshakeAnswer,
  INITIALIZE,
  shortReason,
} from "./mcp-handshake.ts";

const TYPES = { accept: "application/json, text/event-stream", "content-type": "application/json" };
const BROKEN = "its answer ended before it was initialized.";

/** Initializes a remote server through the gateway, as the agent will, and ends that session. Never rejects. */
export async function initializeRemote(
  gateway: Gateway,
  name: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const answer = await send(gateway, name, { method: "POST", headers: TYPES, body: INITIALIZE, signal });
    const { problem = undefined } = (await answerOf(answer)) ?? { problem: BROKEN };
    const session = answer.headers["mcp-session-id"];
    if (problem === undefined && typeof session === "string") {
      await endSession(gateway, name, session, signal);
    }
    return problem;
  } catch (error) {
    return signal.aborted ? "it was stopped." : `${error instanceof Error ? error.message : error}`;
  }
}

async function endSession(
  gateway: Gateway,
  name: string,
  session: string,
  signal: AbortSignal,
): Promise<void> {
  const headers = { "mcp-session-id": session };
  // A server need not let its clients end sessions.
  await send(gateway, name, { method: "DELETE", headers, signal }).then(
    (answer) => answer.destroy(),
    () => undefined,
  );
}

interface HandshakeRequest {
  readonly method: "POST" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** Resolves with the beginning of the response. */
async function send(
  { address, portForward }: Gateway,
  name: string,
  { body, headers, method, signal }: HandshakeRequest,
): Promise<IncomingMessage> {
  const { hostname, pathname, port } = new URL(address);
  const target = portForward === undefined ? { hostname, port } : { socketPath: portForward.socketPath };
  const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
  const request = openRequest({
    ...target,
    method,
    signal,
    agent: false,
    path: `${pathname}/tools/${name}`,
    headers: { host: `${hostname}:${port}`, ...headers, ...length },
  });
  request.end(body);
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  return answer;
}

/** Undefined when the response ends without an answer. It is read only as far as the answer. */
async function answerOf(answer: IncomingMessage): Promise<HandshakeAnswer | undefined> {
  const { statusCode: status = 0 } = answer;
  const isStream = answer.headers["content-type"]?.startsWith("text/event-stream") === true;
  const decoder = new StringDecoder("utf8");
  let text = "";
  for await (const chunk of answer) {
    text += decoder.write(chunk);
    const found = isStream && status < 300 ? inEvents(text) : undefined;
    if (found !== undefined || text.length > ANSWER_BYTES_MAX) {
      answer.destroy();
      return found;
    }
  }
  if (status >= 300) {
    return { problem: `it answered with HTTP ${status}. ${shortReason(text)}`.trim() };
  }
  return answerIn(text);
}

/** One message is one event, and its data may have several lines. */
function inEvents(text: string): HandshakeAnswer | undefined {
  const events = text.replaceAll("\r\n", "\n").split("\n\n").slice(0, -1);
  const messages = events.map((event) =>
    event
      .split("\n")
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice("data:".length).trim())
      .join("\n"),
  );
  return messages.map(answerIn).find((each) => each !== undefined);
}
