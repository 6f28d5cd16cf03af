import { describe, expect, test } from "vitest";
import { containsOne, isAmong, matchesOneGlob } from "../../../../src/core/model/policies/rule.ts";
import { processorTime } from "../../../support/processor-time.ts";

describe("a condition with a list of values", () => {
  test("an absent list of values matches everything", () => {
    expect(isAmong(undefined, undefined)).toBe(true);
  });

  test("a list of values matches one of them and does not match an unknown value", () => {
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
  ])("the text %s matches the glob %s", (glob, text) => {
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
  ])("the text %s does not match the glob %s", (glob, text) => {
    expect(matchesOneGlob([glob], text)).toBe(false);
  });

  test("a glob does not match an unknown place", () => {
    expect([matchesOneGlob(["*"], undefined), matchesOneGlob(undefined, undefined)]).toEqual([false, true]);
  });

  test("a glob with many stars is evaluated quickly", () => {
    const usedMs = processorTime();

    expect(matchesOneGlob([`${"*a".repeat(5_000)}b`], "a".repeat(100_000))).toBe(false);

    expect(usedMs()).toBeLessThan(5_000);
  });
});

describe("words", () => {
  test.each([
    [["deploy"], "Please DEPLOY it"],
    [["no", "deploy"], "deploy!"],
    [["release train"], "the Release\n  train leaves"],
    [["straße"], "die Straße"],
    [["c++"], "port it to C++, please"],
    [["tidy-up"], "Now tidy-up the files"],
  ])("the words %j are found in %j", (words, text) => {
    expect(containsOne(words, text)).toBe(true);
  });

  test.each([
    [["deploy"], "redeployment"],
    [["go"], "gö"],
    [["a.c"], "abc"],
    [["release train"], "release the train"],
  ])("the words %j are not found in %j", (words, text) => {
    expect(containsOne(words, text)).toBe(false);
  });

  test("absent words match everything", () => {
    expect(containsOne(undefined, "")).toBe(true);
  });
});
