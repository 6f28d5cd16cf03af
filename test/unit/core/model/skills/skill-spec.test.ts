import { describe, expect, test } from "vitest";
import { parseSkillSpec, skillSpecProblem } from "../../../../../src/core/model/skills/skill-spec.ts";

describe("a skill spec", () => {
  test.each([
    ["tools:deploy", { repository: "tools", wanted: { kind: "name", name: "deploy" } }],
    ["acme/tools:deploy", { owner: "acme", repository: "tools", wanted: { kind: "name", name: "deploy" } }],
    [
      "tools:.claude/skills/deploy/SKILL.md",
      { repository: "tools", wanted: { kind: "path", path: ".claude/skills/deploy/SKILL.md" } },
    ],
    [
      "acme/.github:docs/a b/SKILL.md",
      { owner: "acme", repository: ".github", wanted: { kind: "path", path: "docs/a b/SKILL.md" } },
    ],
    [
      "acme/tools:SKILL.md",
      { owner: "acme", repository: "tools", wanted: { kind: "path", path: "SKILL.md" } },
    ],
    ["acme/tools:a:b", { owner: "acme", repository: "tools", wanted: { kind: "name", name: "a:b" } }],
  ])("the skill spec %s is parsed", (text, spec) => {
    expect(parseSkillSpec(text)).toEqual(spec);
    expect(skillSpecProblem(text)).toBeUndefined();
  });

  test.each([
    "",
    "deploy",
    ":deploy",
    "acme/tools:",
    "acme/tools/more:deploy",
    "/tools:deploy",
    "acme/:deploy",
    "../tools:deploy",
    "acme/..:deploy",
    "acme/.:deploy",
    "-uevil/tools:deploy",
    "acme/--upload-pack=x:deploy",
    "ac me/tools:deploy",
    "acme/tools:..",
    "acme/tools:../secret/SKILL.md",
    "acme/tools:a/../SKILL.md",
    "acme/tools:a/./SKILL.md",
    "acme/tools:a//SKILL.md",
    "acme/tools:/etc/SKILL.md",
    "acme/tools:a/README.md",
    "acme/tools:a/SKILL.md/",
    "acme/tools:a\\..\\b/SKILL.md",
    "acme/tools:a\nb/SKILL.md",
    "acme/tools:a\0b",
    "acme/tools:\ud800",
    `acme/tools:${"a".repeat(65)}`,
    `acme/tools:${"a".repeat(500)}/SKILL.md`,
    `${"a".repeat(101)}:deploy`,
  ])("the skill spec %j is refused as invalid input", (text) => {
    expect(skillSpecProblem(text)).toEqual(expect.any(String));
    expect(() => parseSkillSpec(text)).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });
});
