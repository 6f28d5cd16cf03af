/** Fills the template that a repository has for the descriptions of pull requests. */

interface Line {
  readonly text: string;
  /** Outside of HTML comments and code blocks. */
  readonly isPlain: boolean;
}

/** A heading, and the lines up to the next one. */
interface Section {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const HEADING = /^ {0,3}#{1,6}\s+([\s\S]+)$|^\*\*(.+?)\*\*:?\s*$/;
const COMMENTS = /<!--[\s\S]*?-->/g;
const FENCE = /^\s*(```|~~~)/;
/** Headings of the part that says what was done. */
const ABOUT_WORK =
  /^(?:the |a |short |brief |pr |pull request |proposed )*(?:summary|description|overview|changes?|what)\b/;
const NOT_ABOUT_WORK = /\b(?:types?|kind|test\w*|review\w*|breaking|remaining|next|left|not)\b/;
const ABOUT_ISSUE = /^(?:fixes|closes|resolves|references?|related)\b|\b(?:issues?|tickets?)\b/;
const NOT_ABOUT_ISSUE = /\b(?:known|types?|kind)\b/;
/** `Fixes #`, `Closes: #(issue)`: the number is missing. */
const OPEN_REFERENCE =
  /^(\s*(?:[-*]\s+)?)(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#\s*(?:[a-z_<>()[\]-]+\s*)?$/i;

/** Puts the text under the heading that asks what was done. Without such a heading it stands above the template. */
export function fillDescription(template: string, text: string): string {
  const lines = linesOf(template);
  const place = sectionsOf(lines).find(({ name }) => ABOUT_WORK.test(name) && !NOT_ABOUT_WORK.test(name));
  if (place !== undefined) {
    return filled(lines, place, text);
  }
  return template === "" ? text : `${text}\n\n${template}`;
}

/**
 * Puts the text in the place of a reference without a number, or under the heading for issues. Undefined: it has
 * neither.
 */
export function fillIssue(template: string, text: string): string | undefined {
  const lines = linesOf(template);
  const sections = sectionsOf(lines);
  const isAboutIssue = ({ name }: Section) => ABOUT_ISSUE.test(name) && !NOT_ABOUT_ISSUE.test(name);
  const open = lines.findIndex((line) => line.isPlain && OPEN_REFERENCE.test(line.text));
  if (open < 0) {
    const place = sections.find(isAboutIssue);
    return place && filled(lines, place, text);
  }
  const written = lines.map((line, at) =>
    at === open ? { ...line, text: line.text.replace(OPEN_REFERENCE, `$1${text}`) } : line,
  );
  const around = sections.find(({ end, start }) => start < open && open < end);
  return around !== undefined && isAboutIssue(around) ? filled(written, around, "") : joined(written);
}

/** Its comments are hints for the person who fills it in. */
function filled(lines: readonly Line[], { end, start }: Section, text: string): string {
  const rest = joined(lines.slice(start + 1, end))
    .replace(COMMENTS, "")
    .trim();
  const parts = [lines[start]?.text ?? "", text, rest].filter((part) => part !== "");
  const after = end === lines.length ? [] : ["", joined(lines.slice(end))];
  return [...lines.slice(0, start).map((line) => line.text), parts.join("\n\n"), ...after].join("\n");
}

function joined(lines: readonly Line[]): string {
  return lines.map(({ text }) => text).join("\n");
}

function linesOf(template: string): readonly Line[] {
  let fence: string | undefined;
  let isInComment = false;
  return template.split(/\r\n?|\n/).map((text) => {
    const isPlain = fence === undefined && !isInComment;
    if (fence !== undefined) {
      fence = text.trim().startsWith(fence) ? undefined : fence;
      return { text, isPlain };
    }
    if (!isInComment && FENCE.test(text)) {
      fence = FENCE.exec(text)?.[1];
      return { text, isPlain: false };
    }
    const [opened, closed] = [text.lastIndexOf("<!--"), text.lastIndexOf("-->")];
    isInComment = opened > closed || (isInComment && closed < 0);
    return { text, isPlain };
  });
}

function sectionsOf(lines: readonly Line[]): readonly Section[] {
  const headings = lines.flatMap(({ isPlain, text }, start) => {
    const [, title, bold] = (isPlain && HEADING.exec(text.replace(COMMENTS, "").trimEnd())) || [];
    return (title ?? bold) === undefined ? [] : [{ name: nameOf(title ?? bold ?? ""), start }];
  });
  return headings.map((heading, at) => ({ ...heading, end: headings[at + 1]?.start ?? lines.length }));
}

/** Without emoji and marks. */
function nameOf(heading: string): string {
  const words = heading.toLowerCase().replace(/:[a-z_]+:/g, " ");
  return words.replace(/[^\p{L}\p{N}]+/gu, " ").trim();
}
