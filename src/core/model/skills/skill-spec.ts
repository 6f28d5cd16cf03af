import { AppError } from "../../basics/errors.ts";
import { isAllowedName, parseRepositoryName } from "../repositories/repository-name.ts";

/** Names a skill of a repository: by its name, or by the path of its SKILL.md. */
export type WantedSkill =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "path"; readonly path: string };

export interface SkillSpec {
  readonly owner?: string;
  readonly repository: string;
  readonly wanted: WantedSkill;
}

export const SKILL_FILE = "SKILL.md";
const NAME_LENGTH = 64;
const PATH_LENGTH = 500;
const FORMS = "must be [owner/]repo:skill-name or [owner/]repo:path/to/SKILL.md";

/** Reads `[owner/]repo:name` and `[owner/]repo:path/to/SKILL.md`. Throws `invalid_request`. */
export function parseSkillSpec(text: string): SkillSpec {
  const read = readSpec(text);
  if (typeof read !== "string") {
    return read;
  }
  throw new AppError("invalid_request", `"${text}" names no skill: it ${read}.`);
}

/** What is wrong with the text of a spec, or undefined. */
export function skillSpecProblem(text: string): string | undefined {
  const read = readSpec(text);
  return typeof read === "string" ? read : undefined;
}

function readSpec(text: string): SkillSpec | string {
  const colon = text.indexOf(":");
  if (colon < 0) {
    return FORMS;
  }
  const repositoryText = text.slice(0, colon);
  const wanted = readWanted(text.slice(colon + 1));
  if (typeof wanted === "string") {
    return wanted;
  }
  if (isAllowedName(repositoryText)) {
    return { repository: repositoryText, wanted };
  }
  const repository = parseRepositoryName(repositoryText);
  return repository === undefined ? FORMS : { owner: repository.owner, repository: repository.name, wanted };
}

function readWanted(text: string): WantedSkill | string {
  if (hasControlCharacters(text)) {
    return "must not hold control characters";
  }
  const isPath = text.includes("/") || text === SKILL_FILE;
  if (!isPath) {
    return text !== "" && text.length <= NAME_LENGTH && text !== ".." ? { kind: "name", name: text } : FORMS;
  }
  const segments = text.split("/");
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
    return 'must name a path inside the repository, without "..", "." and a "/" at its beginning';
  }
  if (segments.at(-1) !== SKILL_FILE) {
    return `must end in ${SKILL_FILE} where it names a path`;
  }
  return text.length <= PATH_LENGTH ? { kind: "path", path: text } : "is too long";
}

function hasControlCharacters(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return /[\u0000-\u001f\u007f\\]/.test(text) || !text.isWellFormed();
}
