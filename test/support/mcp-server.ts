import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import {
  type AnsweringServer,
  answerJson,
  eventOf,
  type SeenRequest,
  startAnsweringServer,
} from "./answering-server.ts";

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly arguments?: { readonly text?: string } };
}

/** A server of the Model Context Protocol over streamable HTTP, with one tool: `echo`. */
export interface McpServer extends AnsweringServer {
  readonly sessions: Set<string>;
  /** Sends a notification on every open stream. */
  notify(text: string): void;
}

/** https://modelcontextprotocol.io/specification/2025-06-18/basic/transports */
export async function startMcpServer(): Promise<McpServer> {
  const server = await startAnsweringServer();
  const sessions = new Set<string>();
  const streams = new Set<ServerResponse>();
  server.answer = (response, request) => {
    if (request.method === "POST") {
      answerMessage(response, request, sessions);
    } else if (!sessions.delete(sessionOf(request))) {
      response.writeHead(404).end();
    } else if (request.method === "DELETE") {
      response.writeHead(204).end();
    } else {
      sessions.add(sessionOf(request));
      streams.add(response.writeHead(200, { "content-type": "text/event-stream" }));
      response.flushHeaders();
    }
  };
  const notify = (text: string): void => {
    for (const stream of streams) {
      stream.write(eventOf({ jsonrpc: "2.0", method: text }));
    }
  };
  return Object.assign(server, { sessions, notify });
}

function answerMessage(response: ServerResponse, request: SeenRequest, sessions: Set<string>): void {
  const { id, method, params } = JSON.parse(request.body) as Message;
  if (method === "initialize") {
    const session = randomUUID();
    sessions.add(session);
    response.setHeader("mcp-session-id", session);
    answerJson(response, {
      jsonrpc: "2.0",
      id,
      result: { protocolVersion: "2025-06-18", capabilities: { tools: {} } },
    });
  } else if (!sessions.has(sessionOf(request))) {
    response.writeHead(404).end();
  } else if (id === undefined) {
    response.writeHead(202).end();
  } else {
    const said = { content: [{ type: "text", text: params?.arguments?.text ?? "" }] };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(eventOf({ jsonrpc: "2.0", id, result: said }, "message"));
  }
}

function sessionOf({ headers }: SeenRequest): string {
  return String(headers["mcp-session-id"]);
}
