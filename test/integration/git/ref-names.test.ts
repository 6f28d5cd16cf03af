import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isRefName } from "../../../src/core/model/repositories/repository-name.ts";
import { reasonToSkipGit } from "../../support/git-program.ts";

const NAMES = 10_000;
/** Reads names that end with NUL, and prints a line for each: 0 if git takes it as a branch. */
const SCRIPT = `while IFS= read -r -d '' name; do git check-ref-format "refs/heads/$name"; echo $?; done`;

/** Names of the parts that git's rules are about, so that about half of them are legal. */
const name = fc
  .array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.constantFrom("a", "main", "fix", "1", "ü", "修", "-", "_", "#", "%", "]", "{", "}"),
      },
      { weight: 2, arbitrary: fc.constantFrom("/", ".", "@", "lock", ".lock", "@{", "..", "//", "/.") },
      {
        weight: 1,
        arbitrary: fc.constantFrom(" ", "~", "^", ":", "?", "*", "[", "\\", "\t", "\x7f", "\u200b", "$", "'"),
      },
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => parts.join(""));

const skipped = reasonToSkipGit();
describe.skipIf(skipped !== undefined)(`names of branches${skipped ? ` (${skipped})` : ""}`, () => {
  test("the names of branches are the names that git takes, except those with a leading dash", () => {
    const names = fc.sample(name, { numRuns: NAMES, seed: 37 });

    const { stdout } = spawnSync("bash", ["-c", SCRIPT], { input: names.map((one) => `${one}\0`).join("") });

    const answers = stdout.toString().trim().split("\n");
    expect(answers).toHaveLength(NAMES);
    const legal = names.filter((_, index) => answers[index] === "0");
    expect(legal.length).toBeGreaterThan(NAMES / 10);
    expect(names.filter(isRefName)).toEqual(legal.filter((one) => !one.startsWith("-")));
  });
});
