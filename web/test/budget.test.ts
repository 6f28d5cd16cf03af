import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const DIST = resolve(import.meta.dirname, "../dist");
/** In kilobytes of 1000 bytes, as gzip sends them. */
const FIRST_LOAD_MAX = 250;
const FIRST_LIST_MAX = 170;
const OTHER_PAGE_MAX = 120;

interface Chunk {
  readonly file: string;
  readonly css?: readonly string[];
  readonly imports?: readonly string[];
}

type Manifest = Readonly<Record<string, Chunk>>;

const manifest = JSON.parse(await readFile(join(DIST, ".vite/manifest.json"), "utf8")) as Manifest;

/** All files that a page needs before it is shown. */
function filesOf(entries: readonly string[]): ReadonlySet<string> {
  const files = new Set<string>();
  const seen = new Set<string>();
  const visit = (name: string): void => {
    const chunk = manifest[name];
    if (chunk === undefined || seen.has(name)) {
      return;
    }
    seen.add(name);
    for (const file of [chunk.file, ...(chunk.css ?? [])]) {
      files.add(file);
    }
    for (const imported of chunk.imports ?? []) {
      visit(imported);
    }
  };
  for (const entry of entries) {
    visit(entry);
  }
  return files;
}

async function kilobytes(files: Iterable<string>): Promise<number> {
  const sizes = await Promise.all(
    [...files].map(async (file) => gzipSync(await readFile(join(DIST, file))).byteLength),
  );
  return sizes.reduce((sum, size) => sum + size, 0) / 1_000;
}

test(`the first load of a session is at most ${FIRST_LOAD_MAX} kB`, async () => {
  expect(manifest["src/run/run-page.tsx"]).toBeDefined();
  expect(await kilobytes(filesOf(["index.html", "src/run/run-page.tsx"]))).toBeLessThanOrEqual(
    FIRST_LOAD_MAX,
  );
});

test(`the first load of the list of runs is at most ${FIRST_LIST_MAX} kB`, async () => {
  expect(manifest["src/runs/runs-page.tsx"]).toBeDefined();
  expect(await kilobytes(filesOf(["index.html", "src/runs/runs-page.tsx"]))).toBeLessThanOrEqual(
    FIRST_LIST_MAX,
  );
});

test.each(Object.keys(manifest).filter((name) => name.endsWith("-page.tsx")))(
  `%s adds at most ${OTHER_PAGE_MAX} kB to the frame`,
  async (page) => {
    const frame = filesOf(["index.html"]);
    const added = [...filesOf([page])].filter((file) => !frame.has(file));

    expect(await kilobytes(added)).toBeLessThanOrEqual(OTHER_PAGE_MAX);
  },
);
