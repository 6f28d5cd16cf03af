import type { ToolContent } from "@errand/client";
import type { Entry, ToolEntry } from "./entries.ts";
import { type Media, takeMedia } from "./media.ts";

export type CallState = "asked" | "running" | "completed" | "failed" | "denied" | "unknown";
export type CallKind =
  | "read"
  | "edit"
  | "delete"
  | "move"
  | "search"
  | "execute"
  | "fetch"
  | "think"
  | "mcp"
  | "other";

export interface FileChange {
  readonly path: string;
  /** null: the file is new. */
  readonly oldText: string | null;
  readonly newText: string;
}

/** A tool call in the words of a reader. */
export interface CallView {
  readonly kind: CallKind;
  readonly state: CallState;
  /** Empty if the subject is a sentence of the agent. */
  readonly verb: string;
  readonly subject: string;
  /** The subject is a path, a command or an address. */
  readonly isCode: boolean;
  readonly changes: readonly FileChange[];
  readonly output: string;
  /** Pictures and other binary content of the result. */
  readonly media: readonly Media[];
  readonly exitCode: number | undefined;
  /** The input as JSON, if nothing else shows it. */
  readonly input: string | undefined;
}

/** An agent reports a refused call as failed. It did its work only if the agent reports that. */
export function callState({ status, permission, isOver }: ToolEntry): CallState {
  if (status === "completed") {
    return "completed";
  }
  if (permission === "denied") {
    return "denied";
  }
  if (status === "failed") {
    return "failed";
  }
  if (isOver) {
    return "unknown";
  }
  return permission === "asked" ? "asked" : "running";
}

const VERBS: Readonly<Record<CallKind, readonly [infinitive: string, present: string, past: string]>> = {
  read: ["read", "Reading", "Read"],
  edit: ["edit", "Editing", "Edited"],
  delete: ["delete", "Deleting", "Deleted"],
  move: ["move", "Moving", "Moved"],
  search: ["search", "Searching", "Searched"],
  execute: ["run", "Running", "Ran"],
  fetch: ["fetch", "Fetching", "Fetched"],
  think: ["think", "Thinking", "Thought"],
  mcp: ["call", "Calling", "Called"],
  other: ["use", "Using", "Used"],
};

const KINDS: ReadonlySet<string> = new Set([
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "fetch",
  "think",
]);

/** `servers`: the names of the MCP servers of the run, because some agents put them before the name of the tool. */
export function viewOf(call: ToolEntry, servers: readonly string[] = []): CallView {
  const state = callState(call);
  const tool = mcpTool(call, servers);
  const kind = tool === undefined ? kindOf(call) : "mcp";
  const changes = changesOf(call, kind);
  const isNew = kind === "edit" && changes.length > 0 && changes.every(({ oldText }) => !oldText);
  const subject = tool === undefined ? subjectOf(call, kind, changes) : { text: tool.name, isCode: true };
  const media: Media[] = [];
  const output = outputOf(call, kind, media);
  const verb = verbOf(kind, state, isNew);
  return {
    kind,
    state,
    verb: tool?.server ?? (subject.isCode ? verb : ""),
    subject: withoutNewLines(subject.text),
    isCode: subject.isCode,
    changes,
    output,
    media,
    exitCode: exitCodeOf(call),
    input: showsInput(call, kind, changes) ? json(call.input) : undefined,
  };
}

function verbOf(kind: CallKind, state: CallState, isNew: boolean): string {
  const [infinitive, present, past] = VERBS[kind];
  switch (state) {
    case "running":
      return present;
    case "completed":
      return isNew ? "Created" : past;
    case "failed":
      return past;
    default:
      return `${state === "asked" ? "Wants" : "Wanted"} to ${infinitive}`;
  }
}

function kindOf({ toolKind = "" }: ToolEntry): CallKind {
  return KINDS.has(toolKind) ? (toolKind as CallKind) : "other";
}

function mcpTool(
  { title = "", toolKind = "other", input }: ToolEntry,
  servers: readonly string[],
): { readonly server: string; readonly name: string } | undefined {
  const named = /^mcp__(.+?)__(.+)$/.exec(title) ?? /^(?:Tool: )?mcp[.:/]([\w-]+)[.:/](.+)$/i.exec(title);
  if (named?.[1] !== undefined && named[2] !== undefined) {
    return { server: named[1], name: named[2] };
  }
  const bracketed = /^([\w-]+) \(([\w-]+) MCP Server\)/.exec(title);
  if (bracketed?.[1] !== undefined && bracketed[2] !== undefined) {
    return { server: bracketed[2], name: bracketed[1] };
  }
  const { server, tool } = members(input);
  if (typeof server === "string" && typeof tool === "string") {
    return { server, name: tool };
  }
  const known = servers.find((name) => title.startsWith(name) && /^[_./]./.test(title.slice(name.length)));
  return known === undefined || KINDS.has(toolKind)
    ? undefined
    : { server: known, name: title.slice(known.length + 1) };
}

const PATHS = ["file_path", "filePath", "path", "file", "absolute_path", "directory"] as const;
const PATTERNS = ["pattern", "query", "glob", "regex", "search_term"] as const;
const ADDRESSES = ["url", "query", "prompt"] as const;

function subjectOf(
  call: ToolEntry,
  kind: CallKind,
  changes: readonly FileChange[],
): { readonly text: string; readonly isCode: boolean } {
  const title = call.title ?? call.toolKind ?? "a tool";
  const code = (text: string | undefined) =>
    text === undefined ? { text: withRelativePaths(title), isCode: false } : { text, isCode: true };
  switch (kind) {
    case "execute":
      return code(commandOf(call));
    case "read":
    case "edit":
    case "delete":
    case "move":
      return code(pathsOf(call, changes));
    case "search":
      return code(firstText(call.input, PATTERNS));
    case "fetch":
      return code(firstText(call.input, ADDRESSES));
    case "think":
      return { text: title, isCode: false };
    default:
      return { text: withRelativePaths(title), isCode: false };
  }
}

function pathsOf(call: ToolEntry, changes: readonly FileChange[]): string | undefined {
  const located = (call.locations ?? []).map(({ path, line }) =>
    line === undefined ? path : `${path}:${line}`,
  );
  const changed = changes.map(({ path }) => path);
  const input = firstText(call.input, PATHS);
  const places =
    located.length > 0 ? located : changed.length > 0 ? changed : input === undefined ? [] : [input];
  const [first, ...others] = new Set(places.map(relativePath));
  if (first === undefined) {
    return undefined;
  }
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

/** The command without the shell that it is passed to. */
export function commandOf({ input, title }: ToolEntry): string | undefined {
  const { command, cmd } = members(input);
  const given: unknown = command ?? cmd;
  if (Array.isArray(given)) {
    const words = given.map(String);
    const isShell =
      words.length === 3 && /(?:^|\/)(?:ba|z|)sh$/.test(words[0] ?? "") && /^-\w*c$/.test(words[1] ?? "");
    return isShell ? words[2] : words.join(" ");
  }
  return typeof given === "string" && given !== "" ? given : title;
}

/** The changes that an agent reports, or those that its input describes. */
function changesOf(call: ToolEntry, kind: CallKind): readonly FileChange[] {
  const reported = (call.content ?? []).flatMap((part) =>
    part.type === "diff"
      ? [{ path: relativePath(part.path), oldText: part.old_text, newText: part.new_text }]
      : [],
  );
  if (reported.length > 0 || kind !== "edit") {
    return reported;
  }
  const path = firstText(call.input, PATHS) ?? call.locations?.[0]?.path;
  const newText = firstText(call.input, ["new_string", "newString", "content", "file_text", "text"]);
  if (path === undefined || newText === undefined) {
    return [];
  }
  return [
    {
      path: relativePath(path),
      oldText: firstText(call.input, ["old_string", "oldString"]) ?? null,
      newText,
    },
  ];
}

const FENCED = /^\s*```[\w-]*\n([\s\S]*?)\n?```\s*$/;

/** The text of the content, without what agents put around it. */
function outputOf(call: ToolEntry, kind: CallKind, media: Media[]): string {
  const { content = [], output = "" } = call;
  const texts = content.map((part) => textOf(part, media)).filter((text) => text !== "");
  const whole = texts.join("\n") + output;
  const result = takeMedia(call.result, media);
  const { output: shellOutput, type } = members(result);
  if (type === "shell_result" && typeof shellOutput === "string") {
    return shellOutput;
  }
  if (whole === "" && kind !== "edit") {
    return typeof result === "string" ? result : resultText(result);
  }
  const text = FENCED.exec(whole)?.[1] ?? whole;
  return kind === "execute" ? text.replace(/\n?<shellId: \S+ completed with exit code -?\d+>\s*$/, "") : text;
}

function resultText(result: unknown): string {
  const { output, content, text, stdout } = members(result);
  const named = [output, content, text, stdout].find((member) => typeof member === "string");
  if (typeof named === "string") {
    return named;
  }
  const blocks: unknown = Array.isArray(result) ? result : content;
  const texts = Array.isArray(blocks) ? blocks.map(blockText) : [undefined];
  if (texts.every((each) => each !== undefined)) {
    return texts.join("\n");
  }
  const isExitOnly = Object.keys(members(result)).every((name) =>
    ["exit_code", "signal", "terminal_id"].includes(name),
  );
  return result === undefined || isExitOnly ? "" : json(result);
}

/** The text of a block of ACP or MCP: a text, a resource with a text, or a link. Undefined: it is none of them. */
function blockText(block: unknown): string | undefined {
  const {
    name,
    resource,
    text = members(resource).text,
    title = name,
    uri = members(resource).uri,
  } = members(block);
  if (typeof text === "string") {
    return text;
  }
  return typeof uri === "string" ? `${typeof title === "string" ? title : "Link"}: ${uri}` : undefined;
}

function textOf(part: ToolContent, media: Media[]): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "terminal":
      return part.output ?? "";
    case "diff":
      return "";
    case "other": {
      const data = takeMedia(part.data, media);
      return blockText(members(data).content) ?? (data === undefined ? "" : json(data));
    }
    default:
      return "";
  }
}

/** The exit code of a command, from where the agents write it. */
export function exitCodeOf({ result, toolKind }: ToolEntry): number | undefined {
  if (toolKind !== "execute") {
    return undefined;
  }
  const { exit_code: snake, exitCode: camel, exit, metadata, contents } = members(result);
  const inner = members(metadata).exit;
  const [last] = Array.isArray(contents) ? contents.slice(-1) : [];
  return [snake, camel, exit, inner, members(last).exitCode].find((code) => typeof code === "number");
}

/** A call or a step that failed, or a problem of the run. */
export function isFailed(entry: Entry): boolean {
  switch (entry.kind) {
    case "tool":
      return callState(entry) === "failed" || (exitCodeOf(entry) ?? 0) !== 0;
    case "step":
      return entry.status === "failed";
    default:
      return entry.kind === "problem";
  }
}

function showsInput({ input }: ToolEntry, kind: CallKind, changes: readonly FileChange[]): boolean {
  const isEmpty = Object.keys(members(input)).length === 0;
  return !isEmpty && changes.length === 0 && ["mcp", "other", "search", "fetch", "think"].includes(kind);
}

/** Paths of the workspace begin with it in every sandbox. */
function relativePath(path: string): string {
  return path.replace(/^(?:file:\/\/)?\/workspace(?:\/|$)/, "") || ".";
}

/** Paths of the workspace within a text. */
function withRelativePaths(text: string): string {
  return text.replaceAll(/(^|[\s"'`(=])\/workspace\//g, "$1");
}

function firstText(input: unknown, names: readonly string[]): string | undefined {
  const given = members(input);
  const name = names.find((each) => typeof given[each] === "string" && given[each] !== "");
  return name === undefined ? undefined : (given[name] as string);
}

type Members = Readonly<Record<string, unknown>>;

function members(value: unknown): Members {
  return typeof value === "object" && value !== null ? (value as Members) : {};
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "";
}

function withoutNewLines(text: string): string {
  return text.replaceAll(/(?<!\s)\s*\n\s*/g, " ⏎ ").trim();
}
