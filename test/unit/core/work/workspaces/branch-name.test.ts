import { expect, test } from "vitest";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import { isRefName } from "../../../../../src/core/model/repositories/repository-name.ts";
import { branchOf } from "../../../../../src/core/work/workspaces/branch-name.ts";

const id = "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d70" as RunId;

test.each([
  ["Fix the login", "errand/3f8a1c2b4d70-fix-the-login"],
  ["  Größe & Übersicht: 2 Fälle!", "errand/3f8a1c2b4d70-gro-e-ubersicht-2-falle"],
  ["../../main.lock @{u} ~^:?*[\\", "errand/3f8a1c2b4d70-main-lock-u"],
  ["-rf --force", "errand/3f8a1c2b4d70-rf-force"],
  ["ログインを直す", "errand/3f8a1c2b4d70"],
  [`${"word ".repeat(30)}`, `errand/3f8a1c2b4d70-${Array(8).fill("word").join("-")}`],
  ["x".repeat(300), "errand/3f8a1c2b4d70"],
])("the work of a run with the title %j goes to %s", (title, branch) => {
  const name = branchOf({ id, title });

  expect(name).toBe(branch);
  expect(isRefName(name)).toBe(true);
});
