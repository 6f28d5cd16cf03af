import { request as httpRequest, type IncomingMessage } from "node:http";
import { createParser } from "eventsource-parser";
import { waitFor } from "../../support/wait-for.ts";
import type { ApiHarness } from "./api-harness.ts";

export interface SeenEvent {
  readonly id: number;
  /** The id as the stream sent it. */
  readonly cursor: string;
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of every kind
  readonly data: any;
}

/** Reads an event stream over real HTTP with the parser that common clients use. */
export class EventReader {
  readonly events: SeenEvent[] = [];
  readonly comments: string[] = [];
  readonly response: IncomingMessage;
  isOver = false;

  constructor(response: IncomingMessage) {
    this.response = response;
    const parser = createParser({
      onEvent: ({ id = "", event = "", data }) =>
        this.events.push({ id: Number(id), cursor: id, kind: event, data: JSON.parse(data) }),
      onComment: (comment) => this.comments.push(comment),
    });
    response.setEncoding("utf8").on("data", (text: string) => parser.feed(text));
    response
      .on("error", () => undefined)
      .on("close", () => {
        this.isOver = true;
      });
  }

  get ids(): number[] {
    return this.events.map(({ id }) => id);
  }

  async until(count: number): Promise<void> {
    await waitFor(() => this.events.length >= count, { what: `${count} events` });
  }

  async untilOver(): Promise<void> {
    await waitFor(() => this.isOver, { what: "the end of the stream" });
  }

  leave(): void {
    this.response.destroy();
  }
}

export const ALL_EVENTS = "/api/v1/agent/events";

export function eventsOf(runId: string): string {
  return `/api/v1/agent/runs/${runId}/events`;
}

/** The address of a server and its administrator's key. */
export type Served = Pick<ApiHarness, "url" | "key">;

export interface StreamOptions {
  readonly query?: string;
  readonly headers?: Record<string, string>;
  /** The key to send. `null` sends none. Default: the administrator's. */
  readonly key?: string | null;
}

export async function openStream(
  harness: Served,
  runId: string,
  options: StreamOptions = {},
): Promise<EventReader> {
  return new EventReader(await openRaw(harness, runId, options));
}

/** Opens the stream of all runs. */
export async function openAll(harness: Served, options: StreamOptions = {}): Promise<EventReader> {
  return new EventReader(await openAt(harness, ALL_EVENTS, options));
}

/** Opens a stream of a run and returns the response unread. */
export function openRaw(
  harness: Served,
  runId: string,
  options: StreamOptions = {},
): Promise<IncomingMessage> {
  return openAt(harness, eventsOf(runId), options);
}

/** Opens the stream at any address, like `openRaw`. */
export async function openAt(
  harness: Served,
  path: string,
  { query = "", headers = {}, key = harness.key }: StreamOptions = {},
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const url = `${harness.url}${path}${query}`;
  const bearer = key === null ? {} : { authorization: `Bearer ${key}` };
  const all = { ...bearer, accept: "text/event-stream", ...headers };
  httpRequest(url, { agent: false, headers: all }, resolve).on("error", reject).end();
  return promise;
}
