import { expect, test } from "vitest";
import { seatbeltProfile } from "../../../src/sandboxes/seatbelt/seatbelt-profile.ts";

const RULES = {
  dataDir: "/Users/ann/errand/.errand",
  readable: ["/Users/ann/errand/src"],
  writable: ["/Users/ann/errand/.errand/runs/1/workspace"],
};

/** The lines that mention this text, in order. */
function linesWith(profile: string, text: string): readonly string[] {
  return profile.split("\n").filter((line) => line.includes(text));
}

test("the seatbelt profile denies by default, and allows only the named directories after the denied ones", () => {
  const profile = seatbeltProfile(RULES);

  expect(profile.split("\n").slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
  expect(linesWith(profile, "subpath").slice(-3)).toEqual([
    '(deny file-read* file-write* (subpath "/Users/ann/errand/.errand") (subpath "/Users") (subpath "/private/var/root") (subpath "/Volumes"))',
    '(allow file-read* (subpath "/Users/ann/errand/src"))',
    '(allow file-read* file-write* (subpath "/Users/ann/errand/.errand/runs/1/workspace"))',
  ]);
});

test("the seatbelt profile shows of the folders above only that they exist", () => {
  const [line] = linesWith(seatbeltProfile(RULES), "file-read-metadata");

  expect(line).toContain('(literal "/Users/ann/errand/.errand/runs/1")');
  expect(line).not.toContain("subpath");
});

test("the seatbelt profile allows one port of the loopback as the only network", () => {
  const closed = seatbeltProfile(RULES);
  const open = seatbeltProfile({ ...RULES, hostPort: 4_111 });

  expect(linesWith(closed, "network")).toEqual(["(deny network*)"]);
  expect(linesWith(open, "network")).toEqual([
    "(deny network*)",
    '(allow network-outbound (remote tcp "localhost:4111"))',
  ]);
});

test("the seatbelt profile cannot be extended by the name of a directory", () => {
  const hostile = '/w/") (subpath "/';

  const profile = seatbeltProfile({ ...RULES, writable: [hostile] });

  expect(linesWith(profile, "/w/")).toContain(
    '(allow file-read* file-write* (subpath "/w/\\") (subpath \\"/"))',
  );
});

test("the seatbelt profile has no rule without a path", () => {
  const profile = seatbeltProfile({ ...RULES, readable: [], writable: [] });

  expect(linesWith(profile, "allow file").every((line) => /subpath|literal/.test(line))).toBe(true);
});
