import { beforeEach, describe, expect, test } from "vitest";
import type { PrincipalId, TeamId } from "../../../../../src/core/basics/ids.ts";
import type { Environment } from "../../../../../src/core/model/workspaces/environment.ts";
import { SkillFinder } from "../../../../../src/core/requests/skills/skill-finder.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";
import { InMemorySkillLibrary } from "../../../../support/memory/in-memory-skill-library.ts";

const VIEWER = { id: "p-1" as PrincipalId, teamId: "team-1" as TeamId };
const skillAt = (name: string, body: string) => ({ [`.agents/skills/${name}/SKILL.md`]: body });

describe("a skill named in a request", () => {
  let library: InMemorySkillLibrary;
  let finder: SkillFinder;
  let environments: Environment[];

  beforeEach(() => {
    library = new InMemorySkillLibrary();
    library.put("acme/tools", skillAt("deploy", "Acme's."));
    library.put("other/tools", skillAt("deploy", "The other's."));
    environments = [];
    finder = new SkillFinder({ library, environments: { list: async () => environments } });
  });

  function environment(id: string, ...names: string[]): void {
    environments.push(anEnvironment(id, ...names));
  }

  const find = async (spec: string, environmentId?: string) =>
    (await finder.find(spec, { viewer: VIEWER, environmentId })).basePrompt;

  test("a skill named with its owner is taken from that owner, whatever the environments are", async () => {
    environment("e-1", "other/tools");

    expect(await find("acme/tools:deploy")).toBe("Acme's.");
    expect(await find("acme/tools:.agents/skills/deploy/SKILL.md")).toBe("Acme's.");
  });

  test("a skill named without an owner is taken from the run's environment", async () => {
    environment("e-1", "other/tools");
    environment("e-2", "acme/x", "acme/tools");

    expect(await find("tools:deploy", "e-2")).toBe("Acme's.");
    expect(await find("Tools:deploy", "e-1")).toBe("The other's.");
  });

  test("a skill named without an owner is taken from the repository of the request, before any environment", async () => {
    environment("e-1", "other/tools");
    const asker = { viewer: VIEWER, repository: { owner: "acme", name: "tools" } };

    expect((await finder.find("tools:deploy", asker)).basePrompt).toBe("Acme's.");
  });

  test("a skill named without an owner is found in any environment if one repository has the name", async () => {
    environment("e-1", "acme/tools");
    environment("e-2", "acme/Tools", "acme/x");
    environment("e-3");

    expect(await find("tools:deploy")).toBe("Acme's.");
    expect(await find("tools:deploy", "e-3")).toBe("Acme's.");
  });

  test("a skill named without an owner is refused if several repositories have the name", async () => {
    environment("e-1", "acme/tools");
    environment("e-2", "other/tools");

    await expect(find("tools:deploy")).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("acme/tools, other/tools"),
    });
  });

  test("a skill named without an owner is unknown if no repository has the name", async () => {
    environment("e-1", "acme/x");

    await expect(find("tools:deploy")).rejects.toMatchObject({
      code: "resource_not_found",
      options: { remedy: expect.stringContaining("owner/repo:skill") },
    });
  });

  test.each([
    ["acme/tools:nothing", 'called "nothing"'],
    ["acme/tools:a/SKILL.md", "at a/SKILL.md"],
  ])("%s is unknown, and the answer says how to list the skills", async (spec, words) => {
    await expect(find(spec)).rejects.toMatchObject({
      code: "resource_not_found",
      message: `acme/tools has no skill ${words}.`,
      options: { remedy: expect.stringContaining("/agent?repo=acme/tools") },
    });
  });
});
