import { readdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const SRC = resolve(import.meta.dirname, "../src");

/** Their classes are for all pages. */
const SHARED = ["styles", "frame"];

/** The classes that stand alone in a selector, by folder. A class after another one only varies it: `.btn.big`. */
async function classesByFolder(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const folders = new Map<string, Set<string>>();
  const files = (await readdir(SRC, { recursive: true })).filter((file) => file.endsWith(".css"));
  for (const file of files) {
    const css = await readFile(join(SRC, file), "utf8");
    const selectors = css.replaceAll(/\/\*[\s\S]*?\*\/|\{[^{}]*\}/g, " ");
    const classes = selectors.matchAll(/(?<![\w)\]-])\.([a-z][\w-]*)/g);
    const known = folders.get(dirname(file)) ?? new Set();
    folders.set(dirname(file), new Set([...known, ...Array.from(classes, ([, name = ""]) => name)]));
  }
  return folders;
}

// The styles of a page stay in the document when the user goes to another page.
test("no two pages have styles for the same class", async () => {
  const folders = await classesByFolder();
  const shared = new Set(SHARED.flatMap((folder) => [...(folders.get(folder) ?? [])]));
  const owners = new Map<string, string[]>();
  for (const [folder, classes] of folders) {
    for (const name of classes) {
      if (!shared.has(name)) {
        owners.set(name, [...(owners.get(name) ?? []), folder]);
      }
    }
  }

  const doubled = [...owners].filter(([, pages]) => pages.length > 1);

  expect(owners.size).toBeGreaterThan(100);
  expect(doubled).toEqual([]);
});

// Such a button needs a name for readers of the screen, a title and a type.
test("buttons with only an icon are one component", async () => {
  const files = (await readdir(SRC, { recursive: true })).filter((file) => file.endsWith(".tsx"));
  const others: string[] = [];
  for (const file of files) {
    const written = await readFile(join(SRC, file), "utf8");
    if (file !== "parts/icon-button.tsx" && /<button\s[^>]*?\bonly-icon\b/.test(written)) {
      others.push(file);
    }
  }

  expect(others).toEqual([]);
});
