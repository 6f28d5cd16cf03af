import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

export const ASSETS_DIRECTORY = fileURLToPath(new URL("assets/", import.meta.url));

/** The page of this name, as it lies beside this file. */
export function readPage(name: "runs" | "run" | "sign-in" | "not-found" | "problem"): Promise<string> {
  return readFile(new URL(`${name}.html`, import.meta.url), "utf8");
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
