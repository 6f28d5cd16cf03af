import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

export const ASSETS_DIRECTORY = fileURLToPath(new URL("assets/", import.meta.url));

export interface PageFiles {
  readonly runs: string;
  readonly run: string;
  readonly signIn: string;
  readonly notFound: string;
  readonly problem: string;
}

export async function readPageFiles(): Promise<PageFiles> {
  const names = ["runs", "run", "sign-in", "not-found", "problem"];
  const texts = await Promise.all(
    names.map((name) => readFile(new URL(`${name}.html`, import.meta.url), "utf8")),
  );
  const [runs = "", run = "", signIn = "", notFound = "", problem = ""] = texts;
  return { runs, run, signIn, notFound, problem };
}

/** Puts values into a page's `{{name}}` places, harmless inside of text and quoted attributes. */
export function fill(page: string, values: Readonly<Record<string, string>>): string {
  return page.replace(/\{\{(\w+)\}\}/g, (_place, name: string) => escapeHtml(values[name] ?? ""));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}
