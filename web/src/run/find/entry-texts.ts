import type { Entry, ToolEntry } from "../conversation/entries.ts";
import { viewOf } from "../conversation/tool-call.ts";
import { segmentsOf } from "../text/ansi.ts";
import { hunksOf } from "../text/diff.ts";

/** What an entry does not say by itself. */
export interface Surroundings {
  readonly prompt: string;
  /** The names of the MCP servers of the run. */
  readonly servers: readonly string[];
}

/** The texts of an entry as the page shows them, also those that are folded. */
export function textsOf(entry: Entry, { prompt, servers }: Surroundings): readonly string[] {
  switch (entry.kind) {
    case "prompt":
      return [prompt, ...entry.files.map(({ path }) => path)];
    case "message":
    case "thought":
    case "problem":
    case "line":
      return [entry.text];
    case "plan":
      return entry.tasks.map(({ content }) => content);
    case "tool":
      return callTexts(entry, servers);
    case "question":
      return [entry.title, entry.facts?.command, entry.facts?.reason].filter((text) => text !== undefined);
    case "approval":
      return [entry.reason, entry.decision?.comment].filter((text) => text !== undefined);
    case "followup":
      return entry.text === undefined ? [] : [entry.text];
    case "step":
      return [entry.title, printed(entry.output)];
    case "granted":
      return [entry.title];
    case "artifact":
      return Object.values(entry.artifact).filter((value) => typeof value === "string");
    case "other":
      return [entry.name, JSON.stringify(entry.data) ?? ""];
    default:
      return entry satisfies never;
  }
}

function callTexts(call: ToolEntry, servers: readonly string[]): readonly string[] {
  const { changes, input = "", output, subject, verb } = viewOf(call, servers);
  const diffs = changes.flatMap(({ newText, oldText, path }) => [
    path,
    ...hunksOf(oldText, newText).map(({ lines }) => lines.map(({ text }) => text).join("\n")),
  ]);
  return [`${verb} ${subject}`, input, ...diffs, printed(output)];
}

/** Terminal output without its colours. */
function printed(output: string): string {
  return output.includes("\u001b")
    ? segmentsOf(output)
        .map(({ text }) => text)
        .join("")
    : output;
}
