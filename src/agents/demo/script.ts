/** One step that a prompt asks for. README.md in this folder documents the words. */
export type Step =
  | { readonly kind: "request"; readonly text: string }
  | { readonly kind: "sleep"; readonly seconds: number }
  | { readonly kind: "flood"; readonly chunks: number }
  | { readonly kind: "fail"; readonly code: number }
  | { readonly kind: "write"; readonly file: string; readonly text: string }
  | { readonly kind: "read"; readonly file: string }
  | { readonly kind: "shell"; readonly command: string }
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "picture" }
  | { readonly kind: "refuse" | "ask" | "crash" | "die" | "hang" };

const INTERNAL_ERROR = -32_603;
const SEPARATOR = /;|\s+then\s+/i;

/** A name with a dot or a slash, so that "write a test" and "read the code" stay ordinary requests. */
const FILE = String.raw`\S*[./]\S*`;

const WORDS: readonly (readonly [RegExp, (match: RegExpExecArray) => Step])[] = [
  [/^sleep\s+(\d+(?:\.\d+)?)$/i, ([, seconds]) => ({ kind: "sleep", seconds: Number(seconds) })],
  [/^flood\s+(\d+)$/i, ([, chunks]) => ({ kind: "flood", chunks: Number(chunks) })],
  [/^fail(?:\s+(-?\d+))?$/i, ([, code]) => ({ kind: "fail", code: Number(code ?? INTERNAL_ERROR) })],
  [/^refuse$/i, () => ({ kind: "refuse" })],
  [/^ask$/i, () => ({ kind: "ask" })],
  [/^picture$/i, () => ({ kind: "picture" })],
  [/^crash$/i, () => ({ kind: "crash" })],
  [/^die$/i, () => ({ kind: "die" })],
  [/^hang$/i, () => ({ kind: "hang" })],
  [/^say\s+(.+)$/i, ([, text = ""]) => ({ kind: "say", text })],
  [
    new RegExp(String.raw`^write\s+(${FILE})(?:\s+(.*))?$`, "i"),
    ([, file = "", text = ""]) => ({ kind: "write", file, text }),
  ],
  [new RegExp(String.raw`^read\s+(${FILE})$`, "i"), ([, file = ""]) => ({ kind: "read", file })],
];

/** Paragraphs in parentheses at the start: notes of the server about the turn, for example after a lost worker. */
const NOTES = /^(?:\((?:(?!\n\n)[\s\S])*\)\n\n)+(?=[\s\S]*\S)/;

/** A paragraph that says in which thread the next message stands. */
const THREAD = /^\(In thread \S+:\)\n\n/gm;

/** The list of files that came with a message. */
const FILES = /(?:^|\n\n)Files that came with this, as paths from the working directory:(?:\n- .*)+/;

/** The prompt without the notes of the server. A message may have files and no words. */
export function requestIn(prompt: string): string {
  const request = prompt.replace(NOTES, "").replace(THREAD, "");
  const words = request.replace(FILES, "");
  return words.trim() === "" ? request : words;
}

/** The steps of a prompt. A prompt without a script word is one ordinary request. */
export function parseScript(prompt: string): readonly Step[] {
  const steps = joinRequests(prompt.split(/\r?\n/).flatMap(parseLine));
  return steps.some(({ kind }) => kind !== "request") ? steps : [{ kind: "request", text: prompt.trim() }];
}

function parseLine(line: string): readonly Step[] {
  const trimmed = line.trim();
  if (trimmed === "") {
    return [];
  }
  // A command takes its whole line, because `;` has its own meaning there.
  const command = /^shell\s+(.+)$/i.exec(trimmed)?.[1];
  if (command !== undefined) {
    return [{ kind: "shell", command }];
  }
  const separator = SEPARATOR.exec(trimmed);
  if (separator === null) {
    return [parseSegment(trimmed)];
  }
  const rest = trimmed.slice(separator.index + separator[0].length);
  return [...parseLine(trimmed.slice(0, separator.index)), ...parseLine(rest)];
}

function parseSegment(segment: string): Step {
  for (const [pattern, toStep] of WORDS) {
    const match = pattern.exec(segment);
    if (match !== null) {
      return toStep(match);
    }
  }
  return { kind: "request", text: segment };
}

function joinRequests(steps: readonly Step[]): readonly Step[] {
  const joined: Step[] = [];
  for (const step of steps) {
    const last = joined.at(-1);
    if (step.kind === "request" && last?.kind === "request") {
      joined[joined.length - 1] = { kind: "request", text: `${last.text}\n${step.text}` };
    } else {
      joined.push(step);
    }
  }
  return joined;
}
