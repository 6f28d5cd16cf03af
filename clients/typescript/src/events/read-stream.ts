import type { ApiClient } from "../api-client.ts";
import { APIConnectionError, errorOfConnection } from "../errors.ts";
import type { RequestOptions } from "../http/request.ts";
import { readMessages, type SseMessage } from "./sse.ts";

/** Options of live events. */
export interface StreamOptions extends Omit<RequestOptions, "idempotencyKey" | "maxRetries" | "timeoutMs"> {
  /**
   * How long the connection may be silent before it counts as lost. The server sends a sign of life every 15 seconds.
   *
   * @default 60_000
   */
  readonly silenceMs?: number | undefined;
  /**
   * How often in a row the stream is opened again in vain before the error is thrown. With the default, the stream
   * survives an absence of the server of about a minute.
   *
   * @default 10
   */
  readonly maxReconnects?: number | undefined;
  /** Called with false when the connection is lost, and with true when the stream has been opened again. */
  readonly onConnectionChange?: ((isConnected: boolean) => void) | undefined;
}

export interface StreamRequest<Event> {
  readonly path: string;
  readonly options: StreamOptions;
  /** Whether the stream is complete after this event. undefined: as before the event. */
  isComplete(event: Event): boolean | undefined;
  /** Asks the server whether no further event can come. Called when a connection ended and the stream is not complete. */
  askIfOver(): Promise<boolean>;
}

/** The options that a request beside the stream has too. */
export function requestOptionsOf(options: StreamOptions): RequestOptions {
  const { maxReconnects: _, onConnectionChange: __, silenceMs: ___, ...common } = options;
  return common;
}

const DEFAULT_SILENCE_MS = 60_000;
const DEFAULT_MAX_RECONNECTS = 10;

/**
 * Yields the events of a stream, each once and in order. If the connection breaks, the stream is opened again behind
 * the last event that arrived.
 */
export async function* readStream<Event>(
  client: ApiClient,
  { path, options, isComplete, askIfOver }: StreamRequest<Event>,
): AsyncGenerator<Event, void, undefined> {
  const { maxReconnects = DEFAULT_MAX_RECONNECTS, onConnectionChange, signal } = options;
  let isConnected = true;
  const setConnected = (value: boolean) => {
    if (isConnected !== value) {
      isConnected = value;
      onConnectionChange?.(value);
    }
  };
  let lastId: string | undefined;
  let wasComplete = false;
  // Once the server has said so, the next connection that ends without an error has delivered everything.
  let isOver = false;
  for (let failures = 0; ; failures += 1) {
    try {
      for await (const { id, data } of connect(client, path, options, lastId, () => setConnected(true))) {
        failures = 0;
        lastId = id ?? lastId;
        if (data === "") {
          continue;
        }
        const event = parse<Event>(data);
        wasComplete = isComplete(event) ?? wasComplete;
        yield event;
      }
      if (wasComplete || isOver) {
        return;
      }
      isOver = await askIfOver();
      if (!isOver) {
        throw new APIConnectionError("The server ended the event stream early.");
      }
    } catch (error) {
      const pauseMs = client.sender.pauseBefore(error, failures);
      if (pauseMs === undefined || failures >= maxReconnects) {
        throw error;
      }
      setConnected(false);
      await client.sender.sleep(pauseMs, signal);
    }
  }
}

/** Reads one connection until its end. */
async function* connect(
  client: ApiClient,
  path: string,
  { maxReconnects: _, onConnectionChange: __, silenceMs = DEFAULT_SILENCE_MS, ...options }: StreamOptions,
  lastId: string | undefined,
  onOpen: () => void,
): AsyncGenerator<SseMessage, void, undefined> {
  const { clock } = client.sender;
  const silence = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, silence.signal]) : silence.signal;
  const headers = { ...options.headers, accept: "text/event-stream", "last-event-id": lastId };
  let stopTimer: () => void = () => undefined;
  const restartTimer = () => {
    stopTimer();
    stopTimer = clock.after(silenceMs, () =>
      silence.abort(new Error(`No sign of life for ${silenceMs} ms.`)),
    );
  };
  try {
    restartTimer();
    const { body } = await client.get(path, { ...options, headers, signal, maxRetries: 0 }).asResponse();
    onOpen();
    yield* body === null ? [] : readMessages(body, restartTimer);
  } catch (error) {
    throw silence.signal.aborted && !options.signal?.aborted
      ? new APIConnectionError("The event stream is silent.", { cause: silence.signal.reason })
      : errorOfConnection(error, options.signal);
  } finally {
    stopTimer();
  }
}

function parse<Event>(data: string): Event {
  // The server promises the type in its OpenAPI document.
  return JSON.parse(data) as Event;
}
