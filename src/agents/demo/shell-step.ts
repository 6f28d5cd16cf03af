import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { type ToolCall, type Turn, textContent } from "./turn.ts";

const MAX_OUTPUT_CHARS = 16_384;
const PROGRESS_EVERY_MS = 200;
/** A background command keeps the output open. By then the output of the shell itself has been read. */
const DRAIN_MS = 100;

const NO_SHELL =
  "I run no commands here, because this worker has no sandbox: a command could read the server's keys. Install " +
  "bubblewrap or Docker where the worker runs, and restart the worker.";

/** Runs a command in the workspace and reports its output while it runs. A cancelled turn kills the command. */
export async function runShell(turn: Turn, command: string): Promise<void> {
  const tool = await turn.startTool(command, "execute", { command });
  if (!mayStartPrograms()) {
    await tool.end("failed", textContent(NO_SHELL));
    await turn.say(NO_SHELL);
    return;
  }
  const child = spawn("/bin/sh", ["-c", command], {
    cwd: turn.session.cwd,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = collectOutput(child);
  const progress = setInterval(() => void reportProgress(tool, output), PROGRESS_EVERY_MS);
  const stop = () => killGroup(child);
  turn.signal.addEventListener("abort", stop, { once: true });
  try {
    const ended = await waitForEnd(child);
    await tool.end(
      ended === "exit code 0" ? "completed" : "failed",
      textContent(output.text || "(no output)"),
    );
    turn.signal.throwIfAborted();
    await turn.say(`The command ended with ${ended}.`);
  } finally {
    clearInterval(progress);
    turn.signal.removeEventListener("abort", stop);
  }
}

/** Without a sandbox, the worker starts this agent under Node's permission model, which forbids child processes. */
function mayStartPrograms(): boolean {
  return process.permission?.has("child") ?? true;
}

interface Output {
  text: string;
  printed: string;
}

function collectOutput(child: ChildProcess): Output {
  const output = { text: "", printed: "" };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output.text = (output.text + text).slice(-MAX_OUTPUT_CHARS);
    });
  }
  return output;
}

async function reportProgress(tool: ToolCall, output: Output): Promise<void> {
  if (output.text !== output.printed) {
    output.printed = output.text;
    await tool.progress(textContent(output.text));
  }
}

async function waitForEnd(child: ChildProcess): Promise<string> {
  const closed = once(child, "close");
  const [code, signal] = await once(child, "exit");
  await Promise.race([closed, setTimeout(DRAIN_MS)]);
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}

/** The command has its own process group. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) {
    return;
  }
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // The command has just ended.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) {
      throw error;
    }
  }
}
