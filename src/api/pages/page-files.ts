import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

export const ASSETS_DIRECTORY = fileURLToPath(new URL("assets/", import.meta.url));

/** The titles of the pages, and whether search engines may list them. */
const PAGES = {
  "sign-in": { title: "Sign in", isListed: true },
  "sign-in-link": { title: "Sign in", isListed: false },
  "sign-in-link-join": { title: "Join accounts", isListed: false },
  device: { title: "Sign in a program", isListed: false },
  "device-confirm": { title: "Allow a program?", isListed: false },
  "create-app": { title: "Create the App", isListed: false },
  message: { title: "{{title}}", isListed: false },
  problem: { title: "{{title}}", isListed: true },
};

/** Reads what a page says, and puts it into the frame that all pages have. Both are stored next to this file. */
export async function readPage(name: keyof typeof PAGES): Promise<string> {
  const [frame = "", main = ""] = await Promise.all(
    ["frame", name].map((file) => readFile(new URL(`${file}.html`, import.meta.url), "utf8")),
  );
  const { isListed, title } = PAGES[name];
  return fill(frame, { main, title, robots: isListed ? "" : '<meta name="robots" content="noindex">' });
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
