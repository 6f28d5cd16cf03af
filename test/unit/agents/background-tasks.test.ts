import { expect, test } from "vitest";
import { BackgroundTasks } from "../../../src/agents/acp/background-tasks.ts";
import type { ToolCallUpdate } from "../../../src/core/model/runs/agent-update.ts";
import type { ListedProcess } from "../../../src/sandboxes/sandbox.ts";

const AGENT: ListedProcess = { pid: 2, startTime: "1", argv: ["agent"] };
const OWN_HELPER: ListedProcess = { pid: 3, startTime: "1", parent: 2, argv: ["sh", "-c", "index forever"] };

interface Turn {
  readonly commands?: readonly string[];
  readonly limitMs?: number;
}

/** Plays a turn that ends with these processes. Killed ones are gone, except the stubborn. */
async function afterTurn(started: readonly ListedProcess[], { commands = [], limitMs = 0 }: Turn = {}) {
  let running = [AGENT, OWN_HELPER];
  const killed: number[] = [];
  const tasks = new BackgroundTasks({
    process: {
      list: async () => running,
      end: async (ended) => {
        killed.push(...ended.map(({ pid }) => pid));
        running = running.filter(({ pid }) => !killed.includes(pid));
      },
    },
    mcpServers: [{ command: "sh", args: ["-c", "serve mcp"], env: {} }],
    limitMs,
    updatedAt: () => 0,
  });
  await tasks.begin();
  commands.forEach((command, index) => {
    const toolCallId = `call ${index}`;
    const begun: ToolCallUpdate = { kind: "agent.tool_call", toolCallId, toolKind: "execute", rawInput: {} };
    tasks.onToolCall(begun);
    tasks.onToolCall({ kind: "agent.tool_call", toolCallId, rawInput: { command } });
  });
  running = [...running, ...started];
  return { stopped: await tasks.finish(() => false), killed };
}

function started(pid: number, parent: number | undefined, ...argv: string[]): ListedProcess {
  return { pid, startTime: "9", parent, argv };
}

test.each<[string, ListedProcess[], string[], string[]]>([
  ["a command whose shell has ended", [started(9, undefined, "sleep", "8")], [], ["sleep 8"]],
  ["a child of such a command", [started(9, undefined, "make"), started(10, 9, "cc", "x")], [], ["cc x"]],
  [
    "a command in a shell that the agent started",
    [started(9, 2, "/bin/bash", "-lc", "sleep 8; echo"), started(10, 9, "sleep", "8")],
    [],
    ["sleep 8"],
  ],
  [
    "a shell that is busy itself",
    [started(9, 2, "bash", "-c", "while :; do :; done")],
    [],
    ["bash -c while :; do :; done"],
  ],
  ["a script of a shell", [started(9, 2, "sh", "./serve.sh")], [], ["sh ./serve.sh"]],
  [
    "a command in a shell that the agent keeps",
    [started(9, 2, "-bash", "--norc"), started(10, 9, "sleep", "8")],
    [],
    ["sleep 8"],
  ],
  [
    "a command that has replaced its shell",
    [started(9, 2, "python", "-c", "import time; time.sleep(8)")],
    ["cd /w && python -c 'import time; time.sleep(8)'"],
    ["python -c import time; time.sleep(8)"],
  ],
  [
    "a command below a program of the agent that limits it",
    [started(9, 2, "limiter", "--", "bash"), started(10, 9, "sleep", "8")],
    ["sleep 8"],
    ["sleep 8"],
  ],
  [
    "a language server",
    [started(9, 2, "gopls", "serve"), started(10, 9, "go", "list")],
    ["gopls version"],
    [],
  ],
  [
    "a server that npx starts with a shell",
    [started(9, 2, "npm exec x"), started(10, 9, "sh", "-c", "x")],
    [],
    [],
  ],
  ["an MCP server", [started(9, 2, "/bin/sh", "-c", "serve mcp"), started(10, 9, "server")], [], []],
  ["a shell that waits for the next command", [started(9, 2, "bash", "--noprofile", "-i")], [], []],
  [
    "a daemon of a build tool",
    [
      started(9, undefined, "java", "-Xmx1g", "org.GradleDaemon"),
      started(10, undefined, "/usr/bin/watchman", "x"),
    ],
    [],
    [],
  ],
  ["a program whose name alone is in a command", [started(9, 2, "node")], ["node build.js"], []],
  ["a circle of parents", [started(9, 10, "a"), started(10, 9, "b")], [], []],
])("at the end of a turn, %s", async (_what, processes, commands, lines) => {
  const { killed, stopped } = await afterTurn(processes, { commands });

  expect(stopped).toEqual(lines);
  expect(killed.length > 0).toBe(lines.length > 0);
  expect(killed).not.toContain(AGENT.pid);
  expect(killed).not.toContain(OWN_HELPER.pid);
});

test("a process with the number of an earlier one is another process", async () => {
  const { stopped } = await afterTurn([{ pid: 3, startTime: "9", argv: ["sleep", "8"] }]);

  expect(stopped).toEqual(["sleep 8"]);
});

test("processes that cannot be listed are no tasks", async () => {
  const list = () => Promise.reject(new Error("gone"));
  const process = { list, end: list };
  const tasks = new BackgroundTasks({ process, mcpServers: [], limitMs: 1_000, updatedAt: () => 0 });
  await tasks.begin();

  expect(await tasks.finish(() => false)).toEqual([]);
});
