import { expect, test } from "vitest";
import { wayToFiles } from "../../../../src/core/inputs/way-to-files.ts";

test.each([
  ["/runs/1/workspace", ""],
  ["/runs/1/workspace/widgets", "../"],
  ["/runs/1/workspace/a/b", "../../"],
  ["/runs/1/workspaces", ""],
])("from %s the files are at %j", (workingDirectory, way) => {
  expect(wayToFiles({ directory: "/runs/1/workspace", workingDirectory })).toBe(way);
});
