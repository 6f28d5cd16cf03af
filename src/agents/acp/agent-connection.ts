import {
  type ClientConnection,
  client,
  type InitializeResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from "@agentclientprotocol/sdk/unstable";
import type { AgentProcess } from "./agent-process.ts";
import { type MessageTap, openMessageStream } from "./message-stream.ts";
import { initialize } from "./open-session.ts";

/** Receives what an agent sends. */
export interface AgentListener extends MessageTap {
  permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
}

/** The agent's process and the messages to and from it, before it has a session and after. */
export class AgentConnection {
  readonly process: AgentProcess;
  readonly client: ClientConnection;
  #initialized: Promise<InitializeResponse> | undefined;

  constructor(process: AgentProcess, listener: AgentListener) {
    this.process = process;
    const { stdin, stdout } = process.process;
    this.client = client({ name: "errand" })
      .onRequest("session/request_permission", ({ params }) => listener.permission(params))
      .connect(openMessageStream(stdin, stdout, listener));
    // A child of the agent may keep its output open after the agent has died.
    void process.ended().then(() => this.client.close());
  }

  /** Can be repeated. */
  initialize(authenticate: string | undefined): Promise<InitializeResponse> {
    this.#initialized ??= initialize(this.client.agent, authenticate);
    return this.#initialized;
  }

  /** Ends the agent and all its processes. */
  async close(): Promise<void> {
    await this.process.close();
    this.client.close();
  }
}
