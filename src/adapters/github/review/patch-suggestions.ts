/** New text for some lines of a file. */
export interface Suggestion {
  readonly path: string;
  readonly startLine: number;
  readonly line: number;
  readonly text: string;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@/;
/** What a suggestion cannot do: new, deleted and renamed files, modes, binary files, and the end of a file without a line break. */
const OTHER_CHANGES =
  /^(?:new file|deleted file|old mode|new mode|similarity|rename|copy|Binary files|GIT binary patch|\\ No newline)/;
const SUGGESTIONS_MAX = 50;

/** Lines of a hunk that are replaced together: `first` is the number of the first one in the former version. */
interface Group {
  first: number;
  removed: number;
  readonly added: string[];
  /** The unchanged lines around it. */
  before?: string | undefined;
  after?: string | undefined;
}

/**
 * A patch of git as suggestions for the lines of the commit that it changes. Undefined: a part of it is no change of lines that
 * exist, or there are too many parts.
 */
export function suggestionsOf(patch: string): readonly Suggestion[] | undefined {
  const suggestions: Suggestion[] = [];
  for (const file of patch.split(/^diff --git .*\n/m).slice(1)) {
    const path = /^\+\+\+ b\/([^\t\n]+)\t?$/m.exec(file)?.[1];
    const lines = file.split("\n");
    const start = lines.findIndex((line) => HUNK.test(line));
    const [header, hunks] = [lines.slice(0, start), lines.slice(start)];
    const isOther = [...header, ...hunks].some((line) => OTHER_CHANGES.test(line));
    if (path === undefined || start < 0 || isOther) {
      return undefined;
    }
    for (const group of groupsIn(hunks)) {
      const suggestion = suggestionFor(path, group);
      // An empty last line would be lost, or would mean that the lines are deleted.
      const isLossy = suggestion?.text.endsWith("\n") || (suggestion?.text === "" && group.added.length > 0);
      if (suggestion === undefined || isLossy || isOverlapping(suggestions.at(-1), suggestion)) {
        return undefined;
      }
      suggestions.push(suggestion);
    }
  }
  return suggestions.length === 0 || suggestions.length > SUGGESTIONS_MAX ? undefined : suggestions;
}

function groupsIn(hunks: readonly string[]): readonly Group[] {
  const groups: Group[] = [];
  let line = 0;
  let before: string | undefined;
  let open: Group | undefined;
  for (const text of hunks) {
    const start = HUNK.exec(text)?.[1];
    const content = text.slice(1);
    if (start !== undefined) {
      [line, before, open] = [Number(start), undefined, undefined];
    } else if (text.startsWith("+") || text.startsWith("-")) {
      if (open === undefined) {
        open = { first: line, removed: 0, added: [], before };
        groups.push(open);
      }
      if (text.startsWith("+")) {
        open.added.push(content);
      } else {
        open.removed += 1;
        line += 1;
      }
    } else if (text.startsWith(" ")) {
      if (open !== undefined) {
        open.after = content;
      }
      [open, before, line] = [undefined, content, line + 1];
    }
  }
  return groups;
}

/** A suggestion replaces at least one line, so new lines come with an unchanged one beside them. */
function suggestionFor(
  path: string,
  { added, after, before, first, removed }: Group,
): Suggestion | undefined {
  if (removed > 0) {
    return { path, startLine: first, line: first + removed - 1, text: added.join("\n") };
  }
  if (before !== undefined) {
    return { path, startLine: first - 1, line: first - 1, text: [before, ...added].join("\n") };
  }
  return after === undefined
    ? undefined
    : { path, startLine: first, line: first, text: [...added, after].join("\n") };
}

function isOverlapping(one: Suggestion | undefined, next: Suggestion): boolean {
  return one?.path === next.path && one.line >= next.startLine;
}
