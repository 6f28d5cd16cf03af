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

const CANCELLED: RequestPermissionResponse = { outcome: { outcome: "cancelled" } };

/** The agent's process and the messages to and from it. What it sends before there is a listener is dropped. */
export class AgentConnection {
  readonly process: AgentProcess;
  readonly client: ClientConnection;
  #listener: AgentListener | undefined;
  #initialized: Promise<InitializeResponse> | undefined;

  constructor(process: AgentProcess) {
    this.process = process;
    const { stdin, stdout } = process.process;
    const tap: MessageTap = {
      backpressure: () => this.#listener?.backpressure(),
      update: (update) => this.#listener?.update(update),
      answered: () => this.#listener?.answered(),
      noise: (line) => this.#listener?.noise(line),
    };
    this.client = client({ name: "errand" })
      .onRequest(
        "session/request_permission",
        async ({ params }) => (await this.#listener?.permission(params)) ?? CANCELLED,
      )
      .connect(openMessageStream(stdin, stdout, tap));
    // A child of the agent may keep its output open after the agent has died.
    void process.ended().then(() => this.client.close());
  }

  listen(listener: AgentListener): void {
    this.#listener = listener;
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
