import type { Entry } from "./conversation/entries.ts";
import { viewOf } from "./conversation/tool-call.ts";
import { hunksOf, rangeOf } from "./text/diff.ts";

export interface Names {
  readonly agent: string;
  readonly creator: string;
  readonly prompt: string;
  readonly servers: readonly string[];
  readonly author: (followUpId: string) => string;
}

/** The entries as a document in Markdown. What the system did is left out. */
export function markdownOf(entries: readonly Entry[], names: Names): string {
  return `${entries
    .map((entry) => entryText(entry, names))
    .filter((text) => text !== "")
    .join("\n\n")}\n`;
}

function entryText(entry: Entry, names: Names): string {
  switch (entry.kind) {
    case "prompt":
      return `**${names.creator}**\n\n${names.prompt}`;
    case "message":
      return entry.text.trim() === "" ? "" : `**${names.agent}**\n\n${entry.text.trim()}`;
    case "thought":
      return quoted(entry.text.trim());
    case "followup":
      return entry.text === undefined ? "" : `**${names.author(entry.followUpId)}**\n\n${entry.text}`;
    case "plan":
      return entry.tasks
        .map(({ content, status }) => `- [${status === "completed" ? "x" : " "}] ${content}`)
        .join("\n");
    case "tool":
      return callText(entry, names);
    case "question":
      return [`**Question:** ${entry.title ?? ""}`, answerText(entry)].filter(Boolean).join("\n\n");
    case "approval":
      return `**Approval:** ${entry.reason ?? ""}`;
    case "problem":
      return `**${entry.state ?? "Problem"}:** ${entry.text}`;
    case "artifact":
      return `**Result:** ${"url" in entry.artifact ? entry.artifact.url : entry.artifactId}`;
    case "other":
      return `**${entry.name}**\n\n${fenced(JSON.stringify(entry.data, null, 2) ?? "", "json")}`;
    case "step":
    case "line":
    case "granted":
      return "";
    default:
      return entry satisfies never;
  }
}

function callText(entry: Entry & { readonly kind: "tool" }, names: Names): string {
  const { changes, output, subject, verb } = viewOf(entry, names.servers);
  const diffs = changes.map(({ newText, oldText, path }) => {
    const lines = hunksOf(oldText, newText).flatMap((hunk) => [
      rangeOf(hunk),
      ...hunk.lines.map(({ sign, text }) => sign + text),
    ]);
    return fenced(
      [`--- ${oldText === null ? "/dev/null" : path}`, `+++ ${path}`, ...lines].join("\n"),
      "diff",
    );
  });
  return [
    `**${verb}** \`${subject.replaceAll("`", "'")}\``,
    ...diffs,
    output.trim() === "" ? "" : fenced(output.trimEnd(), ""),
  ]
    .filter(Boolean)
    .join("\n\n");
}

function answerText({ answer, options }: Entry & { readonly kind: "question" }): string {
  if (answer === undefined) {
    return "";
  }
  return `Answer: ${options?.find(({ option_id: id }) => id === answer)?.name ?? answer ?? "no"}`;
}

function quoted(text: string): string {
  return text === "" ? "" : text.replaceAll(/^/gm, "> ");
}

/** The fence is longer than any in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`{3,}/g), ([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
