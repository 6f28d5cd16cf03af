import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RE2JS } from "re2js";
import { expect, test } from "vitest";
import { EnvironmentConfigSchema } from "../../../src/api/schemas/environment.ts";

const DOCUMENT = join(import.meta.dirname, "../../../docs/openapi.json");

/** Every pattern, with the first place where it stands. */
function patternsOf(value: unknown, place = "#", found = new Map<string, string>()): Map<string, string> {
  if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (name === "pattern" && typeof member === "string" && !found.has(member)) {
        found.set(member, place);
      }
      patternsOf(member, `${place}/${name}`, found);
    }
  }
  return found;
}

const PATTERNS = [...patternsOf(JSON.parse(readFileSync(DOCUMENT, "utf8")))].map(([pattern, place]) => [
  place,
  pattern,
]);

test("the document has patterns", () => {
  expect(PATTERNS.length).toBeGreaterThan(5);
});

/** Go, Rust and pydantic have no look-around and no back references: models with such a pattern do not even load there. */
test.each(PATTERNS)("the pattern at %s compiles in RE2: %s", (_place, pattern = "") => {
  expect(() => RE2JS.compile(pattern)).not.toThrow();
});

/** Rust and Python take letters and digits of all scripts, and a repeated `\w` is then too large to compile there. */
test.each(PATTERNS)("the pattern at %s names its letters and digits: %s", (_place, pattern) => {
  expect(pattern).not.toMatch(/\\[wWdDbB]/);
});

test.each([
  ["a", true],
  [".github", true],
  ["..a", true],
  ["...", true],
  ["-", true],
  ["a.b-c_d", true],
  ["x".repeat(100), true],
  [`.${"x".repeat(99)}`, true],
  [`..${"x".repeat(98)}`, true],
  ["", false],
  [".", false],
  ["..", false],
  ["a/b", false],
  ["x".repeat(101), false],
  [`.${"x".repeat(100)}`, false],
  [`..${"x".repeat(99)}`, false],
])("a repository may be called %s: %s", (repo, isAllowed) => {
  const config = { name: "n", github_repos: [{ owner: "acme", repo }] };

  expect(EnvironmentConfigSchema.safeParse(config).success).toBe(isAllowed);
});
