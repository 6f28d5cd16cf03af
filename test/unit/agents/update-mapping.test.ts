import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { mapUpdate } from "../../../src/agents/acp/update-mapping.ts";
import type { AgentUpdate, ToolCallUpdate } from "../../../src/core/model/runs/agent-update.ts";

const AGENTS = ["claude", "codex", "copilot", "gemini", "opencode", "qwen"] as const;
const ECHO = "Echo: verb=hello users=";

describe.each(AGENTS)("the recorded updates of %s", (agent) => {
  const updates = recordedUpdates(agent).flatMap((update) => mapUpdate(update) ?? []);

  test("the recorded updates give the text of the answers", () => {
    const text = updates.flatMap((update) => (update.kind === "agent.message" ? update.text : [])).join("");

    expect(text).toContain("All done with write.");
    expect(text).toContain("All done with shell.");
    expect(text).toContain(ECHO);
  });

  test("the recorded updates give the thoughts apart from the answers", () => {
    const thoughts = updates.flatMap((update) => (update.kind === "agent.thought" ? update.text : []));

    expect(thoughts.filter((text) => text.includes("thinking it over"))).toHaveLength(2);
  });

  test("the recorded updates give two tool calls that end completed, with a title and a kind", () => {
    const calls = foldToolCalls(updates);

    expect(calls.map(({ status }) => status)).toEqual(["completed", "completed"]);
    expect(calls.map(({ toolKind }) => toolKind)).toContain("execute");
    for (const { title } of calls) {
      expect(title).toBeTruthy();
    }
  });

  test("the recorded updates contain nothing unknown except configuration options", () => {
    const unknown = updates.flatMap((update) => (update.kind === "agent.other" ? update.name : []));

    expect(unknown.filter((name) => name !== "config_option_update")).toEqual([]);
  });
});

describe("what agents report differently", () => {
  test("a new file's diff has no old text, or an empty one", () => {
    const diffs = ["claude", "gemini", "copilot", "qwen"].map((agent) => {
      const updates = recordedUpdates(agent).flatMap((update) => mapUpdate(update) ?? []);
      return updates.flatMap((update) => (update.kind === "agent.tool_call" ? (update.content ?? []) : []));
    });

    for (const contents of diffs) {
      const diff = contents.find(({ type }) => type === "diff");
      expect(diff).toMatchObject({ newText: "hello from the scripted model\n" });
      expect(diff?.type === "diff" && (diff.oldText || null)).toBeNull();
    }
  });

  test("codex reports a terminal's output beside the content", () => {
    const updates = recordedUpdates("codex").flatMap((update) => mapUpdate(update) ?? []);

    const call = foldToolCalls(updates).find(({ toolCallId }) => toolCallId === "call_ctabufzi");

    expect(call).toMatchObject({
      content: [{ type: "terminal", terminalId: "call_ctabufzi" }],
      output: "shell-ok\n/workspace\n",
    });
  });

  test("codex reports a notice", () => {
    const updates = recordedUpdates("codex").flatMap((update) => mapUpdate(update) ?? []);

    expect(updates).toContainEqual({
      kind: "agent.notice",
      severity: "warning",
      text: expect.stringContaining("Model metadata for `gpt-5-codex` not found"),
    });
  });

  test("claude, codex and copilot give a title; claude and opencode a cost", () => {
    const titled = AGENTS.filter((agent) => kindsOf(agent).has("agent.title"));
    const costing = AGENTS.filter((agent) =>
      recordedUpdates(agent)
        .map(mapUpdate)
        .some((update) => update?.kind === "agent.usage" && update.costUsd !== undefined),
    );

    expect(titled).toEqual(["claude", "codex", "copilot"]);
    expect(costing).toEqual(["claude", "opencode"]);
  });
});

describe("mapUpdate", () => {
  test("an update of an unknown kind is stored", () => {
    const update = mapUpdate({ sessionUpdate: "mind_reading", depth: 3 });

    expect(update).toEqual({ kind: "agent.other", name: "mind_reading", data: { depth: 3 } });
  });

  test("an update of a known kind and an unexpected shape is kept", () => {
    const image = { type: "image", data: "aGk=", mimeType: "image/png" };

    expect(mapUpdate({ sessionUpdate: "agent_message_chunk", content: image })).toMatchObject({
      kind: "agent.other",
    });
    expect(mapUpdate({ sessionUpdate: "plan", entries: "none" })).toMatchObject({ kind: "agent.other" });
    expect(mapUpdate("nonsense")).toEqual({ kind: "agent.other", name: "unknown", data: "nonsense" });
  });

  test("the list of commands and echoes of our own prompt are dropped", () => {
    expect(mapUpdate({ sessionUpdate: "available_commands_update", availableCommands: [] })).toBeUndefined();
    expect(
      mapUpdate({ sessionUpdate: "user_message_chunk", content: { type: "text", text: "hi" } }),
    ).toBeUndefined();
  });

  test("a member that an update does not name is left out, so that it does not replace what is known", () => {
    const update = mapUpdate({
      sessionUpdate: "tool_call_update",
      toolCallId: "a",
      status: "failed",
      title: null,
    });

    expect(update).toEqual({ kind: "agent.tool_call", toolCallId: "a", status: "failed" });
  });

  test("tool content of an unknown type is kept", () => {
    const content = [{ type: "hologram", size: 2 }];

    const update = mapUpdate({ sessionUpdate: "tool_call", toolCallId: "a", title: "Show", content });

    expect(update).toMatchObject({ content: [{ type: "other", data: { type: "hologram", size: 2 } }] });
  });

  test("a plan is mapped", () => {
    const entries = [{ content: "Look", status: "completed", priority: "high" }];

    expect(mapUpdate({ sessionUpdate: "plan", entries })).toEqual({ kind: "agent.plan", entries });
  });
});

function recordedUpdates(agent: string): readonly unknown[] {
  const file = join(import.meta.dirname, "../../fixtures/acp", `${agent}.jsonl`);
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): { method?: string; params?: { update?: unknown } } => JSON.parse(line))
    .flatMap(({ method, params }) => (method === "session/update" ? [params?.update] : []));
}

function kindsOf(agent: string): ReadonlySet<string | undefined> {
  return new Set(recordedUpdates(agent).map((update) => mapUpdate(update)?.kind));
}

function foldToolCalls(updates: readonly AgentUpdate[]): readonly ToolCallUpdate[] {
  const calls = new Map<string, ToolCallUpdate>();
  for (const update of updates) {
    if (update.kind === "agent.tool_call") {
      calls.set(update.toolCallId, { ...calls.get(update.toolCallId), ...update });
    }
  }
  return [...calls.values()];
}
