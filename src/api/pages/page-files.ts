import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

export const ASSETS_DIRECTORY = fileURLToPath(new URL("assets/", import.meta.url));

/** Reads a page, which is stored next to this file. */
export function readPage(
  name:
    | "sign-in"
    | "sign-in-link"
    | "sign-in-link-join"
    | "device"
    | "device-confirm"
    | "message"
    | "problem",
): Promise<string> {
  return readFile(new URL(`${name}.html`, import.meta.url), "utf8");
}

/**
 * Replaces the `{{name}}` placeholders of a page. Values are escaped for text and quoted attributes. A value for
 * `{{{name}}}` is HTML that `html` made, and is not escaped.
 */
export function fill(page: string, values: Readonly<Record<string, string>>): string {
  return page.replace(/\{\{(\{?)(\w+)\}?\}\}/g, (_place, isHtml: string, name: string) =>
    isHtml === "" ? escapeHtml(values[name] ?? "") : (values[name] ?? ""),
  );
}

/** Returns HTML whose values are escaped. */
export function html(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return String.raw({ raw: parts }, ...values.map(escapeHtml));
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
