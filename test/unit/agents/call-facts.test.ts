import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RequestPermissionRequest } from "@agentclientprotocol/sdk/unstable";
import { describe, expect, test } from "vitest";
import { callFactsOf } from "../../../src/agents/acp/call-facts.ts";
import { PermissionAnswers } from "../../../src/agents/acp/permission-answers.ts";
import { mapUpdate } from "../../../src/agents/acp/update-mapping.ts";
import type {
  CallFacts,
  PermissionRequest,
  ToolCallUpdate,
} from "../../../src/core/model/runs/agent-update.ts";

interface Recorded {
  readonly agent: string;
  /** What the agent reported of the call before it asked. */
  readonly updates: readonly unknown[];
  readonly request: RequestPermissionRequest;
}

/** What six agents asked when a scripted model called a shell, an MCP server and a tool that writes a file. */
const RECORDED = readFileSync(join(import.meta.dirname, "../../fixtures/acp/permissions.jsonl"), "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line): Recorded => JSON.parse(line));

const COMMAND = "touch first.txt && rm -rf first.txt";
const AGENTS = ["claude", "codex", "copilot", "gemini", "opencode", "qwen"];

test("the recording has a command of each agent", () => {
  const agents = RECORDED.filter(({ request }) => request.toolCall.kind === "execute").map(
    ({ agent }) => agent,
  );

  expect([...new Set(agents)].toSorted()).toEqual(AGENTS);
});

describe.each(AGENTS)("%s", (agent) => {
  test("names the command itself, and its description only as its own words", async () => {
    const facts = await asked(agent, (text) => text.includes("rm -rf"));

    expect(facts.command).toBe(COMMAND);
    expect(facts.reason ?? "").not.toBe(COMMAND);
    expect(facts.input).toBeUndefined();
  });
});

test.each<[string, CallFacts]>([
  ["copilot", { reason: "as told" }],
  ["claude", { reason: "as told" }],
  ["codex", { paths: ["/workspace"] }],
  ["gemini", { reason: "[current working directory /workspace] (as told)" }],
  ["opencode", { paths: ["/workspace"] }],
  ["qwen", { reason: `${COMMAND} (as told)\nas told` }],
])("%s says this about the command: %j", async (agent, facts) => {
  const { command: _command, ...others } = await asked(agent, (text) => text.includes("rm -rf"));

  expect(others).toEqual(facts);
});

test.each(["claude", "copilot", "gemini", "opencode", "qwen"])(
  "%s names the file and the lines that it writes",
  async (agent) => {
    const { command, diff, input, paths } = await asked(agent, (text) => text.includes("made.txt"));

    expect(paths).toEqual(["/workspace/made.txt"]);
    expect(diff).toContain("+one\n+two");
    expect({ command, input }).toEqual({});
  },
);

test.each(["claude", "codex", "qwen"])("%s names the arguments for an MCP server", async (agent) => {
  const { command, input } = await asked(agent, (text) => text.includes("ping"));

  expect(command).toBeUndefined();
  expect(JSON.stringify(JSON.parse(input ?? "{}"))).toContain('{"word":"marco"}');
});

describe("a hostile or unusual call", () => {
  test.each<[string, Partial<ToolCallUpdate>, CallFacts]>([
    [
      "a description in place of the title",
      {
        title: "list files",
        toolKind: "execute",
        rawInput: { command: "rm -rf /", description: "list files" },
      },
      { command: "rm -rf /", reason: "list files" },
    ],
    [
      "a command as a list of words",
      { toolKind: "execute", rawInput: { command: ["bash", "-c", "echo a b; rm x"] } },
      { command: 'bash -c "echo a b; rm x"' },
    ],
    [
      "further arguments beside the command",
      { toolKind: "execute", rawInput: { command: "ls", background: true, env: { LD_PRELOAD: "x.so" } } },
      { command: "ls", input: '{\n  "background": true,\n  "env": {\n    "LD_PRELOAD": "x.so"\n  }\n}' },
    ],
    [
      "two commands, of which a tool may run the other",
      { toolKind: "execute", rawInput: { command: "ls", cmd: "rm -rf /" } },
      { command: "ls", input: '{\n  "cmd": "rm -rf /"\n}' },
    ],
    [
      "a tool that edits and has an argument named command",
      { title: "view", toolKind: "edit", rawInput: { command: "create", path: "a.txt", file_text: "x" } },
      { input: '{\n  "command": "create",\n  "path": "a.txt",\n  "file_text": "x"\n}', reason: "view" },
    ],
    [
      "a command that is no text",
      { title: "ls", toolKind: "execute", rawInput: { command: 7 } },
      {
        input: '{\n  "command": 7\n}',
        reason: "ls",
      },
    ],
    [
      "input that was too large",
      { title: "ls", toolKind: "execute", rawInput: { leftOut: "70000 characters" } },
      {
        input: '{\n  "leftOut": "70000 characters"\n}',
        reason: "ls",
        truncated: true,
      },
    ],
    ["a title alone", { title: "Go on", toolKind: "other" }, { reason: "Go on" }],
    ["nothing at all", {}, {}],
  ])("%s", (_name, call, facts) => {
    expect(callFactsOf({ kind: "agent.tool_call", toolCallId: "c", ...call })).toEqual(facts);
  });

  test("a change in the middle of a file shows that change and the lines around it", () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const newText = lines.with(10, "changed").join("\n");
    const content = [{ type: "diff", path: "a.txt", oldText: lines.join("\n"), newText } as const];

    expect(callFactsOf({ kind: "agent.tool_call", toolCallId: "c", toolKind: "edit", content }).diff).toBe(
      [
        ...["--- a.txt", "+++ a.txt", " line 7", " line 8", " line 9", "-line 10", "+changed"],
        ...[" line 11", " line 12", " line 13"],
      ].join("\n"),
    );
  });

  test("what an agent reported of many other calls does not pile up", async () => {
    const { answers, questions } = theAnswers();
    for (let index = 0; index < 100; index += 1) {
      const rawInput = { command: `echo ${index}` };
      answers.onToolCall({ kind: "agent.tool_call", toolCallId: `${index}`, toolKind: "execute", rawInput });
    }
    for (const toolCallId of ["0", "99"]) {
      await answers.answer({ sessionId: "s", toolCall: { toolCallId, title: "run" }, options: [] });
    }

    expect(questions.map(({ command }) => command)).toEqual([undefined, "echo 99"]);
  });
});

async function asked(agent: string, isWanted: (request: string) => boolean): Promise<CallFacts> {
  const found = RECORDED.find(
    (one) => one.agent === agent && isWanted(JSON.stringify([one.updates, one.request])),
  );
  const { answers, questions } = theAnswers();
  for (const update of found?.updates ?? []) {
    const mapped = mapUpdate(update);
    if (mapped?.kind === "agent.tool_call") {
      answers.onToolCall(mapped);
    }
  }
  if (found !== undefined) {
    await answers.answer(found.request);
  }
  const [{ options: _options, permissionId: _id, title: _title, toolCallId: _call, ...facts }] =
    questions as [PermissionRequest];
  return facts;
}

function theAnswers() {
  const questions: PermissionRequest[] = [];
  const answers = new PermissionAnswers("ask", {
    update: () => undefined,
    permission: async (request) => {
      questions.push(request);
      return undefined;
    },
  });
  return { answers, questions };
}
