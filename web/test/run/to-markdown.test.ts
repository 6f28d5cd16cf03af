import type { RunEvent, UnknownRunEvent } from "@errand/client";
import { expect, test } from "vitest";
import { Conversation } from "../../src/run/conversation/conversation.ts";
import { markdownOf, type Names } from "../../src/run/to-markdown.ts";

const NAMES: Names = {
  agent: "Codex",
  creator: "Dana",
  prompt: "Fix the login",
  servers: [],
  author: () => "Marek",
};

test("a conversation is copied with who said what, changes as diffs and output in fences", () => {
  const conversation = new Conversation();
  const events = [
    { kind: "run.created", state: "QUEUED" },
    { kind: "workspace.ready", restored: false },
    { kind: "agent.message", text: "Looking." },
    {
      kind: "agent.plan",
      entries: [
        { content: "Look", status: "completed" },
        { content: "Fix", status: "pending" },
      ],
    },
    {
      ...{ kind: "agent.tool_call", tool_call_id: "a", tool_kind: "edit", status: "completed" },
      content: [{ type: "diff", path: "/workspace/a.ts", old_text: "one\n", new_text: "two\n" }],
    },
    {
      ...{ kind: "agent.tool_call", tool_call_id: "b", tool_kind: "execute", status: "completed" },
      raw_input: { command: "cat `file`" },
      output: "first\n```\ncode\n```\n",
    },
    {
      kind: "followup.received",
      followup_id: "f",
      message: "Also the docs",
      author_id: "m",
      delivery: "queue",
    },
    { kind: "turn.started", followup_ids: ["f"], again: false },
  ];
  conversation.append(
    events.map(
      (event, index) =>
        ({ seq: index + 1, turn: 1, at: "2026-03-01T12:00:00Z", ...event }) as UnknownRunEvent as RunEvent,
    ),
  );

  expect(markdownOf(conversation.entries, NAMES)).toBe(
    [
      "**Dana**",
      "Fix the login",
      "**Codex**",
      "Looking.",
      "- [x] Look\n- [ ] Fix",
      "**Edited** `a.ts`",
      "```diff\n--- a.ts\n+++ a.ts\n@@ -1,1 +1,1 @@\n-one\n+two\n```",
      "**Ran** `cat 'file'`",
      "````\nfirst\n```\ncode\n```\n````",
      "**Marek**",
      "Also the docs\n",
    ].join("\n\n"),
  );
});
