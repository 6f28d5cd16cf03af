import { defined } from "../../core/basics/defined.ts";
import type { NewCommit, NewFile } from "../../core/ports/change-tracker.ts";

export const COMMITS_MAX = 20;
const FILES_MAX = 300;
/** Each takes a call of its own. */
const BINARY_FILES_MAX = 20;
export const BYTES_MAX = 10 * 2 ** 20;

export interface NewCommits {
  readonly head: string;
  /** The head of the branch to push to. Undefined: there is no such branch. */
  readonly remote?: string;
  readonly commits: readonly NewCommit[];
}

const HEAD = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}|-) (\d{1,9})$/;
const COMMIT =
  /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) ([0-9a-f]{40,64}|-) (\d{1,9}) (\d{1,9}) ((?:[0-9a-f]{40,64} )*)$/;
const CHANGE = /^:([0-7]{6}) ([0-7]{6}) ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [A-Z]$/;
const BLOB = /^([0-9a-f]{40,64}) blob (\d{1,9})$/;
const NO_FILE = "000000";
const SUBMODULE = "160000";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads the output of `PRINT_NEW_COMMITS`. A string says why the host cannot make the commits. */
export function readNewCommits(output: Buffer): NewCommits | string {
  const reader = new Reader(output);
  const [, head = "", remote = "", count] = HEAD.exec(reader.line()) ?? [];
  if (head === "" || Number(count) > COMMITS_MAX) {
    return head === "" ? UNREADABLE : `there are more than ${COMMITS_MAX} of them`;
  }
  try {
    const listed = Array.from({ length: Number(count) }, () => readCommit(reader));
    const contents = readContents(reader);
    const commits = listed.map((each) => ({
      ...each,
      files: each.files.map((file) => withContent(file, contents)),
    }));
    return (
      problemIn(commits) ?? { head, commits, ...defined({ remote: remote === "-" ? undefined : remote }) }
    );
  } catch (error) {
    if (error instanceof TypeError) {
      return "a message or the name of a file in them is not UTF-8";
    }
    throw error;
  }
}

const UNREADABLE = "their list could not be understood";

function problemIn(commits: readonly NewCommit[]): string | undefined {
  const files = commits.flatMap((each) => each.files);
  if (files.length > FILES_MAX) {
    return `they change more than ${FILES_MAX} files`;
  }
  const binary = files.filter(({ content }) => content instanceof Uint8Array);
  return binary.length > BINARY_FILES_MAX
    ? `they change more than ${BINARY_FILES_MAX} files that are not text`
    : undefined;
}

/** The host has the contents of the files before the commit. */
interface ListedFile extends Omit<NewFile, "content"> {
  readonly isKnown: boolean;
}

function readCommit(reader: Reader): Omit<NewCommit, "files"> & { readonly files: readonly ListedFile[] } {
  const match = COMMIT.exec(reader.line());
  const [, id = "", tree = "", from = "", messageLength, diffLength, parents = ""] = match ?? [];
  const message = utf8.decode(reader.bytes(Number(messageLength)));
  const fields = utf8.decode(reader.bytes(Number(diffLength))).split("\0");
  return {
    id,
    tree,
    message,
    parents: parents.split(" ").filter((parent) => parent !== ""),
    ...defined({ baseTree: from === "-" ? undefined : from }),
    files: readFiles(fields),
  };
}

function readFiles(fields: readonly string[]): readonly ListedFile[] {
  const changes = fields.flatMap((field, at) => {
    const [, oldMode = "", mode = "", oldId = "", id = ""] = (at % 2 === 0 && CHANGE.exec(field)) || [];
    return mode === "" ? [] : [{ oldMode, mode, oldId, id, path: fields[at + 1] ?? "" }];
  });
  const known = new Set(changes.map(({ oldId }) => oldId));
  return changes.map(({ id, mode, oldMode, path }) =>
    mode === NO_FILE
      ? { path, mode: oldMode, isKnown: true }
      : { path, mode, id, isKnown: mode === SUBMODULE || known.has(id) },
  );
}

function withContent({ isKnown, ...file }: ListedFile, contents: ReadonlyMap<string, Buffer>): NewFile {
  const content = isKnown ? undefined : contents.get(file.id ?? "");
  return { ...file, ...defined({ content: content && textOrBytes(content) }) };
}

function textOrBytes(content: Buffer): string | Uint8Array {
  try {
    return content.includes(0) ? content : utf8.decode(content);
  } catch {
    return content;
  }
}

/** By their ids, as `git cat-file --batch` prints them. */
function readContents(reader: Reader): ReadonlyMap<string, Buffer> {
  const contents = new Map<string, Buffer>();
  for (let line = reader.line(); line !== ""; line = reader.line()) {
    const [, id, length] = BLOB.exec(line) ?? [];
    if (id !== undefined) {
      contents.set(id, reader.bytes(Number(length)));
      reader.bytes(1);
    }
  }
  return contents;
}

class Reader {
  readonly #output: Buffer;
  #at = 0;

  constructor(output: Buffer) {
    this.#output = output;
  }

  /** Without its end. Empty after the last one. */
  line(): string {
    const end = this.#output.indexOf("\n", this.#at);
    const line = this.#output.toString("latin1", this.#at, end < 0 ? this.#at : end);
    this.#at = end < 0 ? this.#output.length : end + 1;
    return line;
  }

  bytes(length: number): Buffer {
    this.#at += length;
    return this.#output.subarray(this.#at - length, this.#at);
  }
}
