import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunEvent, UnknownRunEvent } from "@errand/client";
import { describe, expect, test } from "vitest";
import { mapUpdate } from "../../../src/agents/acp/update-mapping.ts";
import { membersWithApiNames } from "../../../src/api/schemas/event-names.ts";
import { processorTime } from "../../../test/support/processor-time.ts";
import type { Entry } from "../../src/run/conversation/entries.ts";
import { Timeline } from "../../src/run/conversation/timeline.ts";
import { viewOf } from "../../src/run/conversation/tool-call.ts";

const AGENTS = ["claude", "codex", "copilot", "gemini", "opencode", "qwen"] as const;

describe("recorded updates", () => {
  test.each(AGENTS)("%s: the file, the command and every message are entries", (agent) => {
    const entries = fold(recorded(agent)).conversation.entries;
    const calls = entries.flatMap((entry) => (entry.kind === "tool" ? [viewOf(entry)] : []));

    const command = calls.find(({ subject }) => subject === "echo shell-ok && pwd");
    expect(command).toMatchObject({ kind: "execute", verb: "Ran", state: "completed" });
    // Gemini sends no output of commands.
    expect(command?.output.trimEnd()).toBe(agent === "gemini" ? "" : "shell-ok\n/workspace");
    if (agent === "codex") {
      expect(calls[0]?.subject).toBe("printf '%s' 'hello from the scripted model' > a.txt");
    } else {
      const change = { path: "a.txt", newText: "hello from the scripted model\n" };
      expect(calls[0]).toMatchObject({ kind: "edit", verb: "Created", subject: "a.txt", changes: [change] });
    }
    const texts = entries.flatMap((entry) => (entry.kind === "message" ? [entry.text] : []));
    expect(texts.join("")).toContain("Echo: verb=hello users=");
    const isShown = (text: string) => entries.some((entry) => JSON.stringify(entry).includes(text));
    expect(isShown("All done with write.") && isShown("All done with shell.")).toBe(true);
    expect(isShown("thinking it over")).toBe(true);
  });

  test.each(AGENTS)("%s: it does not matter where the log is cut into pages", (agent) => {
    const events = recorded(agent);
    const whole = fold(events);

    for (const size of [1, 2, 5]) {
      const pages = new Timeline();
      for (let end = events.length; end > 0; end -= size) {
        pages.prepend(events.slice(Math.max(0, end - size), end));
      }

      expect(pages.conversation.entries).toEqual(whole.conversation.entries);
      expect(pages.conversation.facts).toEqual(whole.conversation.facts);
      expect(pages.rows).toEqual(whole.rows);
    }
  });

  test("an update that has no view is shown with its name and its content", () => {
    const [entry] = fold(recorded("copilot")).conversation.entries.filter(({ kind }) => kind === "other");

    expect(entry).toMatchObject({ name: "config_option_update", data: { configOptions: expect.anything() } });
  });
});

describe("the conversation", () => {
  test("an event of an unknown kind is kept with its members", () => {
    const { entries } = fold([event("moon.landing", { crew: 3 })]).conversation;

    expect(entries).toMatchObject([{ kind: "other", name: "moon.landing", data: { crew: 3 } }]);
  });

  test("pieces of a message are one entry, and another message is another one", () => {
    const piece = (message_id: string, text: string) => event("agent.message", { message_id, text });
    const { entries } = fold([piece("a", "Hel"), piece("a", "lo."), piece("b", "Bye.")]).conversation;

    expect(entries).toMatchObject([{ text: "Hello." }, { text: "Bye." }]);
  });

  test("a plan stays in its place and is replaced", () => {
    const plan = (status: string) => event("agent.plan", { entries: [{ content: "Look", status }] });
    const { entries } = fold([plan("pending"), message("Hm."), plan("completed")]).conversation;

    expect(entries).toMatchObject([{ kind: "plan", tasks: [{ status: "completed" }] }, { kind: "message" }]);
  });

  test("output is appended until new content replaces it", () => {
    const part = (members: object) =>
      event("agent.tool_call", { tool_call_id: "c", tool_kind: "execute", ...members });
    const terminal = [{ type: "terminal", terminal_id: "t" }];
    const first = fold([part({ content: terminal }), part({ output: "a" }), part({ output: "b" })]);
    expect(outputs(first)).toEqual(["ab"]);

    first.append([part({ content: [{ type: "text", text: "all" }] }), part({ output: "!" })]);
    expect(outputs(first)).toEqual(["all!"]);
  });

  test("a follow-up waits until a turn takes it, and then stands where the turn began", () => {
    const timeline = fold([
      turn(1),
      event("followup.received", {
        followup_id: "f",
        message: "Also the docs",
        author_id: "p",
        delivery: "queue",
      }),
      event("followup.edited", { followup_id: "f", message: "Also the README", edited_by: "p" }),
      message("Working."),
    ]);
    expect(timeline.conversation.held).toMatchObject([
      { state: "held", text: "Also the README", isEdited: true },
    ]);

    timeline.append([turn(2, ["f"]), message("Done.")]);

    expect(timeline.conversation.held).toEqual([]);
    expect(kinds(timeline)).toEqual(["line", "message", "line", "followup", "message"]);
    expect(timeline.conversation.entries[3]).toMatchObject({
      state: "given",
      text: "Also the README",
      authorId: "p",
    });
  });

  test("a follow-up that was received on an earlier page gets its text with that page", () => {
    const received = event("followup.received", {
      followup_id: "f",
      message: "Hi",
      author_id: "p",
      delivery: "steer",
    });
    const later = [message("One."), event("followup.steered", { followup_id: "f" }), message("Two.")];
    const timeline = fold(later);
    expect(timeline.conversation.entries[1]).not.toHaveProperty("text");

    timeline.prepend([received]);

    expect(kinds(timeline)).toEqual(["message", "followup", "message"]);
    expect(timeline.conversation.entries[1]).toMatchObject({ text: "Hi", state: "steered" });
    expect(timeline.conversation.held).toEqual([]);
  });

  test("a withdrawn follow-up is no longer held", () => {
    const timeline = fold([
      event("followup.received", { followup_id: "f", message: "Hi", author_id: "p", delivery: "queue" }),
      event("followup.withdrawn", { followup_id: "f", withdrawn_by: "p" }),
    ]);

    expect(timeline.conversation.held).toEqual([]);
    expect(timeline.conversation.entries).toMatchObject([{ state: "withdrawn", text: "Hi" }]);
  });

  test("the last rating of a person stands for the earlier one", () => {
    const rated = (rating: string, by: string) =>
      event("turn.rated", { rated_turn: 1, rating, rated_by: by });
    const { conversation } = fold([rated("good", "p"), rated("good", "q"), rated("bad", "p")]);

    expect(conversation.entries).toMatchObject([
      { kind: "line", text: "Answer of turn 1 rated 👎" },
      { kind: "line", text: "Answer of turn 1 rated 👍" },
    ]);
  });

  test("a call that a person refused is denied, also when the question is on an earlier page", () => {
    const options = [{ option_id: "no", name: "No", kind: "reject_once" }];
    const facts = { command: "rm -rf /", reason: "list files" };
    const request = { permission_id: "q", tool_call_id: "c", title: "May I?", options, ...facts };
    const events = [
      event("agent.tool_call", { tool_call_id: "c", tool_kind: "execute", status: "pending" }),
      event("permission.requested", { request }),
      event("permission.answered", { permission_id: "q", option_id: "no" }),
      event("agent.tool_call", { tool_call_id: "c", status: "failed" }),
    ];
    const timeline = fold(events.slice(2));
    timeline.prepend(events.slice(1, 2));
    timeline.prepend(events.slice(0, 1));

    for (const { conversation } of [timeline, fold(events)]) {
      const [call, question] = conversation.entries;
      expect(call?.kind === "tool" && viewOf(call).state).toBe("denied");
      expect(question).toMatchObject({ kind: "question", answer: "no", title: "May I?", facts });
    }
  });

  test("a call without an end is over with its turn", () => {
    const timeline = fold([event("agent.tool_call", { tool_call_id: "c", status: "in_progress" })]);
    expect(stateOf(timeline)).toBe("running");

    timeline.append([event("turn.ended", { stop_reason: "cancelled", answer: "" })]);

    expect(stateOf(timeline)).toBe("unknown");
  });

  test("a step of the workspace that starts again is another entry", () => {
    const step = (status: string, output?: string) =>
      event("workspace.step", { step_id: "clone", title: "Clone", status, ...(output && { output }) });
    const { entries } = fold([
      step("running"),
      step("running", "a"),
      step("completed", "b"),
      step("running"),
    ]).conversation;

    expect(entries).toMatchObject([
      { status: "completed", output: "ab" },
      { status: "running", output: "" },
    ]);
  });

  test("the end of a run shows the reason and what to do", () => {
    const status = { message: "The budget is used up.", error_code: "budget_exceeded", remedy: "Raise it." };
    const { entries, facts } = fold([
      event("run.state", { from: "INPROGRESS", to: "FAILED", status }),
    ]).conversation;

    expect(entries).toMatchObject([{ kind: "problem", state: "FAILED", text: status.message, status }]);
    expect(facts.state).toBe("FAILED");
  });

  test("paths are relative to the workspace", () => {
    const [entry] = fold([
      event("agent.tool_call", {
        tool_call_id: "c",
        tool_kind: "read",
        locations: [{ path: "/workspace/src/a.ts", line: 3 }, { path: "/workspace/b.ts" }],
      }),
    ]).conversation.entries;

    expect(entry?.kind === "tool" && viewOf(entry).subject).toBe("src/a.ts:3 and 1 more");
  });

  test("a title of a hundred thousand blanks is read in linear time", () => {
    const title = `a${" ".repeat(100_000)}b \n\n c`;
    const [entry] = fold([event("agent.tool_call", { tool_call_id: "c", title })]).conversation.entries;
    const usedMs = processorTime();

    expect(entry?.kind === "tool" && viewOf(entry).subject).toBe(`a${" ".repeat(100_000)}b ⏎ c`);
    expect(usedMs()).toBeLessThan(5_000);
  });

  test.each([
    ["mcp__linear__get_issue", "linear", "get_issue"],
    ["get_issue (linear MCP Server)", "linear", "get_issue"],
    ["linear_get_issue", "linear", "get_issue"],
  ])("the tool of an MCP server is recognised: %s", (title, verb, subject) => {
    const [entry] = fold([event("agent.tool_call", { tool_call_id: "c", title, tool_kind: "other" })])
      .conversation.entries;

    expect(entry?.kind === "tool" && viewOf(entry, ["linear"])).toMatchObject({ kind: "mcp", verb, subject });
  });

  test("a command that ran in a shell is shown without the shell, and its failure by its exit code", () => {
    const [entry] = fold([
      event("agent.tool_call", {
        tool_call_id: "c",
        tool_kind: "execute",
        status: "completed",
        raw_input: { command: ["bash", "-lc", "npm test"] },
        raw_output: { exit_code: 2 },
      }),
    ]).conversation.entries;

    expect(entry?.kind === "tool" && viewOf(entry)).toMatchObject({ subject: "npm test", exitCode: 2 });
  });
});

describe("the rows", () => {
  test("everything before the agent's first word is one row", () => {
    const { rows } = fold([
      event("run.created", { state: "QUEUED" }),
      event("attempt.started", { attempt: 1, worker: "w" }),
      event("workspace.step", { step_id: "s", title: "Clone", status: "completed" }),
      event("workspace.ready", { restored: false }),
      event("agent.started", { agent: "codex", session: "s", resumed: false }),
      turn(1),
      event("agent.notice", { severity: "warning", text: "No metadata" }),
      event("agent.thought", { text: "\n\n" }),
      event("agent.other", { name: "config", data: {} }),
      message("Hello."),
    ]);

    expect(rows.map(({ kind }) => kind)).toEqual(["entry", "system", "entry"]);
    expect(rows[1]).toMatchObject({
      entries: expect.arrayContaining([expect.objectContaining({ name: "config" })]),
    });
  });

  test("the start of the agent says how long it took, if the event does", () => {
    const started = (members: object) =>
      event("agent.started", { agent: "codex", version: "2", session: "s", resumed: false, ...members });
    const phases = { process_ms: 40, initialize_ms: 1_500, session_ms: 300 };

    const { rows } = fold([started({ phases }), started({})]);

    expect(rows[0]).toMatchObject({
      entries: [{ text: "codex 2 started in 1.8 s" }, { text: "codex 2 started" }],
    });
  });

  test("the end of the attempt is a row, except after the end of the run", () => {
    const ended = (reason: string) => event("attempt.ended", { attempt: 1, reason });
    const done = () => event("run.state", { from: "INPROGRESS", to: "SUCCEEDED" });

    const interrupted = fold([message("One."), ended("Its worker stops.")]).rows;
    const finished = fold([message("One."), done(), ended("The attempt is over.")]).rows;

    expect(interrupted.map(({ kind }) => kind)).toEqual(["entry", "system"]);
    expect(finished.map(({ kind }) => kind)).toEqual(["entry", "system"]);
    expect(finished[1]).toMatchObject({ entries: [{ name: "ended" }] });
  });

  test("four quiet steps fold, and failures stay visible", () => {
    const calls = ["completed", "completed", "completed", "completed", "failed"].map(call);
    const timeline = fold(calls);

    expect(timeline.rows.map(({ kind }) => kind)).toEqual(["step", "step", "fold", "step"]);
    expect(timeline.rows.at(0)).toMatchObject({ isFirst: true, isLast: false });
    expect(timeline.rows.at(-1)).toMatchObject({ isFirst: false, isLast: true });

    timeline.toggleFold(timeline.rows[2]?.key ?? "");
    expect(timeline.rows.map(({ kind }) => kind)).toEqual(["step", "step", "fold", "step", "step", "step"]);
  });

  test("a day between two entries is a row", () => {
    const { rows } = fold([
      { ...message("One."), at: "2026-03-01T12:00:00Z" },
      { ...message("Two."), at: "2026-03-03T12:00:00Z", message_id: "b" },
    ] as RunEvent[]);

    expect(rows.map(({ kind }) => kind)).toEqual(["entry", "day", "entry"]);
  });

  test("one more event changes only the last rows of 50,000 events", () => {
    const timeline = fold(
      Array.from({ length: 50_000 }, (_, index) =>
        index % 3 === 0 ? message(`${index}`) : call("completed"),
      ),
    );
    const before = [...timeline.rows];

    timeline.append([event("agent.message", { message_id: "new", text: "word " })]);

    const kept = before.filter((row, index) => row === timeline.rows[index]).length;
    expect(timeline.rows.length).toBe(before.length + 1);
    expect(kept).toBeGreaterThanOrEqual(before.length - 3);
  });
});

let seq = 0;

/** An event of the next sequence number. */
function event(kind: string, members: object = {}): RunEvent {
  seq += 1;
  const at = new Date(Date.UTC(2026, 2, 1, 12) + seq).toISOString();
  return { seq, turn: 1, at, kind, ...members } as UnknownRunEvent as RunEvent;
}

function message(text: string): RunEvent {
  return event("agent.message", { message_id: `m-${text}`, text });
}

function call(status: string): RunEvent {
  return event("agent.tool_call", { tool_call_id: `c${seq}`, tool_kind: "read", title: "Read", status });
}

function turn(number: number, followup_ids: readonly string[] = []): RunEvent {
  return event("turn.started", { turn: number, followup_ids, again: false });
}

function fold(events: readonly RunEvent[]): Timeline {
  const timeline = new Timeline();
  timeline.append(events);
  return timeline;
}

/** What an agent sent, as the events that the API returns. */
function recorded(agent: string): readonly RunEvent[] {
  const file = join(import.meta.dirname, "../../../test/fixtures/acp", `${agent}.jsonl`);
  return readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line): { method?: string; params?: { update?: unknown } } => JSON.parse(line))
    .flatMap(({ method, params }) => (method === "session/update" ? [mapUpdate(params?.update)] : []))
    .flatMap((update) => (update === undefined ? [] : [membersWithApiNames(update)]))
    .map(({ kind, ...members }) => event(String(kind), members));
}

function kinds({ conversation }: Timeline): readonly Entry["kind"][] {
  return conversation.entries.map(({ kind }) => kind);
}

function outputs({ conversation }: Timeline): readonly string[] {
  return conversation.entries.flatMap((entry) => (entry.kind === "tool" ? [viewOf(entry).output] : []));
}

function stateOf({ conversation }: Timeline): string | undefined {
  const [entry] = conversation.entries;
  return entry?.kind === "tool" ? viewOf(entry).state : undefined;
}
