import { describe, expect, test } from "vitest";
import { isPlainEmail, plainName } from "../../../../../src/core/model/people/plain-name.ts";

describe("a name from outside", () => {
  test.each([
    ["a line break", "Ann\r\nAdmin", "Ann Admin"],
    ["a control character", "An\u0000n\u001b[31m", "Ann[31m"],
    ["a mark of direction", "Ann\u202e nimda", "Ann nimda"],
    ["an isolate", "\u2066Ann\u2069", "Ann"],
    ["a zero-width space", "A\u200bnn", "Ann"],
    ["tag characters", "Ann\u{e0041}\u{e0042}", "Ann"],
    ["a joiner between Latin letters", "A\u200dn\u200cn", "Ann"],
    ["a blank pattern", "Ann\u2800", "Ann"],
    ["a Hangul filler", "Ann\u3164", "Ann"],
    ["half a character", "Ann\ud83d", "Ann"],
  ])("a name loses %s", (_what, name, plain) => {
    expect(plainName(name)).toBe(plain);
  });

  test.each(["Zoë Müller", "می\u200cخواهم", "क्\u200dष", "李雷", "O'Neil-Smith", "Ann 🦊"])(
    "the name %s stays as it is",
    (name) => {
      expect(plainName(name)).toBe(name);
    },
  );

  test("nothing is left of a name that nobody sees", () => {
    expect([plainName(""), plainName(" \u200b\u2800 ")]).toEqual([undefined, undefined]);
  });
});

describe("an e-mail address", () => {
  test.each([
    ["a line break", "ann@acme.test\r\nBcc: eve@evil.test"],
    ["a trailing line break", "ann@acme.test\n"],
    ["a null character", "ann\u0000@acme.test"],
    ["a space", "ann eve@acme.test"],
    ["a space without a width", "ann@ac\u200bme.test"],
    ["a mark of direction", "ann@\u202eacme.test"],
    ["two at signs", "ann@evil.test@acme.test"],
    ["nothing before the at sign", "@acme.test"],
    ["nothing after the at sign", "ann@"],
    ["a delete character", "ann\u007f@acme.test"],
  ])("a text with %s is none", (_what, text) => {
    expect(isPlainEmail(text)).toBe(false);
  });

  test.each(["ann@acme.test", "ann+ci@acme.test", "änn@bücher.test"])("%s is one", (text) => {
    expect(isPlainEmail(text)).toBe(true);
  });
});
