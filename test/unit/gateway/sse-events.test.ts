import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SseEvents } from "../../../src/gateway/models/sse-events.ts";

function read(pieces: readonly Buffer[]) {
  const events = new SseEvents();
  return [...pieces.flatMap((piece) => events.push(piece)), ...events.rest()];
}

describe("parsing an event stream", () => {
  test("a stream is parsed in the same way however it is divided, and no byte is lost", () => {
    const ends = ["\n", "\r\n", "\r"];
    const line = fc.constantFrom("data: one", "data:zwölf", "event: x", ": note", "id: 1", "");

    fc.assert(
      fc.property(fc.array(line), fc.constantFrom(...ends), fc.nat(7), (lines, end, size) => {
        const bytes = Buffer.from(lines.map((each) => each + end).join(""));
        const pieces = Array.from({ length: Math.ceil(bytes.length / (size + 1)) }, (_, index) =>
          bytes.subarray(index * (size + 1), (index + 1) * (size + 1)),
        );

        const events = read(pieces);

        expect(Buffer.concat(events.map(({ raw }) => raw)).equals(bytes)).toBe(true);
        const whole = read([bytes]).map(({ data }) => data);
        expect(events.map(({ data }) => data).join("|")).toBe(whole.join("|"));
      }),
    );
  });

  test("the data lines of one event are joined, and other lines between them are ignored", () => {
    const [event] = read([Buffer.from("event: x\ndata: one\n: note\ndata:  two\n\n")]);

    expect(event?.data).toBe("one\n two");
  });

  test("an event over the size limit is passed on without being parsed", () => {
    const long = Buffer.alloc(5 * 2 ** 20, "x");

    const events = read([Buffer.from("data: "), long, Buffer.from("\n\ndata: next\n\n")]);

    expect(events.map(({ data }) => data.length)).toEqual([0, 0, "next".length]);
    expect(events.reduce((sum, { raw }) => sum + raw.length, 0)).toBe(6 + long.length + 14);
  });
});
