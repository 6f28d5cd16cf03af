import { expect, test } from "vitest";
import { pathToFiles } from "../../../../src/core/inputs/path-to-files.ts";

test.each([
  ["/runs/1/workspace", ""],
  ["/runs/1/workspace/widgets", "../"],
  ["/runs/1/workspace/a/b", "../../"],
  ["/runs/1/workspaces", ""],
])("seen from %s the files are at %j", (workingDirectory, way) => {
  expect(pathToFiles({ directory: "/runs/1/workspace", workingDirectory })).toBe(way);
});
