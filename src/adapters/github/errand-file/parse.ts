import { type Document, isAlias, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from "yaml";
import type { z } from "zod";
import { defined } from "../../../core/basics/defined.ts";
import { listText } from "../../../core/basics/list-text.ts";
import { REQUEST_KINDS } from "../../../core/model/policies/policy.ts";
import type { RepositorySettings } from "../../../core/model/repositories/repository-settings.ts";
import { oneLine } from "../shown-text.ts";
import { CHOOSING_MEMBERS, ERRAND_FILE, type ErrandFile, errandFile } from "./schema.ts";

export const BYTES_MAX = 64 * 1024;
const DEPTH_MAX = 8;
const MEMBER_MAX = 100;
const MISTAKES_MAX = 3;

type Path = readonly PropertyKey[];

interface Mistake {
  readonly path: Path;
  readonly problem: string;
}

/** With what only this adapter does. */
export interface ErrandFileSettings extends RepositorySettings {
  readonly labels: readonly string[];
  readonly isReadyWhenGreen: boolean;
  readonly deletesBranch: boolean;
}

/** Reads the text of the file. A mistake never throws. */
export function parseErrandFile(text: string): ErrandFileSettings {
  const lines = new LineCounter();
  const document = documentOf(text, lines);
  const at = (path: Path, problem: string) =>
    sentence(document instanceof Error ? undefined : lineOf(document, path, lines), path, problem);
  const problem = document instanceof Error ? document.message : problemIn(document, lines);
  if (document instanceof Error || problem !== undefined) {
    return settingsOf({}, { mistakeAt: at, unreadable: problem });
  }
  const value: unknown = document.toJS({ maxAliasCount: 0 }) ?? {};
  const first = errandFile.safeParse(value);
  if (first.success) {
    return settingsOf(first.data, { mistakeAt: at });
  }
  const found = first.error.issues.flatMap(mistakesIn);
  const restricting = found.filter(({ path }) => !CHOOSING_MEMBERS.has(memberIn(path)));
  const [worst] = restricting.map((each) => at(each.path, each.problem));
  const kept = errandFile.safeParse(without(value, found));
  const mistakes = found.slice(0, MISTAKES_MAX).map((each) => at(each.path, each.problem));
  return settingsOf(kept.data ?? {}, { mistakeAt: at, mistakes, unreadable: worst });
}

/** Of a file that is none, or that cannot be read as text. */
export function unreadableFile(problem: string): ErrandFileSettings {
  const mistakeAt = (path: Path, words: string) => sentence(undefined, path, words);
  return settingsOf({}, { mistakeAt, unreadable: `\`${ERRAND_FILE}\` ${problem}` });
}

function settingsOf(
  { agent, base_prompt, environment, model, pull_request: pullRequest = {}, refusals, triggers }: ErrandFile,
  {
    mistakeAt,
    mistakes = [],
    unreadable,
  }: {
    readonly mistakeAt: (path: Path, problem: string) => string;
    readonly mistakes?: readonly string[];
    readonly unreadable?: string | undefined;
  },
): ErrandFileSettings {
  const { paths, sign, signoff: signsOff } = pullRequest;
  const hostSigns = sign === "api" ? true : undefined;
  return {
    ...defined({ environment, hostSigns, paths, signsOff, unreadable }),
    config: defined({
      base_prompt,
      harness: agent === undefined ? undefined : { type: agent },
      model_id: model,
      pull_request: pullRequest.open,
    }),
    off: REQUEST_KINDS.filter((kind) => triggers?.[kind] === false),
    refusals: refusals ?? "comment",
    labels: pullRequest.labels ?? [],
    isReadyWhenGreen: pullRequest.ready_when_green === true,
    deletesBranch: pullRequest.delete_branch === true,
    mistakes,
    mistakeAt: (member, problem) => mistakeAt(member.split("."), problem),
  };
}

function documentOf(text: string, lineCounter: LineCounter): Document.Parsed | Error {
  try {
    return parseDocument(text, { logLevel: "error", prettyErrors: false, lineCounter });
  } catch {
    // The parser has no limit of its own for collections inside each other.
    return new Error(`\`${ERRAND_FILE}\` is nested too deeply.`);
  }
}

/** Why the document is not converted to a value. Anchors and tags could make it larger than the file. */
function problemIn(document: Document.Parsed, lines: LineCounter): string | undefined {
  const [error] = [...document.errors, ...document.warnings];
  if (error !== undefined) {
    const [line = ""] = error.message.split("\n");
    return sentence(lines.linePos(error.pos[0]).line, [], `is no YAML that Errand reads: ${line}`);
  }
  let found: string | undefined;
  visit(document, (_key, node, ancestors) => {
    const isPlain = !isNode(node) || (!isAlias(node) && node.anchor === undefined && node.tag === undefined);
    if (isPlain && ancestors.length <= 2 * DEPTH_MAX) {
      return undefined;
    }
    const [offset = 0] = isNode(node) ? (node.range ?? []) : [];
    found = sentence(lines.linePos(offset).line, [], "must have no anchors, aliases, tags or deep nesting.");
    return visit.BREAK;
  });
  return found;
}

function sentence(line: number | undefined, path: Path, problem: string): string {
  const where = line === undefined ? "" : `, line ${line}`;
  const member = path.length === 0 ? "" : `: \`${oneLine(memberIn(path), MEMBER_MAX)}\``;
  return `\`${ERRAND_FILE}\`${where}${member} ${problem}`;
}

/** The line of a member, or of the nearest one around it. */
function lineOf(document: Document.Parsed, path: Path, lines: LineCounter): number | undefined {
  let [node, offset]: [unknown, number | undefined] = [document.contents, undefined];
  for (const segment of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === segment);
      offset = isNode(pair?.key) ? pair.key.range?.[0] : offset;
      node = pair?.value;
    }
  }
  return offset === undefined ? undefined : lines.linePos(offset).line;
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  boolean: "true or false",
  array: "a list",
  object: "a mapping",
};

function mistakesIn(issue: z.core.$ZodIssue): readonly Mistake[] {
  const { path } = issue;
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({ path: [...path, key], problem: "is unknown." }));
    case "invalid_value":
      return [
        { path, problem: `must be one of ${listText(issue.values.map(String), issue.values.length)}.` },
      ];
    case "invalid_type":
      return [{ path, problem: `must be ${TYPES[issue.expected] ?? issue.expected}.` }];
    case "too_big":
    case "too_small":
      return [{ path, problem: "is too long or empty." }];
    default:
      return [{ path, problem: `${issue.message}.` }];
  }
}

/** The path without the number of an item of a list. */
function memberIn(path: Path): string {
  return path.filter((segment) => typeof segment !== "number").join(".");
}

/** The value without the wrong members. */
function without(value: unknown, mistakes: readonly Mistake[], depth = 0): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return value;
  }
  const members = Object.entries(value).flatMap(([name, member]) => {
    const inside = mistakes.filter(({ path }) => path[depth] === name);
    const isWrong = inside.some(({ path }) => path.length === depth + 1 || Array.isArray(member));
    return isWrong ? [] : [[name, without(member, inside, depth + 1)]];
  });
  return Object.fromEntries(members);
}
