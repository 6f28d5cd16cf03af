import { listText } from "../../basics/list-text.ts";

const NAMED_MAX = 5;
const SHOWN_CHARS = 80;

/** Says what was stopped at the end of a turn. The command lines are clean: secrets have been removed from them. */
export function stoppedTasksText(commandLines: readonly string[] = []): readonly string[] {
  if (commandLines.length === 0) {
    return [];
  }
  const named = listText(commandLines.slice(0, NAMED_MAX).map(shown), commandLines.length);
  const [subject, object] =
    commandLines.length === 1
      ? ["A background task was still running and was stopped", "it"]
      : ["Background tasks were still running and were stopped", "them"];
  return [`${subject}: ${named}. Ask the agent to wait for ${object} before it ends its turn.`];
}

function shown(commandLine: string): string {
  const line = commandLine.replaceAll("`", "'").replaceAll(/\s+/g, " ").trim();
  const short = line.length <= SHOWN_CHARS ? line : `${line.slice(0, SHOWN_CHARS - 1).toWellFormed()}…`;
  return `\`${short}\``;
}
