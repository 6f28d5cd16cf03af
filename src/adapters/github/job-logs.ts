import { AppError } from "../../core/basics/errors.ts";
import { visibleText } from "./shown-text.ts";

/** Returns the end of the text at an address that GitHub signed. It goes to another host, so without the token. */
export type ReadTail = (url: string) => Promise<string>;

const LINES_MAX = 60;
const LENGTH_MAX = 6_000;
const TIMESTAMP = /^\uFEFF?\d{4}-\d\d-\d\dT[\d:.]+Z /;
/** The runner writes it where a step fails. Its own clean-up follows. */
const ERROR = "##[error]";
const HIDDEN_MARKS = /^##\[(?:group|endgroup|command|section)\]/;

/** The end of a job's log up to its last error, as the page shows it. */
function endOfLog(tail: string): string {
  const lines = tail.split(/\r?\n/).map((line) => visibleText(line.replace(TIMESTAMP, "")).trimEnd());
  const lastError = lines.findLastIndex((line) => line.startsWith(ERROR));
  const shown = (lastError < 0 ? lines : lines.slice(0, lastError + 1)).filter((line) => line !== "");
  const last = shown.slice(-LINES_MAX).map((line) => line.replace(HIDDEN_MARKS, ""));
  const text = last.join("\n");
  return text.length <= LENGTH_MAX ? text : `[cut]${text.slice(-LENGTH_MAX).toWellFormed()}`;
}

export async function readJobLog(readTail: ReadTail, address: string): Promise<string> {
  try {
    return endOfLog(await readTail(address));
  } catch (cause) {
    // The address is signed, so it is not named.
    throw new AppError("resource_unavailable", "The storage of GitHub's logs gave no log.", { cause });
  }
}
