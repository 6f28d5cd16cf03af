import type { PermissionRequest } from "../agents/agent-runner.ts";
import { cutText } from "../clean-text.ts";

/** Agents offer two to five options. */
const OPTIONS_MAX = 20;
const NAME_LENGTH_MAX = 500;
const ID_LENGTH_MAX = 1_000;
/** Some agents put the whole command into the title. */
const TITLE_LENGTH_MAX = 4_000;

/**
 * Limits the question to options that a person can choose from, because it is stored with the run and shown in each
 * card. An option with a long id is left out, because a shortened id would be another id.
 */
export function limitOptions({ toolCallId, options, ...rest }: PermissionRequest): PermissionRequest {
  const known = options.filter(({ optionId }) => optionId.length <= ID_LENGTH_MAX).slice(0, OPTIONS_MAX);
  const isNamed = toolCallId !== undefined && toolCallId.length <= ID_LENGTH_MAX;
  return { ...rest, options: known, ...(isNamed ? { toolCallId } : {}) };
}

/**
 * Shortens the texts of a question for display. They must have been cleaned before, because shortening could leave
 * half a secret.
 */
export function shortenTexts(clean: PermissionRequest): PermissionRequest {
  const options = clean.options.map((option) => ({ ...option, name: cutText(option.name, NAME_LENGTH_MAX) }));
  return { ...clean, title: cutText(clean.title, TITLE_LENGTH_MAX), options };
}
