import { expect, test } from "vitest";
import { compareVersions } from "../../../src/agents/install/compare-versions.ts";

test("versions are ordered as semantic versions are", () => {
  const ordered = [
    "0.9.0",
    "0.10.0",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc-1",
    "1.0.0",
    "1.0.1",
    "2.0.0",
  ];

  expect(ordered.toReversed().toSorted(compareVersions)).toEqual(ordered);
  expect(compareVersions("1.2.3+build.7", "1.2.3")).toBe(0);
});
