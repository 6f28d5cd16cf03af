import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { CallFacts, ToolCallUpdate, ToolContent } from "../../core/model/runs/agent-update.ts";

type Diff = Extract<ToolContent, { readonly type: "diff" }>;

/** The members by which agents name the same things. `leftOut`: the input was too large to be kept. */
const rawInput = z.looseObject({
  command: z.union([z.string(), z.array(z.string())]).optional(),
  cmd: z.union([z.string(), z.array(z.string())]).optional(),
  cwd: z.string().optional(),
  description: z.string().optional(),
  diff: z.string().optional(),
  leftOut: z.string().optional(),
});
type RawInput = z.infer<typeof rawInput>;

/** The unchanged lines that a diff shows before and after those that change. */
const CONTEXT_LINES = 3;
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/**
 * What a call would do: a command, the files and lines that it changes, or the arguments of another tool. The title, the
 * description and texts beside them are the agent's own words, because several agents take them from the model.
 */
export function callFactsOf(call: ToolCallUpdate): CallFacts {
  const input = inputOf(call);
  const command = commandOf(call, input);
  const diff = diffOf(call, input);
  const paths = pathsOf(call, input);
  const others = diff === undefined ? otherInput(call, input, command) : undefined;
  const reason = wordsOf(call, input)
    .filter((words) => words !== command)
    .join("\n");
  return defined({
    command,
    paths: paths.length === 0 ? undefined : paths,
    diff,
    input: others,
    reason: reason === "" ? undefined : reason,
    truncated: input?.leftOut === undefined ? undefined : true,
  });
}

/** The call after one more report of it. Some reports name a member that they leave empty. */
export function joinedCall(known: ToolCallUpdate | undefined, update: ToolCallUpdate): ToolCallUpdate {
  const said = Object.entries(update).filter(([, value]) => !isEmpty(value));
  return { ...known, ...Object.fromEntries(said), kind: update.kind, toolCallId: update.toolCallId };
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && (value === null || Object.keys(value).length === 0);
}

function inputOf({ rawInput: raw }: ToolCallUpdate): RawInput | undefined {
  return isEmpty(raw) ? undefined : rawInput.safeParse(raw).data;
}

/**
 * Other tools may have an argument of this name too, which is no command: only that of a tool that executes counts. An
 * agent that reports no input has the command in the title.
 */
function commandOf(
  { rawInput: raw, title, toolKind }: ToolCallUpdate,
  input: RawInput | undefined,
): string | undefined {
  if (toolKind !== "execute") {
    return undefined;
  }
  const command = raw === undefined || isEmpty(raw) ? title : (input?.command ?? input?.cmd);
  return typeof command === "object" ? command.map(quoted).join(" ") : command;
}

function quoted(word: string): string {
  return PLAIN_WORD.test(word) ? word : JSON.stringify(word);
}

function pathsOf({ content = [], locations = [] }: ToolCallUpdate, input: RawInput | undefined): string[] {
  const named = locations.map(({ line, path }) => (line === undefined ? path : `${path}:${line}`));
  const changed = content.filter(isDiff).map(({ path }) => path);
  const all = [...(input?.cwd === undefined ? [] : [input.cwd]), ...changed, ...named];
  return [...new Set(all)];
}

function diffOf({ content = [], toolKind }: ToolCallUpdate, input: RawInput | undefined): string | undefined {
  const diffs = content.filter(isDiff).map(linesOf);
  if (diffs.length > 0) {
    return diffs.join("\n");
  }
  return toolKind === "edit" ? input?.diff?.trim() : undefined;
}

function isDiff(content: ToolContent): content is Diff {
  return content.type === "diff";
}

/** One hunk, from the first line that differs to the last. */
function linesOf({ newText, oldText, path }: Diff): string {
  const [before, after] = [oldText ?? "", newText].map((text) => (text === "" ? [] : text.split("\n")));
  const first = commonLines(before ?? [], after ?? []);
  const [oldRest, newRest] = [(before ?? []).slice(first), (after ?? []).slice(first)];
  const last = commonLines(oldRest.toReversed(), newRest.toReversed());
  return [
    `--- ${oldText === null ? "/dev/null" : path}`,
    `+++ ${path}`,
    ...(before ?? []).slice(Math.max(0, first - CONTEXT_LINES), first).map((line) => ` ${line}`),
    ...oldRest.slice(0, oldRest.length - last).map((line) => `-${line}`),
    ...newRest.slice(0, newRest.length - last).map((line) => `+${line}`),
    ...oldRest
      .slice(oldRest.length - last)
      .slice(0, CONTEXT_LINES)
      .map((line) => ` ${line}`),
  ].join("\n");
}

function commonLines(some: readonly string[], other: readonly string[]): number {
  const differs = some.findIndex((line, index) => line !== other[index]);
  return differs === -1 ? some.length : differs;
}

/** What no other member shows. Copilot repeats its command in a list. */
function otherInput(
  { rawInput: raw }: ToolCallUpdate,
  input: RawInput | undefined,
  command: string | undefined,
): string | undefined {
  if (raw === undefined || isEmpty(raw)) {
    return undefined;
  }
  if (input === undefined || command === undefined) {
    return JSON.stringify(raw, undefined, 2);
  }
  const { cwd: _cwd, description: _description, ...others } = input;
  const shown = input.command === undefined ? "cmd" : "command";
  const left = Object.entries(others).filter(
    ([name, value]) => name !== shown && JSON.stringify(value) !== JSON.stringify([command]),
  );
  return left.length === 0 ? undefined : JSON.stringify(Object.fromEntries(left), undefined, 2);
}

function wordsOf({ content = [], title }: ToolCallUpdate, input: RawInput | undefined): readonly string[] {
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const words = [title, input?.description, ...texts].map((text = "") => text.trim());
  return [...new Set(words)].filter((text) => text !== "");
}
