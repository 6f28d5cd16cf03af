import { cutMiddle, cutText } from "../../basics/clean-text.ts";
import { defined } from "../../basics/defined.ts";
import type { PermissionRequest } from "../../model/runs/agent-update.ts";

/** Agents offer two to five options. */
const OPTIONS_MAX = 20;

const PATHS_MAX = 50;

const NAME_LENGTH_MAX = 500;

const ID_LENGTH_MAX = 1_000;

const REASON_LENGTH_MAX = 2_000;

/** Some agents put the whole command into the title. */
const TITLE_LENGTH_MAX = 4_000;

/** Of a command, of changed lines and of arguments. */
const FACT_LENGTH_MAX = 16_000;

/**
 * Limits the question to options that a person can choose from, because it is stored with the run and shown in each
 * card. An option with a long id is left out, because a shortened id would be another id.
 */
export function limitOptions({ toolCallId, options, ...rest }: PermissionRequest): PermissionRequest {
  const known = options.filter(({ optionId }) => optionId.length <= ID_LENGTH_MAX).slice(0, OPTIONS_MAX);
  const isNamed = toolCallId !== undefined && toolCallId.length <= ID_LENGTH_MAX;
  return { ...rest, options: known, ...defined({ toolCallId: isNamed ? toolCallId : undefined }) };
}

/**
 * Shortens the texts of a question for display. They must have been cleaned before, because shortening could leave
 * half a secret. A call of which something is left out is marked, so that nobody allows it by one click.
 */
export function shortenTexts(clean: PermissionRequest): PermissionRequest {
  const { command, diff, input, truncated = false, options, paths = [], reason, title } = clean;
  const facts = [command, diff, input, ...paths].map((fact = "") => fact.length);
  // Without facts, the words are the question.
  const isCut = facts.every((length) => length === 0) && (reason ?? title).length > REASON_LENGTH_MAX;
  const isLong = isCut || facts.some((length) => length > FACT_LENGTH_MAX) || paths.length > PATHS_MAX;
  return {
    ...clean,
    title: cutText(title, TITLE_LENGTH_MAX),
    options: options.map((option) => ({ ...option, name: cutText(option.name, NAME_LENGTH_MAX) })),
    ...defined({
      command: command === undefined ? undefined : cutMiddle(command, FACT_LENGTH_MAX),
      diff: diff === undefined ? undefined : cutMiddle(diff, FACT_LENGTH_MAX),
      input: input === undefined ? undefined : cutMiddle(input, FACT_LENGTH_MAX),
      paths:
        paths.length === 0
          ? undefined
          : paths.slice(0, PATHS_MAX).map((path) => cutMiddle(path, FACT_LENGTH_MAX)),
      reason: reason === undefined ? undefined : cutText(reason, REASON_LENGTH_MAX),
      truncated: truncated || isLong ? true : undefined,
    }),
  };
}
