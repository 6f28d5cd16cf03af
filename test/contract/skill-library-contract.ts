import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TeamId } from "../../src/core/basics/ids.ts";
import type { TeamRepository } from "../../src/core/model/repositories/repository-name.ts";
import type { SkillLibrary } from "../../src/core/ports/skill-library.ts";

export interface SkillLibraryHarness {
  readonly library: SkillLibrary;
  put(repository: string, files: Readonly<Record<string, string>>): Promise<void>;
  close(): Promise<void>;
}

const REPOSITORY: TeamRepository = { teamId: "team-1" as TeamId, owner: "acme", name: "tools" };

const FILES = {
  "README.md": "not a skill",
  "SKILL.md": "At the root.",
  "deep/in/here/SKILL.md": "---\ndescription: Far from the folders.\n---\nDeep.",
  ".claude/skills/deploy/SKILL.md": "---\nname: deploy\ndescription: From Claude's folder.\n---\nDeploy it.",
  ".claude/skills/deploy/scripts/SKILL.md": "Not a skill of the folder: too deep.",
  ".claude/skills/SKILL.md": "Not a skill of the folder: too high.",
  ".claude/skills-old/gone/SKILL.md": "Not in a folder of skills.",
  ".agents/skills/deploy/SKILL.md":
    "---\nname: deploy\ndescription: From the first folder.\n---\nDeploy it well.",
  ".agents/skills/with space/SKILL.md": "---\nname: spaced\n---\nSpaced.",
  ".codex/skills/größe/SKILL.md": "Groß.",
  ".kiro/skills/spaced/SKILL.md": "---\nname: other\n---\nIn a folder of that name.",
};

/** What every library of skills promises. */
export function describeSkillLibrary(name: string, open: () => Promise<SkillLibraryHarness>): void {
  describe(`the ${name} library of skills`, () => {
    let harness: SkillLibraryHarness;
    beforeAll(async () => {
      harness = await open();
      await harness.put("acme/tools", FILES);
      await harness.put("acme/none", { "README.md": "no skills here" });
    });
    afterAll(() => harness.close());

    const find = async (wanted: Parameters<SkillLibrary["find"]>[1]) =>
      harness.library.find(REPOSITORY, wanted);

    test("a library of skills lists the skills of the folders that agents know, in the order of the folders", async () => {
      const skills = await harness.library.list(REPOSITORY, "recent");

      expect(skills.map(({ name: called, path }) => [called, path])).toEqual([
        ["deploy", ".agents/skills/deploy/SKILL.md"],
        ["spaced", ".agents/skills/with space/SKILL.md"],
        ["deploy", ".claude/skills/deploy/SKILL.md"],
        ["größe", ".codex/skills/größe/SKILL.md"],
        ["other", ".kiro/skills/spaced/SKILL.md"],
      ]);
    });

    test("a library of skills returns a skill with its text and the commit that was read", async () => {
      const skill = await find({ kind: "name", name: "deploy" });

      expect(skill).toEqual({
        name: "deploy",
        description: "From the first folder.",
        repository: { owner: "acme", name: "tools" },
        path: ".agents/skills/deploy/SKILL.md",
        commit: expect.stringMatching(/^[\da-f]{40}$/),
        basePrompt: "Deploy it well.",
      });
    });

    test.each([
      ["the name of its folder before what others call themselves", "spaced", ".kiro/skills/spaced/SKILL.md"],
      ["what it calls itself", "other", ".kiro/skills/spaced/SKILL.md"],
      ["a name with letters of all kinds", "größe", ".codex/skills/größe/SKILL.md"],
    ])("a library of skills finds a skill by %s", async (_how, name, path) => {
      expect((await find({ kind: "name", name }))?.path).toBe(path);
    });

    test.each([
      [".claude/skills/deploy/SKILL.md", "deploy", "Deploy it."],
      ["deep/in/here/SKILL.md", "here", "Deep."],
      ["SKILL.md", "tools", "At the root."],
    ])("a library of skills finds the skill at %s, wherever it lies", async (path, name, basePrompt) => {
      expect(await find({ kind: "path", path })).toMatchObject({ path, name, basePrompt });
    });

    test.each([
      ["another name", { kind: "name", name: "nothing" }],
      ["the name of a folder further down", { kind: "name", name: "scripts" }],
      ["a path where nothing is", { kind: "path", path: ".claude/skills/nothing/SKILL.md" }],
      ["a path with what could be a pattern", { kind: "path", path: ".claude/skills/*/SKILL.md" }],
      ["a path with what could be a command", { kind: "path", path: ":(glob).claude/skills/*/SKILL.md" }],
      ["a folder", { kind: "path", path: ".claude/skills" }],
    ] as const)("a library of skills finds nothing for %s", async (_what, wanted) => {
      expect(await find(wanted)).toBeUndefined();
    });

    test("a library of skills reads the files of a skill as they were when it was found", async () => {
      const repository = { ...REPOSITORY, name: "changing" };
      const files = (word: string) => ({
        "README.md": "not the skill's",
        ".agents/skills/a/SKILL.md": `${word} SKILL.md`,
        ".agents/skills/a/scripts/größe.sh": `${word} script`,
        ".agents/skills/ab/SKILL.md": "another skill, with a name that begins so",
      });
      await harness.put("acme/changing", files("Old"));
      const skill = await harness.library.find(repository, { kind: "name", name: "a" });
      await harness.put("acme/changing", files("New"));
      await harness.library.list(repository, "now");

      const read = skill && (await harness.library.readFiles(REPOSITORY, skill));

      expect(read?.map(({ path, bytes }) => [path, new TextDecoder().decode(bytes)])).toEqual([
        ["SKILL.md", "Old SKILL.md"],
        ["scripts/größe.sh", "Old script"],
      ]);
    });

    test("a library of skills has nothing to list where there are no skills", async () => {
      expect(await harness.library.list({ ...REPOSITORY, name: "none" }, "now")).toEqual([]);
    });

    test("a library of skills says that a repository is not there", async () => {
      const nowhere = { ...REPOSITORY, name: "nowhere" };

      await expect(harness.library.list(nowhere, "recent")).rejects.toMatchObject({
        code: "resource_not_found",
      });
      await expect(harness.library.find(nowhere, { kind: "name", name: "deploy" })).rejects.toMatchObject({
        code: "resource_not_found",
      });
    });

    test("a library of skills sees a new commit at once when asked for what is there now", async () => {
      const repository = { ...REPOSITORY, name: "moving" };
      await harness.put("acme/moving", { ".agents/skills/a/SKILL.md": "Old." });
      const before = await harness.library.list(repository, "recent");
      await harness.put("acme/moving", { ".agents/skills/b/SKILL.md": "New." });

      const after = await harness.library.list(repository, "now");

      expect([before, after].map((skills) => skills.map(({ basePrompt }) => basePrompt))).toEqual([
        ["Old."],
        ["New."],
      ]);
    });
  });
}
