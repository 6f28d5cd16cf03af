import { parseJson } from "../../basics/parse-json.ts";

/** What an agent says about its work on the messages of one thread. */
export interface ThreadReport {
  /** As `AdapterTraits.placeOf` names it. */
  readonly thread: string;
  readonly reply: string;
  /** What was asked for there was done. A question that was answered is not. */
  readonly isDone: boolean;
}

const BLOCK = /^```errand-threads[ \t]*\r?\n([\s\S]*?)^```[ \t]*$/gm;

/** For the agent, if the messages of a turn stand in several threads. Without an empty line, so that it is one paragraph. */
export const THREADS_INSTRUCTIONS = `(The messages of this turn stand in several threads, whose numbers are above them. End your answer with one code block that says for each thread what you did there. People read the reply in their thread, and the rest of your answer in the conversation. "done" is true only if you have made the change that was asked for there, and false for a question:
\`\`\`errand-threads
[{"thread": 123, "reply": "One or two sentences, in Markdown", "done": true}]
\`\`\`
)`;

export function threadLabel(thread: string): string {
  return `(In thread ${thread}:)`;
}

/** Takes the list out of an answer. An answer without a readable list is left as it is. */
export function readThreadReports(answer: string): {
  readonly answer: string;
  readonly reports: readonly ThreadReport[];
} {
  const block = [...answer.matchAll(BLOCK)].at(-1);
  const listed = parseJson(block?.[1] ?? "");
  if (block === undefined || !Array.isArray(listed)) {
    return { answer, reports: [] };
  }
  const rest = answer.slice(0, block.index) + answer.slice(block.index + block[0].length);
  return { answer: rest.trim(), reports: listed.flatMap((each) => reportOf(each) ?? []) };
}

function reportOf(listed: unknown): ThreadReport | undefined {
  if (typeof listed !== "object" || listed === null || !("thread" in listed)) {
    return undefined;
  }
  const { thread } = listed;
  const reply = "reply" in listed && typeof listed.reply === "string" ? listed.reply.trim() : "";
  return typeof thread === "number" || typeof thread === "string"
    ? { thread: String(thread), reply, isDone: "done" in listed && listed.done === true }
    : undefined;
}
