import { type Turn, textContent } from "./turn.ts";
import { findText, OutsideError, writeText } from "./workspace-files.ts";

const MAX_SHOWN_CHARS = 4_000;

export async function writeStep(turn: Turn, file: string, text: string): Promise<void> {
  const { cwd } = turn.session;
  const tool = await turn.startTool(`Write ${file}`, "edit", { file, text });
  try {
    const oldText = (await findText(cwd, file)) ?? null;
    const newText = `${text}\n`;
    const path = await writeText(cwd, file, newText);
    await tool.end("completed", { type: "diff", path, oldText, newText });
    await turn.say(`I wrote ${file}.`);
  } catch (error) {
    const reason = outsideOr(error);
    await tool.end("failed", textContent(reason));
    await turn.say(reason);
  }
}

export async function readStep(turn: Turn, file: string): Promise<void> {
  const tool = await turn.startTool(`Read ${file}`, "read", { file });
  try {
    const text = await findText(turn.session.cwd, file);
    if (text !== undefined) {
      await tool.end("completed", textContent(text.slice(0, MAX_SHOWN_CHARS)));
      await turn.say(`${file} has ${text.length} characters: ${text.slice(0, MAX_SHOWN_CHARS)}`);
      return;
    }
    await tool.end("failed", textContent(`${file} does not exist.`));
    await turn.say(`${file} does not exist.`);
  } catch (error) {
    const reason = outsideOr(error);
    await tool.end("failed", textContent(reason));
    await turn.say(reason);
  }
}

function outsideOr(error: unknown): string {
  if (error instanceof OutsideError) {
    return error.message;
  }
  throw error;
}
