import type {
  AgentMessageEvent,
  AgentToolCallEvent,
  PermissionRequestedEvent,
  RunEvent,
  RunItem,
  RunState,
  RunStateEvent,
  StreamReset,
} from "../generated/types.ts";

/** The listeners of a `RunStream`, by the name of the event. */
export interface RunStreamListeners {
  /** A piece of what the agent writes, and its event. */
  text: (text: string, event: AgentMessageEvent) => void;
  /**
   * A tool call of the agent began or changed. The first value contains all that is known about it by now; the event
   * contains only what changed.
   */
  tool: (toolCall: AgentToolCallEvent, event: AgentToolCallEvent) => void;
  /** The agent asks for permission and waits. Answer with `runs.answer`. */
  question: (question: PermissionRequestedEvent["request"], event: PermissionRequestedEvent) => void;
  /** The run has a new state. */
  state: (state: RunState, event: RunStateEvent) => void;
}

export interface RunStreamSource {
  open(signal: AbortSignal): AsyncIterable<RunEvent | StreamReset>;
  /** Reads the run. */
  retrieve(): Promise<RunItem>;
}

type ListenerLists = { readonly [Name in keyof RunStreamListeners]: RunStreamListeners[Name][] };

/**
 * The events of a run, for listeners. The stream starts as soon as the current function yields, so that listeners that
 * are added at once receive all events.
 *
 * @example
 * const run = await client.runs
 *   .stream(id)
 *   .on("text", (text) => process.stdout.write(text))
 *   .on("state", (state) => console.log(state))
 *   .finished();
 */
export class RunStream {
  readonly #listeners: ListenerLists = { text: [], tool: [], question: [], state: [] };
  readonly #toolCalls = new Map<string, AgentToolCallEvent>();
  readonly #stop = new AbortController();
  readonly #finished: Promise<RunItem>;

  constructor(source: RunStreamSource) {
    this.#finished = Promise.resolve().then(() => this.#read(source));
  }

  /** Adds a listener. If it throws, the stream ends and `finished` throws its error. */
  on<Name extends keyof RunStreamListeners>(name: Name, listener: RunStreamListeners[Name]): this {
    this.#listeners[name].push(listener);
    return this;
  }

  /** Resolves with the run once it has ended and all events were delivered. */
  finished(): Promise<RunItem> {
    return this.#finished;
  }

  /** Closes the stream. The run continues. `finished` then throws `APIUserAbortError`. */
  abort(): void {
    this.#stop.abort();
  }

  async #read(source: RunStreamSource): Promise<RunItem> {
    for await (const event of source.open(this.#stop.signal)) {
      this.#notify(event);
    }
    return source.retrieve();
  }

  #notify(event: RunEvent | StreamReset): void {
    switch (event.kind) {
      case "agent.message":
        this.#call("text", event.text, event);
        break;
      case "agent.tool_call":
        this.#call("tool", this.#merged(event), event);
        break;
      case "permission.requested":
        this.#call("question", event.request, event);
        break;
      case "run.state":
        this.#call("state", event.to, event);
        break;
      default:
      // Other kinds have no listeners.
    }
  }

  #merged(event: AgentToolCallEvent): AgentToolCallEvent {
    const before = this.#toolCalls.get(event.tool_call_id);
    // New content replaces the output too.
    const output = (event.content === undefined ? (before?.output ?? "") : "") + (event.output ?? "");
    const toolCall = { ...before, ...event, output };
    this.#toolCalls.set(event.tool_call_id, toolCall);
    return toolCall;
  }

  #call<Name extends keyof RunStreamListeners>(
    name: Name,
    ...values: Parameters<RunStreamListeners[Name]>
  ): void {
    for (const listener of this.#listeners[name]) {
      // TypeScript does not relate a listener to the parameters of the same name.
      (listener as (...received: typeof values) => void)(...values);
    }
  }
}
