import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

export const ASSETS_DIRECTORY = fileURLToPath(new URL("assets/", import.meta.url));

/** Reads a page, which is stored next to this file. */
export function readPage(name: "runs" | "run" | "sign-in" | "not-found" | "problem"): Promise<string> {
  return readFile(new URL(`${name}.html`, import.meta.url), "utf8");
}

/** Replaces the `{{name}}` placeholders of a page. Values are escaped for text and quoted attributes. */
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
