import type { Readable } from "node:stream";
import { withTimeout } from "../../core/basics/clock.ts";
import type { SandboxExit, SandboxProcess } from "../../sandboxes/sandbox.ts";
import {
  ANSWER_BYTES_MAX,
  answerIn,
  type HandshakeAnswer,
  INITIALIZE,
  shortReason,
} from "./mcp-handshake.ts";

/** Enough for an error message. */
const STDERR_TAIL_CHARS = 4_000;
/** After the process has ended, its last output may still be in the pipe. */
const DRAIN_MS = 500;

/** Starts a program that speaks MCP on its standard streams, initializes it, and ends it. Never rejects. */
export async function initializeLocal(
  spawn: () => SandboxProcess,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (signal.aborted) {
    return "it was stopped.";
  }
  const program = spawn();
  const stderr = stderrOf(program);
  const stopped = new Promise<HandshakeAnswer>((resolve) => {
    signal.addEventListener("abort", () => resolve({ problem: "it was stopped." }), { once: true });
  });
  const answered = answerOf(program.stdout);
  program.stdin.on("error", () => undefined).write(`${INITIALIZE}\n`);
  const ended = program.exited.then(async (exit): Promise<HandshakeAnswer> => {
    const last = await withTimeout(Promise.all([answered, stderr.closed]), DRAIN_MS);
    return { problem: last?.[0]?.problem ?? reasonOf(exit, stderr.lastLine()) };
  });
  // The end of its output alone does not say why it ended.
  const spoken = answered.then((answer) => answer ?? ended);
  const { problem } = await Promise.race([spoken, ended, stopped]);
  try {
    await program.kill();
    return problem;
  } catch (error) {
    return `it could not be ended: ${error instanceof Error ? error.message : error}`;
  }
}

/** Undefined when the output ends without an answer. */
async function answerOf(stdout: Readable): Promise<HandshakeAnswer | undefined> {
  let held = "";
  let bytes = 0;
  try {
    for await (const chunk of stdout.setEncoding("utf8")) {
      bytes += String(chunk).length;
      const lines = (held + chunk).split("\n");
      held = lines.pop() ?? "";
      for (const line of lines) {
        const answer = answerIn(line);
        if (answer !== undefined) {
          return answer;
        }
      }
      if (bytes > ANSWER_BYTES_MAX) {
        return { problem: "it writes something else than the Model Context Protocol to its output." };
      }
    }
  } catch {
    // A broken pipe: the exit of the process tells why.
  }
  return undefined;
}

interface StderrTail {
  readonly closed: Promise<void>;
  /** Only a whole line, because a part of a secret could not be recognized and removed. */
  lastLine(): string;
}

function stderrOf({ stderr }: SandboxProcess): StderrTail {
  let tail = "";
  let isCut = false;
  stderr.setEncoding("utf8");
  stderr.on("data", (text: string) => {
    tail += text;
    isCut ||= tail.length > STDERR_TAIL_CHARS;
    tail = tail.slice(-STDERR_TAIL_CHARS);
  });
  stderr.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => {
    stderr.once("close", resolve);
  });
  return {
    closed,
    lastLine: () => {
      const whole = isCut ? tail.slice(tail.indexOf("\n") + 1) : tail;
      return whole.trim().split("\n").at(-1) ?? "";
    },
  };
}

function reasonOf({ code, reason, signal }: SandboxExit, lastLine: string): string {
  if (reason !== undefined) {
    return reason;
  }
  const said = lastLine === "" ? "" : ` Its last line: ${shortReason(lastLine)}`;
  const end = signal === null ? `with exit code ${code ?? "unknown"}` : `by ${signal}`;
  return `its process ended ${end} before it was initialized.${said}`;
}
