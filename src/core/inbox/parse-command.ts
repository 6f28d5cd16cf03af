/** What the text of a message asks for. Text without a control word is work for the agent. */
export type Command =
  | { readonly kind: "stop" }
  | { readonly kind: "status" }
  | { readonly kind: "help" }
  | { readonly kind: "new"; readonly prompt: string }
  | { readonly kind: "work" };

const STOP = /^(stop|cancel|abort|halt)\s*[.!]*$/i;
const STATUS = /^status\s*[?.!]*$/i;
/** `new` without a prompt asks for help as well. */
const HELP = /^(help|new|new\s+run)?\s*[?.!:,]*$/i;
const NEW = /^new(?:\s+run)?\s*[:,]?\s+(\S[\s\S]*)$/i;

export function parseCommand(text: string): Command {
  const trimmed = text.trim();
  if (STOP.test(trimmed)) {
    return { kind: "stop" };
  }
  if (STATUS.test(trimmed)) {
    return { kind: "status" };
  }
  if (HELP.test(trimmed)) {
    return { kind: "help" };
  }
  const prompt = NEW.exec(trimmed)?.[1];
  return prompt === undefined ? { kind: "work" } : { kind: "new", prompt };
}

export function helpText(trigger: string): string {
  return [
    `I run a coding agent for you. Tell me what to do: \`${trigger} add a test for the parser\`.`,
    `This thread has one run: \`${trigger} …\` continues it, \`${trigger} status\` shows its state,`,
    `\`${trigger} stop\` stops it, and \`${trigger} new …\` starts another one.`,
  ].join("\n");
}
