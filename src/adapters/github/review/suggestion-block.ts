import { exactCode } from "../defuse.ts";

const CODE_LENGTH = 20_000;

/**
 * The block by which a person commits these lines in place of others. Only here agents' words become a button that changes the
 * code. Undefined: they are long, or have characters that nobody sees.
 */
export function suggestionBlock(lines: string): string | undefined {
  // An empty line in the block would be a new line of the file.
  return lines === ""
    ? "```suggestion\n```"
    : exactCode(lines, "", CODE_LENGTH)?.replace(/^`+/, "$&suggestion");
}
