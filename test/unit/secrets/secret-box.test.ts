import { describe, expect, test } from "vitest";
import { createSecretBox } from "../../../src/secrets/secret-box.ts";

const key = (fill: number): string => Buffer.alloc(32, fill).toString("base64url");
const [OLD, NEW, OTHER] = [key(1), key(2), key(3)];
const OWNER = "secret:team:owner:TOKEN";
const REFUSAL = "A sealed value cannot be opened with the keys that are set.";

describe("a sealed value", () => {
  test("a sealed value opens for its owner, whatever it is", () => {
    const box = createSecretBox([OLD]);

    for (const text of ["hunter2", "", "\u{1f600} ünï\ncode", "x".repeat(64 * 1024)]) {
      expect(box.open(box.seal(text, OWNER), OWNER)).toBe(text);
    }
  });

  test("a sealed value differs each time and contains nothing of the text", () => {
    const box = createSecretBox([OLD]);
    const sealed = Array.from({ length: 100 }, () => box.seal("hunter2hunter2", OWNER));
    const nonces = sealed.map((each) => Buffer.from(each.split(".")[2] ?? "", "base64url").subarray(0, 12));

    expect(new Set(sealed).size).toBe(100);
    expect(new Set(nonces.map((nonce) => nonce.toString("hex"))).size).toBe(100);
    for (const each of sealed) {
      expect(Buffer.from(each, "base64url").toString("latin1")).not.toContain("hunter");
    }
  });

  test("a sealed value does not open in the place of another", () => {
    const box = createSecretBox([OLD]);
    const sealed = box.seal("hunter2", OWNER);

    for (const owner of [
      "secret:team:owner:TOKEN2",
      "secret:other:owner:TOKEN",
      "secret:team:other:TOKEN",
      "",
    ]) {
      expect(() => box.open(sealed, owner)).toThrow(REFUSAL);
    }
  });

  test("a sealed value does not open with any of its bits flipped", () => {
    const box = createSecretBox([OLD]);
    const [version, keyId, payload = ""] = box.seal("hunter2", OWNER).split(".");
    const bytes = Buffer.from(payload, "base64url");

    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const sealed = [version, keyId, flipped.toString("base64url")].join(".");
      expect(() => box.open(sealed, OWNER)).toThrow(REFUSAL);
    }
  });

  test("a sealed value does not open with another key or under another key's name", () => {
    const sealed = createSecretBox([OLD]).seal("hunter2", OWNER);
    const other = createSecretBox([OTHER]);
    const [, otherId] = other.seal("", OWNER).split(".");
    const [version, , payload] = sealed.split(".");

    expect(() => other.open(sealed, OWNER)).toThrow(REFUSAL);
    expect(() => other.open([version, otherId, payload].join("."), OWNER)).toThrow(REFUSAL);
  });

  test.each(["", "v1", "v1.x", "v2.x.y", "v1..", "hunter2"])("the text %j is no sealed value", (sealed) => {
    expect(() => createSecretBox([OLD]).open(sealed, OWNER)).toThrow(REFUSAL);
  });
});

describe("a new key", () => {
  const before = createSecretBox([OLD]);
  const both = createSecretBox([NEW, OLD]);
  const after = createSecretBox([NEW]);

  test("a new key takes over while both keys are valid", () => {
    const [old, fresh] = [before.seal("old", OWNER), both.seal("fresh", OWNER)];

    expect([both.open(old, OWNER), both.open(fresh, OWNER)]).toEqual(["old", "fresh"]);
    expect(after.open(fresh, OWNER)).toBe("fresh");
    expect(() => after.open(old, OWNER)).toThrow(REFUSAL);
    expect(() => before.open(fresh, OWNER)).toThrow(REFUSAL);
  });

  test("a sealed value names its key without revealing the key", () => {
    const ids = [before, both, after].map((box) => box.seal("x", OWNER).split(".")[1]);

    expect(ids[1]).toBe(ids[2]);
    expect(ids[0]).not.toBe(ids[1]);
    for (const each of [OLD, NEW]) {
      expect(each).not.toContain(ids[1]);
    }
  });
});
