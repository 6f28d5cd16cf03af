import type { PermissionRequest } from "../agents/agent-runner.ts";
import { cutText } from "../clean-text.ts";

/** Agents offer two to five. */
const OPTIONS_MAX = 20;
const NAME_LENGTH_MAX = 500;
const ID_LENGTH_MAX = 1_000;
/** Some agents put the whole command there. */
const TITLE_LENGTH_MAX = 4_000;

/**
 * The question with as many options as people can choose from: it is read with its run, and stands in each of its cards.
 * An id that were cut would be another, so what has a long one is left out.
 */
export function askableQuestion({ toolCallId, options, ...rest }: PermissionRequest): PermissionRequest {
  const known = options.filter(({ optionId }) => optionId.length <= ID_LENGTH_MAX).slice(0, OPTIONS_MAX);
  const isNamed = toolCallId !== undefined && toolCallId.length <= ID_LENGTH_MAX;
  return { ...rest, options: known, ...(isNamed ? { toolCallId } : {}) };
}

/** Its texts as people are shown them. They must be clean: cut before, half of a secret would be left. */
export function shownQuestion(clean: PermissionRequest): PermissionRequest {
  const options = clean.options.map((option) => ({ ...option, name: cutText(option.name, NAME_LENGTH_MAX) }));
  return { ...clean, title: cutText(clean.title, TITLE_LENGTH_MAX), options };
}
