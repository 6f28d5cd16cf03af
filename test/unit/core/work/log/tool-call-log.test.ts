import { describe, expect, test } from "vitest";
import { mapUpdate } from "../../../../../src/agents/acp/update-mapping.ts";
import type { ToolCallUpdate, ToolContent } from "../../../../../src/core/model/runs/agent-update.ts";
import { updatedCall } from "../../../../../src/core/requests/conversations/tool-action.ts";
import { EventRecorder, type RecordedUpdate } from "../../../../../src/core/work/log/event-recorder.ts";
import { createRedactor } from "../../../../../src/secrets/redaction.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";

const SECRET = "s3cret-of-mine";

describe("the log of tool calls", () => {
  test.each([
    ["content", (text: string) => ({ content: [textContent(text)] })],
    [
      "terminal metadata",
      (text: string) => ({ _meta: { terminal_output: { data: text, terminal_id: "t" } } }),
    ],
  ])("cumulative output in %s is stored once, a few times a second", async (_name, shape) => {
    const log = aLog();
    log.add({ sessionUpdate: "tool_call", toolCallId: "c", title: "make", kind: "execute" });
    const lines = Array.from({ length: 1_000 }, (_, index) => `building part ${index}\n`);
    let whole = "";

    for (const line of lines) {
      whole += line;
      log.add({ ...running("make"), ...shape(whole) });
      await log.clock.advance(10);
    }
    log.add({ ...ended(), ...shape(whole) });

    expect(await log.text()).toBe(whole);
    expect(log.storedLength()).toBeLessThan(2 * whole.length);
    // Ten seconds have 40 quarters.
    expect(log.stored.length).toBeLessThan(50);
  });

  test("output in pieces is stored once, a few times a second", async () => {
    const log = aLog();
    log.add({ sessionUpdate: "tool_call", toolCallId: "c", title: "make", content: [terminal("c")] });
    const lines = Array.from({ length: 1_000 }, (_, index) => `building part ${index}\n`);

    for (const line of lines) {
      log.add({ ...update(), _meta: { terminal_output_delta: { data: line, terminal_id: "c" } } });
      await log.clock.advance(10);
    }
    log.add({ ...ended(), _meta: { terminal_exit: { exit_code: 0 } } });

    expect(await log.text()).toBe(lines.join(""));
    expect(log.storedLength()).toBeLessThan(2 * lines.join("").length);
    expect(log.stored.length).toBeLessThan(50);
  });

  test("cumulative raw output is stored when its call ends", async () => {
    const log = aLog();
    log.add({ sessionUpdate: "tool_call", toolCallId: "c", title: "make" });
    for (let lines = 1; lines <= 100; lines += 1) {
      log.add({ ...update(), rawOutput: { output: "a line\n".repeat(lines) } });
      await log.clock.advance(300);
    }
    log.add({ ...ended(), rawOutput: { output: "a line\n".repeat(100), exit: 0 } });

    const call = await log.call();
    expect(call.rawOutput).toEqual({ output: "a line\n".repeat(100), exit: 0 });
    expect(log.storedLength()).toBeLessThan(1_000 + 100);
  });

  test("raw output that repeats the content refers to it", async () => {
    const log = aLog();
    const text = numbered(100);
    const rawOutput = { output: text, metadata: { output: `...\n\n${text.slice(-500)}`, exit: 0 } };

    log.add({ ...ended(), content: [textContent(text)], rawOutput });

    const repeated = "[the same text as in the content]";
    expect(await log.call()).toMatchObject({
      content: [{ type: "text", text }],
      rawOutput: { output: repeated, metadata: { output: repeated, exit: 0 } },
    });
  });

  test("an agent that sends only the last part of a long output adds to what is known", async () => {
    const log = aLog();
    log.add({ sessionUpdate: "tool_call", toolCallId: "c", title: "make" });
    const whole = numbered(3_000);

    for (let end = 100; end <= whole.length; end += 500) {
      const last = end > 5_000 ? `...\n\n${whole.slice(end - 5_000, end)}` : whole.slice(0, end);
      log.add({ ...running("make"), content: [textContent(last)] });
      await log.clock.advance(300);
    }

    const text = await log.text();
    expect(whole.startsWith(text)).toBe(true);
    expect(text.length).toBeGreaterThan(whole.length - 500);
  });

  test("a long output keeps its beginning and its end, and says how much is left out", async () => {
    const log = aLog();
    log.add({ sessionUpdate: "tool_call", toolCallId: "c", title: "make", content: [terminal("c")] });
    const whole = numbered(100_000);

    for (let at = 0; at < whole.length; at += 7_000) {
      const data = whole.slice(at, at + 7_000);
      log.add({ ...update(), _meta: { terminal_output_delta: { data, terminal_id: "c" } } });
      await log.clock.advance(300);
    }
    log.add(ended());

    const text = await log.text();
    const [head = "", bytes, tail = ""] = text.split(/\n… \[(\d+) bytes left out\] …\n/);
    expect(whole.startsWith(head)).toBe(true);
    expect(whole.endsWith(tail)).toBe(true);
    expect(head.length + tail.length + Number(bytes)).toBe(whole.length);
    expect(text.length).toBeLessThan(140_000);
  });

  test("content that is too long keeps its beginning and its end", async () => {
    const log = aLog();

    log.add({ ...ended(), content: [textContent(numbered(100_000))] });

    const text = await log.text();
    expect(text.startsWith("line 0\n") && text.endsWith("line 99999\n")).toBe(true);
    expect(text).toMatch(/\n… \[\d+ bytes left out\] …\n/);
    expect(text.length).toBeLessThan(140_000);
  });

  test("content that is not continued replaces the content and the output before it", async () => {
    const log = aLog();
    for (const text of ["one", "one two", "three"]) {
      log.add({ ...running("make"), content: [textContent(text)] });
      await log.clock.advance(300);
    }

    expect(await log.text()).toBe("three");
  });

  test("content that is replaced without end is stored up to a limit until its call ends", async () => {
    const log = aLog();
    for (let time = 0; time < 100; time += 1) {
      log.add({ ...running("make"), content: [textContent(`${time} ${"x".repeat(20_000)}`)] });
      await log.clock.advance(300);
    }
    log.add({ ...ended(), content: [textContent("done")] });

    expect(await log.text()).toBe("done");
    expect(log.storedLength()).toBeLessThan(400_000);
  });

  test("a secret that is divided over two pieces of output is removed", async () => {
    const log = aLog();
    for (const text of [
      "the s3cret",
      `the ${SECRET}`,
      `the ${SECRET} and s3cret-`,
      `the ${SECRET} and ${SECRET}!`,
    ]) {
      log.add({ ...running("make"), content: [textContent(text)] });
      // Other updates come between the pieces.
      log.add({ sessionUpdate: "usage_update", used: 1, size: 2 });
      await log.clock.advance(300);
    }

    expect(await log.text()).toBe("the [redacted] and [redacted]!");
    expect(JSON.stringify(log.stored)).not.toContain("s3cret");
  });

  test("members that did not change are not stored again", async () => {
    const log = aLog();
    const call = { toolCallId: "c", title: "make", kind: "execute", rawInput: { command: "make" } };
    log.add({ sessionUpdate: "tool_call", ...call, status: "in_progress" });
    log.add({ sessionUpdate: "tool_call_update", ...call, status: "in_progress" });
    log.add({ sessionUpdate: "tool_call_update", ...call, status: "completed" });

    await log.call();
    expect(log.stored.slice(1)).toEqual([{ kind: "agent.tool_call", toolCallId: "c", status: "completed" }]);
  });
});

function aLog() {
  const clock = new ManualClock();
  const stored: RecordedUpdate[] = [];
  const recorder = new EventRecorder(clock, createRedactor([SECRET]), async (updates) => {
    stored.push(...updates);
  });
  const call = async (): Promise<ToolCallUpdate> => {
    await recorder.flush();
    const calls = stored.filter((each) => each.kind === "agent.tool_call");
    return calls.reduce(updatedCall, { kind: "agent.tool_call", toolCallId: "c" });
  };
  return {
    clock,
    stored,
    call,
    add: (wire: unknown) => {
      const mapped = mapUpdate(wire);
      if (mapped !== undefined) {
        recorder.add(mapped);
      }
    },
    text: async () => {
      const { content = [], output = "" } = await call();
      return content.map(textOf).join("\n") + output;
    },
    storedLength: () => JSON.stringify(stored).length,
  };
}

function textOf(content: ToolContent): string {
  if (content.type === "text") {
    return content.text;
  }
  return content.type === "terminal" ? (content.output ?? "") : "";
}

function update() {
  return { sessionUpdate: "tool_call_update", toolCallId: "c" };
}

/** As OpenCode repeats it. */
function running(title: string) {
  return { ...update(), kind: "execute", status: "in_progress", title, rawInput: { command: title } };
}

function ended() {
  return { ...update(), status: "completed" };
}

function textContent(text: string) {
  return { type: "content", content: { type: "text", text } };
}

function terminal(terminalId: string) {
  return { type: "terminal", terminalId };
}

function numbered(lines: number): string {
  return Array.from({ length: lines }, (_, index) => `line ${index}\n`).join("");
}
