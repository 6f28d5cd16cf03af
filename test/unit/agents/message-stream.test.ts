import { PassThrough, Readable } from "node:stream";
import type { AnyMessage } from "@agentclientprotocol/sdk/unstable";
import { expect, test } from "vitest";
import { type MessageTap, openMessageStream } from "../../../src/agents/acp/message-stream.ts";
import { quiet } from "../../support/manual-clock.ts";

const UPDATE = { jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update: { n: 1 } } };
const ANSWER = { jsonrpc: "2.0", id: 0, result: {} };

test("updates are delivered in order and before the response that follows them, and noise separately", async () => {
  const { told, tap } = recordingTap();
  const stdout = new PassThrough();
  const stream = openMessageStream(new PassThrough(), stdout, tap);

  stdout.end(`Warning: old node\n${line(UPDATE)}42\n\n${line(ANSWER)}`);
  const passed = await collect(stream.readable);

  expect(told).toEqual(["noise Warning: old node", 'update {"n":1}', "noise 42", "answered"]);
  expect(passed).toEqual([ANSWER]);
});

test.each(['{"level":"info","msg":"ready"}', '{"error":"boom"}', '{"id":7}', "[1,2,3]", '"text"', "null"])(
  "the line %s is no message, so it is noise and does not reach the SDK",
  async (text) => {
    const { told, tap } = recordingTap();
    const stdout = new PassThrough();
    const stream = openMessageStream(new PassThrough(), stdout, tap);

    stdout.end(`${text}\n${line(ANSWER)}`);

    expect(await collect(stream.readable)).toEqual([ANSWER]);
    expect(told).toEqual([`noise ${text}`, "answered"]);
  },
);

test("the message stream reads nothing while there is no room for more", async () => {
  const { told, tap } = recordingTap();
  const semaphore = Promise.withResolvers<void>();
  let written = 0;
  const agent = function* () {
    for (; written < 1_000; written += 1) {
      yield Buffer.from(line(UPDATE));
    }
    yield Buffer.from(line(ANSWER));
  };
  const stdout = Readable.from(agent(), { objectMode: false, highWaterMark: 1_024 });
  const stream = openMessageStream(new PassThrough(), stdout, {
    ...tap,
    backpressure: () => semaphore.promise,
  });

  const passed = collect(stream.readable);
  for (let turns = 0; turns < 50; turns += 1) {
    await quiet();
  }

  expect(told).toEqual([]);
  expect(written).toBeLessThan(100);
  semaphore.resolve();
  expect(await passed).toEqual([ANSWER]);
  expect(told).toHaveLength(1_001);
});

test("messages that arrive in pieces are joined, even if a character is split", async () => {
  const { tap } = recordingTap();
  const stdout = new PassThrough();
  const message = { ...ANSWER, result: { text: "grüße" } };
  const bytes = Buffer.from(line(message));
  const stream = openMessageStream(new PassThrough(), stdout, tap);

  for (const byte of bytes) {
    stdout.write(Buffer.from([byte]));
  }
  stdout.end();

  expect(await collect(stream.readable)).toEqual([message]);
});

test("an endless message fails the stream", async () => {
  const { tap } = recordingTap();
  const stdout = new PassThrough();
  const stream = openMessageStream(new PassThrough(), stdout, tap);
  const passed = collect(stream.readable);

  for (let megabytes = 0; megabytes < 17; megabytes += 1) {
    stdout.write(Buffer.alloc(1024 * 1024, "x"));
  }

  await expect(passed).rejects.toThrow("more than 16777216 bytes");
});

test("an agent that sends requests and reads no responses fails the stream", async () => {
  const { tap } = recordingTap();
  const stream = openMessageStream(new PassThrough(), Readable.from(asking(10_000)), tap);

  await expect(collect(stream.readable)).rejects.toThrow("sends more requests than it reads");
});

test("too many bytes of unanswered requests fail the stream", async () => {
  const { tap } = recordingTap();
  const large = asking(20, { title: "x".repeat(1024 * 1024) });
  const stream = openMessageStream(new PassThrough(), Readable.from(large), tap);

  await expect(collect(stream.readable)).rejects.toThrow("sends more requests than it reads");
});

test("an agent that sends as many requests and reads the responses is accepted", async () => {
  const { tap } = recordingTap();
  const stdin = new PassThrough();
  stdin.resume();
  const stream = openMessageStream(stdin, Readable.from(asking(10_000)), tap);
  const writer = stream.writable.getWriter();

  let count = 0;
  for await (const message of stream.readable) {
    if ("id" in message) {
      await writer.write({ jsonrpc: "2.0", id: message.id, result: {} });
    }
    count += 1;
  }

  expect(count).toBe(10_000);
});

function* asking(count: number, params = {}): Generator<Buffer> {
  const method = "session/request_permission";
  // Ids that are given twice are told apart.
  for (let id = 0; id < count; id += 1) {
    yield Buffer.from(line({ jsonrpc: "2.0", id: id % 100, method, params }));
  }
}

test("each message is written as one line", async () => {
  const { tap } = recordingTap();
  const stdin = new PassThrough();
  const writer = openMessageStream(stdin, new PassThrough(), tap).writable.getWriter();

  await writer.write({ jsonrpc: "2.0", method: "session/cancel", params: { text: "a\nb" } });

  expect(String(stdin.read())).toBe(
    '{"jsonrpc":"2.0","method":"session/cancel","params":{"text":"a\\nb"}}\n',
  );
});

async function collect(messages: AsyncIterable<AnyMessage>): Promise<readonly AnyMessage[]> {
  const collected: AnyMessage[] = [];
  for await (const message of messages) {
    collected.push(message);
  }
  return collected;
}

function line(message: object): string {
  return `${JSON.stringify(message)}\n`;
}

function recordingTap(): { told: string[]; tap: MessageTap } {
  const told: string[] = [];
  const tap = {
    backpressure: (): Promise<void> | undefined => undefined,
    update: (update: unknown) => told.push(`update ${JSON.stringify(update)}`),
    answered: () => told.push("answered"),
    noise: (text: string) => told.push(`noise ${text}`),
  };
  return { told, tap };
}
