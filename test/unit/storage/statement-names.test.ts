import { expect, it } from "vitest";
import { StatementNames } from "../../../src/storage/statement-names.ts";

it("a text has one name, and another text another one", () => {
  const names = new StatementNames();

  expect(names.nameOf("SELECT 1")).toBe(names.nameOf("SELECT 1"));
  expect(names.nameOf("SELECT 1")).not.toBe(names.nameOf("SELECT 2"));
});

it("of texts without end only so many are named, and those keep their names", () => {
  const names = new StatementNames();
  const first = names.nameOf("SELECT 0");

  const given = Array.from({ length: 10_000 }, (_, index) => names.nameOf(`SELECT ${index}`));

  expect(new Set(given).size).toBeLessThan(1_000);
  expect(given.at(-1)).toBe("");
  expect(names.nameOf("SELECT 0")).toBe(first);
});
