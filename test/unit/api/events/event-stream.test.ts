import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import type { EventStream } from "../../../../src/api/events/event-stream.ts";
import { OpenStreams } from "../../../../src/api/events/open-streams.ts";

const LIMITS = { heartbeatMs: 60_000, callerCheckMs: 60_000, streamBufferBytes: 1, streamStallMs: 1 };

function open(streams: OpenStreams, id: string): EventStream {
  const request = new IncomingMessage(new Socket());
  const raw = new ServerResponse(request);
  const reply = {
    raw,
    request: { raw: request },
    header: () => undefined,
    hijack: () => undefined,
    getHeaders: () => ({}),
  };
  return streams.open(
    { caller: { id, onAccessChange: () => () => undefined } } as unknown as FastifyRequest,
    reply as unknown as FastifyReply,
  );
}

test("each caller has its own limit of open streams", () => {
  const streams = new OpenStreams({ ...LIMITS, streamsPerPrincipal: 2 });
  const first = open(streams, "key");
  open(streams, "key");

  expect(() => open(streams, "key")).toThrow(/2 open streams/);
  expect(() => open(streams, "other")).not.toThrow();
  first.end();
  expect(() => open(streams, "key")).not.toThrow();
  streams.endAll();
});

test("a limit of 0 allows any number of streams, and endAll ends all of them", () => {
  const streams = new OpenStreams({ ...LIMITS, streamsPerPrincipal: 0 });

  const opened = Array.from({ length: 100 }, () => open(streams, "key"));
  streams.endAll();

  expect(opened.every(({ isOver }) => isOver)).toBe(true);
});
