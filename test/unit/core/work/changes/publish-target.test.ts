import { expect, test } from "vitest";
import type { ConfigLayer } from "../../../../../src/core/model/runs/run.ts";
import { publishTargetsOf } from "../../../../../src/core/work/changes/publish-target.ts";

const HOME = { owner: "acme", name: "web" };

function targetsOf(head: object | undefined, pull_request: "draft" | "off" | "ready", layer: ConfigLayer) {
  const provenance = { repository: { full_name: "acme/web" }, head, config_layers: { pull_request: layer } };
  return publishTargetsOf(
    { run: { config: { pull_request }, provenance }, plan: { repositories: [] } },
    "draft",
  );
}

test("work on a pull request goes onto its branch, although the file of the repository names pull requests", () => {
  const head = { branch: "fix", may_push: true };

  expect(targetsOf(head, "ready", "repository_file")).toEqual([
    { ...HOME, base: "fix", ontoBase: true, setting: "ready" },
  ]);
  expect(targetsOf(head, "ready", "request")).toEqual([{ ...HOME, base: "fix", setting: "ready" }]);
});

test("the file of the repository comes before the operator's default", () => {
  expect(targetsOf(undefined, "ready", "repository_file")).toEqual([{ ...HOME, setting: "ready" }]);
  expect(targetsOf(undefined, "off", "repository_file")).toEqual([{ ...HOME, setting: "off" }]);
});
