import { join } from "node:path";
import type { PlanEntryStatus } from "@agentclientprotocol/sdk/unstable";
import { type Turn, textContent } from "./turn.ts";
import { findText, listFiles, OutsideError, writeText } from "./workspace-files.ts";

const REPORT = "ERRAND-REPORT.md";
const MAX_QUOTED_CHARS = 2_000;
const PLAN = [
  "Look at the files of the workspace",
  `Write down what is there in ${REPORT}`,
  "Answer",
] as const;

/** What the demo agent does for any request without script words: it inspects the workspace and reports. */
export async function doOrdinaryRequest(turn: Turn, text: string): Promise<void> {
  await reportProgress(turn, 0);
  const files = await lookAround(turn);
  await reportProgress(turn, 1);
  if (turn.isPlanning) {
    await turn.say(
      `${seen(files)} My plan: I would write down what is there in ${REPORT}. I changed nothing.`,
    );
    return;
  }
  const reported = await writeReport(turn, text, files);
  await reportProgress(turn, 2);
  await turn.say(`${seen(files)} ${reported}${remembered(turn)}`);
  await reportProgress(turn, 3);
}

/** Plan entries before `done` are completed, that one is in progress, the rest pending. */
async function reportProgress(turn: Turn, done: number): Promise<void> {
  turn.signal.throwIfAborted();
  await turn.plan(PLAN.map((content, index) => [content, statusAt(index - done)]));
}

function statusAt(distance: number): PlanEntryStatus {
  if (distance === 0) {
    return "in_progress";
  }
  return distance < 0 ? "completed" : "pending";
}

async function lookAround(turn: Turn): Promise<readonly string[]> {
  const { cwd } = turn.session;
  const tool = await turn.startTool("Look at the files", "read", { directory: cwd }, cwd);
  const files = await listFiles(cwd);
  await tool.end("completed", textContent(files.length === 0 ? "(no files)" : files.join("\n")));
  return files;
}

async function writeReport(turn: Turn, text: string, files: readonly string[]): Promise<string> {
  const { cwd } = turn.session;
  const path = join(cwd, REPORT);
  const tool = await turn.startTool(`Write ${REPORT}`, "edit", { path }, path);
  try {
    const oldText = (await findText(cwd, REPORT)) ?? null;
    const newText = `${oldText ?? "# Errand report\n"}\n${reportSection(turn, text, files)}`;
    await writeText(cwd, REPORT, newText);
    await tool.end("completed", { type: "diff", path, oldText, newText });
    return `My report is in ${REPORT}.`;
  } catch (error) {
    if (!(error instanceof OutsideError)) {
      throw error;
    }
    await tool.end("failed", textContent(`${REPORT} is a link that leads out of the workspace.`));
    return `I did not write ${REPORT}: it is a link that leads out of the workspace.`;
  }
}

function reportSection(turn: Turn, text: string, files: readonly string[]): string {
  const quoted = cut(text)
    .split("\n")
    .map((line) => `> ${line}`);
  const listed = files.length === 0 ? ["(no files)"] : files.map((file) => `- ${file}`);
  const basePrompt =
    turn.session.basePrompt === undefined ? [] : ["", `Instructions: ${cut(turn.session.basePrompt)}`];
  return [
    `## Turn ${turn.number}`,
    "",
    "Asked:",
    "",
    ...quoted,
    ...basePrompt,
    "",
    "Seen:",
    "",
    ...listed,
    "",
  ].join("\n");
}

function cut(text: string): string {
  return text.length <= MAX_QUOTED_CHARS ? text : `${text.slice(0, MAX_QUOTED_CHARS)}…`;
}

function seen(files: readonly string[]): string {
  return files.length === 1 ? "I saw 1 file." : `I saw ${files.length} files.`;
}

function remembered(turn: Turn): string {
  const before = turn.session.turns.at(-1)?.prompt;
  return before === undefined
    ? ""
    : ` This is turn ${turn.number}; before it you asked: ${firstLine(before)}`;
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0]?.slice(0, 100) ?? "";
}
