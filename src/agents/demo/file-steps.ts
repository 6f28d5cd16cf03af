import { type Turn, textContent } from "./turn.ts";
import { findText, pathInside, writeText } from "./workspace-files.ts";

const OUTSIDE = "is outside the workspace, so I left it alone.";
const MAX_SHOWN_CHARS = 4_000;

export async function writeStep(turn: Turn, file: string, text: string): Promise<void> {
  const tool = await turn.startTool(`Write ${file}`, "edit", { file, text });
  const path = await pathInside(turn.session.cwd, file);
  if (path === undefined) {
    await tool.end("failed", textContent(`${file} ${OUTSIDE}`));
    await turn.say(`${file} ${OUTSIDE}`);
    return;
  }
  const oldText = (await findText(path)) ?? null;
  const newText = `${text}\n`;
  await writeText(path, newText);
  await tool.end("completed", { type: "diff", path, oldText, newText });
  await turn.say(`I wrote ${file}.`);
}

export async function readStep(turn: Turn, file: string): Promise<void> {
  const tool = await turn.startTool(`Read ${file}`, "read", { file });
  const path = await pathInside(turn.session.cwd, file);
  const text = path === undefined ? undefined : await findText(path);
  if (text === undefined) {
    const reason = path === undefined ? OUTSIDE : "does not exist.";
    await tool.end("failed", textContent(`${file} ${reason}`));
    await turn.say(`${file} ${reason}`);
    return;
  }
  await tool.end("completed", textContent(text.slice(0, MAX_SHOWN_CHARS)));
  await turn.say(`${file} has ${text.length} characters: ${text.slice(0, MAX_SHOWN_CHARS)}`);
}
