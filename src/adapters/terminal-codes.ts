/** Commands to a terminal, with what belongs to them: a title or a link, a colour, a mode. */
const OPERATING_SYSTEM_COMMAND = "(?:\\x1b\\]|\\x9d)[^\\x07\\x1b\\x9c\\x9d]*(?:\\x07|\\x1b\\\\|\\x9c)";
const CONTROL_SEQUENCE = "(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]";
const ESCAPE = "\\x1b[ -/]*[0-~]";
/** Of none of these can a part be the beginning of another, so that hostile text takes no longer than any other. */
const CODES = new RegExp(`${OPERATING_SYSTEM_COMMAND}|${CONTROL_SEQUENCE}|${ESCAPE}`, "g");

/** The text without what only a terminal would act upon (ECMA-48). In linear time, unlike what Node has for it. */
export function withoutTerminalCodes(text: string): string {
  return text.replace(CODES, "");
}
