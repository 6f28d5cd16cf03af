import { expect, test } from "vitest";
import { StatementNames } from "../../../src/storage/statement-names.ts";

test("each statement text has one name of its own", () => {
  const names = new StatementNames();

  expect(names.nameOf("SELECT 1")).toBe(names.nameOf("SELECT 1"));
  expect(names.nameOf("SELECT 1")).not.toBe(names.nameOf("SELECT 2"));
});

test("only a limited number of statement texts get names, and these keep them", () => {
  const names = new StatementNames();
  const first = names.nameOf("SELECT 0");

  const firstNames = Array.from({ length: 10_000 }, (_, index) => names.nameOf(`SELECT ${index}`));

  expect(new Set(firstNames).size).toBeLessThan(1_000);
  expect(firstNames.at(-1)).toBe("");
  expect(names.nameOf("SELECT 0")).toBe(first);
});
