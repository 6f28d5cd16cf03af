import { beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { PrincipalId, TeamId } from "../../../../../src/core/basics/ids.ts";
import type { SkillLibrary } from "../../../../../src/core/ports/skill-library.ts";
import { SkillCatalogue, type SkillQuery } from "../../../../../src/core/requests/skills/skill-catalogue.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";
import { InMemorySkillLibrary } from "../../../../support/memory/in-memory-skill-library.ts";

const VIEWER = { id: "p-1" as PrincipalId, teamId: "team-1" as TeamId, administrator: false };
const skills = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [`.agents/skills/${name}/SKILL.md`, `${name}.`]));

describe("the catalogue of skills", () => {
  let library: InMemorySkillLibrary;
  let lastRuns: Map<string, Date>;
  const reads: { teamId: string; freshness: string }[] = [];
  const logged: string[] = [];

  beforeEach(() => {
    library = new InMemorySkillLibrary();
    lastRuns = new Map();
    logged.length = 0;
    reads.length = 0;
    library.put("acme/tools", skills("deploy", "review"));
    library.put("acme/more", skills("Audit", "deploy"));
    library.put("else/where", skills("hidden"));
  });

  const ENVIRONMENTS = [anEnvironment("e-1", "acme/tools"), anEnvironment("e-2", "acme/more", "Acme/Tools")];

  function catalogue(broken: Readonly<Record<string, AppError>> = {}): SkillCatalogue {
    const list: SkillLibrary["list"] = async (repository, freshness) => {
      reads.push({ teamId: repository.teamId, freshness });
      const failure = broken[repository.name];
      if (failure !== undefined) {
        throw failure;
      }
      return library.list(
        { ...repository, owner: repository.owner.toLowerCase(), name: repository.name.toLowerCase() },
        freshness,
      );
    };
    const log = (message: string) => void logged.push(message);
    return new SkillCatalogue({
      library: { list },
      history: { lastRuns: async () => lastRuns },
      environments: { list: async () => ENVIRONMENTS },
      log: { info: log, warn: log, error: log },
    });
  }

  const list = (query: Partial<SkillQuery> = {}, of = catalogue()) =>
    of.list(VIEWER, { freshness: "recent", sort: "name", ...query });
  const namesOf = async (groups: ReturnType<typeof list>) => (await groups).map(({ name }) => name);

  test("the catalogue has the skills of all environments by name with their environments", async () => {
    const groups = await list();

    expect(
      groups.map(({ name, variants }) => [
        name,
        variants.map(({ skill, environments }) => [skill.repository.name, environments.map(({ id }) => id)]),
      ]),
    ).toEqual([
      ["Audit", [["more", ["e-2"]]]],
      [
        "deploy",
        [
          ["tools", ["e-1", "e-2"]],
          ["more", ["e-2"]],
        ],
      ],
      ["review", [["tools", ["e-1", "e-2"]]]],
    ]);
  });

  test("the catalogue reads each repository once per team, and again if a fresh read is requested", async () => {
    await list({ freshness: "now" });

    expect(reads).toEqual(Array(2).fill({ teamId: "team-1", freshness: "now" }));
  });

  test("the catalogue can be limited to one repository, whether or not an environment has it", async () => {
    expect(await namesOf(list({ repository: { owner: "else", name: "where" } }))).toEqual(["hidden"]);
    expect(await namesOf(list({ repository: { owner: "acme", name: "tools" } }))).toEqual([
      "deploy",
      "review",
    ]);
  });

  test("the catalogue can be sorted by the last run, followed by unused skills by name", async () => {
    lastRuns.set("acme/tools:.agents/skills/review/SKILL.md", new Date(1_000));
    lastRuns.set("acme/more:.agents/skills/deploy/SKILL.md", new Date(2_000));
    library.put("acme/tools", skills("deploy", "review", "b"));

    const groups = await list({ sort: "last_run" });

    expect(groups.map(({ name }) => name)).toEqual(["deploy", "review", "Audit", "b"]);
    expect(groups[0]?.variants.map(({ lastRunAt }) => lastRunAt)).toEqual([undefined, new Date(2_000)]);
  });

  test.each(["resource_not_found", "resource_unavailable", "operation_not_supported"] as const)(
    "the catalogue leaves out a repository that fails with %s, and logs that",
    async (code) => {
      const groups = list({}, catalogue({ more: new AppError(code, "broken") }));

      expect(await namesOf(groups)).toEqual(["deploy", "review"]);
      expect(logged).toEqual(["skills.repository.skipped"]);
    },
  );

  test("the catalogue says why if no repository can be read", async () => {
    const away = new AppError("resource_unavailable", "away");
    const notFound = new AppError("resource_not_found", "gone");

    await expect(list({}, catalogue({ more: away, tools: notFound }))).rejects.toBe(away);
    expect(await list({}, catalogue({ more: notFound, tools: notFound }))).toEqual([]);
  });

  test("the catalogue says why if the requested repository cannot be read", async () => {
    const notFound = new AppError("resource_not_found", "gone");
    const repository = { owner: "acme", name: "more" };

    await expect(list({ repository }, catalogue({ more: notFound }))).rejects.toBe(notFound);
  });
});
