import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KIBIBYTE } from "../../../../src/core/basics/byte-units.ts";
import type { TeamId } from "../../../../src/core/basics/ids.ts";
import type { SkillLibrary } from "../../../../src/core/ports/skill-library.ts";
import { RepositoryMirrors } from "../../../../src/git/repository-mirrors.ts";
import { createGitSkillLibrary } from "../../../../src/git/skills/git-skill-library.ts";
import { reasonToSkipGit } from "../../../support/git-program.ts";
import { GitRepositories } from "../../../support/git-repositories.ts";
import { SILENT_LOG } from "../../../support/logs.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const TEAM = "team-1" as TeamId;

const skipped = reasonToSkipGit();
describe.skipIf(skipped !== undefined)(`skills in git${skipped === undefined ? "" : ` (${skipped})`}`, () => {
  let repositories: GitRepositories;
  let dataDir: string;
  let mirrors: RepositoryMirrors;
  let library: SkillLibrary;

  beforeAll(async () => {
    repositories = await GitRepositories.create();
    dataDir = await mkdtemp(join(tmpdir(), "errand-skills-"));
    const [clock, authorize] = [new ManualClock(), async () => undefined];
    mirrors = new RepositoryMirrors({
      dataDir,
      baseUrl: repositories.fileUrl,
      authorize,
      clock,
      log: SILENT_LOG,
    });
    library = createGitSkillLibrary(mirrors);
  });
  afterAll(async () => {
    mirrors.close();
    await Promise.all([repositories.remove(), rm(dataDir, { recursive: true })]);
  });

  const repositoryNamed = (name: string) => ({ teamId: TEAM, owner: "acme", name });
  const skillAt = (name: string) => `.agents/skills/${name}/SKILL.md`;

  test("a skill of more than 64 KiB is refused by name and by path, and left out of lists", async () => {
    await repositories.commit("acme/long", {
      [skillAt("just")]: "x".repeat(64 * KIBIBYTE),
      [skillAt("over")]: "x".repeat(64 * KIBIBYTE + 1),
    });
    const repository = repositoryNamed("long");

    expect((await library.list(repository, "now")).map(({ name }) => name)).toEqual(["just"]);
    for (const query of [
      { kind: "name", name: "over" },
      { kind: "path", path: skillAt("over") },
    ] as const) {
      await expect(library.find(repository, query)).rejects.toMatchObject({
        code: "operation_not_supported",
      });
    }
  });

  test("at most 200 skills of a repository are listed", async () => {
    const names = Array.from({ length: 201 }, (_, index) => `s${index}`);
    await repositories.commit("acme/many", Object.fromEntries(names.map((name) => [skillAt(name), name])));

    const skills = await library.list(repositoryNamed("many"), "now");

    expect(skills).toHaveLength(200);
    expect(skills.every(({ name, basePrompt }) => name === basePrompt)).toBe(true);
  });

  test("links to skills and links inside skills are ignored", async () => {
    await repositories.commit("acme/links", {
      [skillAt("real")]: "Real.",
      [skillAt("linked")]: { mode: "120000", text: "../real/SKILL.md" },
      ".claude/skills": { mode: "120000", text: "../.agents/skills" },
      ".agents/skills/real/passwd": { mode: "120000", text: "/etc/passwd" },
      ".agents/skills/real/run.sh": { mode: "100755", text: "#!/bin/sh" },
    });
    const repository = repositoryNamed("links");

    const skills = await library.list(repository, "now");
    const linked = await library.find(repository, { kind: "path", path: skillAt("linked") });
    const files = skills[0] && (await library.readFiles({ teamId: TEAM }, skills[0]));

    expect(skills.map(({ path }) => path)).toEqual([skillAt("real")]);
    expect(linked).toBeUndefined();
    expect(files?.map(({ isExecutable, path }) => [path, isExecutable])).toEqual([
      ["SKILL.md", false],
      ["run.sh", true],
    ]);
  });

  test("a skill with too many files or too many bytes cannot be read", async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => [`.agents/skills/many/${index}`, ""] as const);
    const large = Array.from({ length: 33 }, (_, index) => [
      `.agents/skills/large/${index}`,
      "x".repeat(KIBIBYTE ** 2),
    ]);
    await repositories.commit("acme/heavy", {
      [skillAt("large")]: "Large.",
      [skillAt("many")]: "Many.",
      ...Object.fromEntries([...many, ...large]),
    });

    const skills = await library.list(repositoryNamed("heavy"), "now");

    expect(skills).toHaveLength(2);
    for (const skill of skills) {
      await expect(library.readFiles({ teamId: TEAM }, skill)).rejects.toMatchObject({
        code: "environment_setup_failed",
      });
    }
  });

  test("an empty repository has no skills", async () => {
    await repositories.make("acme/empty");

    expect(await library.list(repositoryNamed("empty"), "now")).toEqual([]);
    expect(await library.find(repositoryNamed("empty"), { kind: "name", name: "x" })).toBeUndefined();
  });
});
