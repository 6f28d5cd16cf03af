import { describe, expect, test } from "vitest";
import { containsOne, isAmong, matchesOneGlob } from "../../../../src/core/rules/conditions.ts";

describe("a list of values", () => {
  test("asks for nothing where it is not given", () => {
    expect(isAmong(undefined, undefined)).toBe(true);
  });

  test("holds for one of them, and not for what is not known", () => {
    expect([isAmong(["a", "b"], "b"), isAmong(["a"], "b"), isAmong(["a"], undefined)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(isAmong([], "a")).toBe(false);
  });
});

describe("a glob", () => {
  test.each([
    ["acme/web", "acme/web"],
    ["ACME/Web", "acme/web"],
    ["acme/*", "acme/web"],
    ["*/web", "acme/web"],
    ["*", "anything"],
    ["*", ""],
    ["a*b*c", "a-b-b-c"],
    ["ab*ba", "abba"],
    ["C[1].x", "c[1].x"],
  ])("%s is like %s", (glob, text) => {
    expect(matchesOneGlob(["never", glob], text)).toBe(true);
  });

  test.each([
    ["acme", "acme/web"],
    ["acme/*", "evil/acme/web"],
    ["*/web", "acme/web2"],
    ["ab*ba", "aba"],
    ["a*b*c", "a-c"],
    ["a*bb*b", "abb"],
    ["a.c", "abc"],
    ["", "a"],
  ])("%s is not like %s", (glob, text) => {
    expect(matchesOneGlob([glob], text)).toBe(false);
  });

  test("is like nothing where the place is not known", () => {
    expect([matchesOneGlob(["*"], undefined), matchesOneGlob(undefined, undefined)]).toEqual([false, true]);
  });

  test("of many stars is read quickly", () => {
    const started = performance.now();

    expect(matchesOneGlob([`${"*a".repeat(5_000)}b`], "a".repeat(100_000))).toBe(false);

    expect(performance.now() - started).toBeLessThan(500);
  });
});

describe("words", () => {
  test.each([
    [["deploy"], "Please DEPLOY it"],
    [["no", "deploy"], "deploy!"],
    [["release train"], "the Release\n  train leaves"],
    [["straße"], "die Straße"],
    [["c++"], "port it to C++, please"],
  ])("%j stand in %j", (words, text) => {
    expect(containsOne(words, text)).toBe(true);
  });

  test.each([
    [["deploy"], "redeployment"],
    [["go"], "gö"],
    [["a.c"], "abc"],
    [["release train"], "release the train"],
  ])("%j do not stand in %j", (words, text) => {
    expect(containsOne(words, text)).toBe(false);
  });

  test("ask for nothing where they are not given", () => {
    expect(containsOne(undefined, "")).toBe(true);
  });
});
