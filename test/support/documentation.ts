import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const ROOT = resolve(import.meta.dirname, "../..");

/** An example in the documentation: a fenced block with a language. */
export interface Block {
  readonly language: string;
  readonly text: string;
}

/** The examples of a page, in their order. */
export async function blocksOf(page: string): Promise<readonly Block[]> {
  const text = await readFile(join(ROOT, page), "utf8");
  return Array.from(
    text.matchAll(/^ *```([a-z]+)[^\n]*\n(.*?)^ *```$/gms),
    ([, language = "", source = ""]) => ({
      language,
      text: source,
    }),
  );
}

/** All pages for users, operators and developers. */
export async function listPages(): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)("git", ["ls-files", "*.md"], { cwd: ROOT });
  return stdout
    .trim()
    .split("\n")
    .filter((page) => !page.startsWith("test/"));
}
