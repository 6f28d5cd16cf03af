import { beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { SkillLibrary } from "../../../../../src/core/ports/skill-library.ts";
import type { NewRun } from "../../../../../src/core/requests/prepare/new-run.ts";
import { retryOf } from "../../../../../src/core/requests/prepare/retry-of.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";

const FOLDER = ".agents/skills/deploy";

describe("a run of a skill", () => {
  let harness: CoreHarness;
  beforeEach(() => {
    harness = new CoreHarness();
    harness.skills.put("acme/tools", {
      [`${FOLDER}/SKILL.md`]: "---\nname: shipping\n---\nDeploy it with scripts/run.sh.",
      [`${FOLDER}/scripts/run.sh`]: "echo deployed",
    });
  });

  async function perform(request: Partial<NewRun>, readFiles?: SkillLibrary["readFiles"]) {
    await harness.start(readFiles && harness.worker({ skills: { readFiles } }));
    const { id } = await harness.create(request);
    await quiet();
    return id;
  }

  test("a run of a skill has its instructions before the caller's own and the path of its files", async () => {
    await perform({ config: { skill_spec: "acme/tools:deploy", base_prompt: "Softly." } });

    const { basePrompt = "" } = harness.agents.starts[0] ?? {};
    expect(basePrompt.split("\n\n")).toEqual([
      "Deploy it with scripts/run.sh.",
      expect.stringContaining(".skills/deploy, from the working directory"),
      "Softly.",
    ]);
  });

  test("a run of a skill has the files of the skill in its first workspace", async () => {
    await perform({ config: { skill_spec: "acme/tools:deploy" } });

    const [skill] = harness.workspaces.beginnings[0]?.skills ?? [];
    expect(skill?.directory).toBe(".skills/deploy");
    expect(skill?.files.map(({ path }) => path)).toEqual(["SKILL.md", "scripts/run.sh"]);
  });

  test("the agent of a skill without a prompt is told to carry out the skill, in the first turn only", async () => {
    const id = await perform({ prompt: " ", config: { skill_spec: "acme/tools:deploy" } });
    await harness.followUp(id, "And once more.");

    expect(harness.agents.prompts).toEqual([
      'Carry out the skill "shipping", as its instructions say.',
      "And once more.",
    ]);
  });

  test("a run of a skill with a prompt gets that prompt", async () => {
    await perform({ prompt: "The blue one.", config: { skill_spec: "acme/tools:deploy" } });

    expect(harness.agents.prompts).toEqual(["The blue one."]);
  });

  test("a run of a skill keeps the instructions from its creation", async () => {
    const id = await perform({ config: { skill_spec: "acme/tools:deploy" } });
    harness.skills.put("acme/tools", { [`${FOLDER}/SKILL.md`]: "Do something else." });
    await harness.followUp(id, "Again.");

    expect(harness.agents.starts.at(-1)?.basePrompt).toContain("Deploy it with scripts/run.sh.");
    expect((await harness.run(id)).skillSnapshot?.basePrompt).toBe("Deploy it with scripts/run.sh.");
  });

  test("a run with an embedded skill does not look for the skill", async () => {
    const first = await harness.run(await perform({ config: { skill_spec: "acme/tools:deploy" } }));
    harness.skills.put("acme/tools", {});

    const again = await harness.create({
      config: first.config,
      ...(first.skillSnapshot && { skill: first.skillSnapshot }),
    });

    expect(again.skillSnapshot).toEqual(first.skillSnapshot);
  });

  test("a run of a skill fails if the files of the skill are gone", async () => {
    const notFound = new AppError("resource_not_found", "no longer has the commit");
    const id = await perform({ config: { skill_spec: "acme/tools:deploy" } }, () => Promise.reject(notFound));

    const { state, statusMessage } = await harness.run(id);
    expect([state, statusMessage?.errorCode]).toEqual(["FAILED", "environment_setup_failed"]);
    expect(statusMessage?.message).toContain("no longer has the commit");
  });

  test("a run of a skill waits for a while if the repository is unavailable", async () => {
    const away = new AppError("resource_unavailable", "not in time");
    const tries: SkillLibrary["readFiles"][] = [() => Promise.reject(away), harness.skills.readFiles];
    const id = await perform({ config: { skill_spec: "acme/tools:deploy" } }, (...asked) =>
      (tries.shift() ?? harness.skills.readFiles)(...asked),
    );
    expect((await harness.run(id)).state).toBe("PENDING");

    await harness.clock.advance(1_000);

    expect((await harness.run(id)).state).toBe("SUCCEEDED");
  });

  test("a run of a root skill has its files under the name of the repository", async () => {
    harness.skills.put("acme/whole", { "SKILL.md": "All of it.", "lib/a.txt": "a" });
    await perform({ config: { skill_spec: "acme/whole:SKILL.md" } });

    const [skill] = harness.workspaces.beginnings[0]?.skills ?? [];
    expect(skill?.directory).toBe(".skills/whole");
    expect(skill?.files.map(({ path }) => path)).toEqual(["SKILL.md", "lib/a.txt"]);
  });
});

describe("a run with skills in its configuration", () => {
  let harness: CoreHarness;
  beforeEach(async () => {
    harness = new CoreHarness();
    harness.skills.put("acme/tools", {
      ".agents/skills/deploy/SKILL.md": "---\nname: shipping\ndescription: Ships it.\n---\nDeploy it.",
      ".agents/skills/review/SKILL.md": "Review it.",
    });
    harness.skills.put("acme/more", { ".agents/skills/deploy/SKILL.md": "Deploy that." });
  });

  const skills = ["acme/tools:deploy", "acme/more:deploy", "acme/tools:review", "acme/tools:deploy"];
  const places = () =>
    harness.workspaces.beginnings[0]?.skills?.map(({ directory, root }) => `${root} ${directory}`);

  async function perform(request: Partial<NewRun>) {
    await harness.start();
    const { id } = await harness.create({ config: { skills }, ...request });
    await quiet();
    return harness.run(id);
  }

  test("the skills are where the agent looks for them, each with a name of its own", async () => {
    harness.agents.skillFolder = () => ".scripted/skills";

    const run = await perform({});

    expect(places()).toEqual([
      "home .scripted/skills/deploy",
      "home .scripted/skills/deploy-2",
      "home .scripted/skills/review",
    ]);
    expect(harness.agents.starts[0]?.basePrompt).toBeUndefined();
    expect(harness.agents.prompts).toEqual(["Fix it"]);
    expect(run.config.skills).toHaveLength(3);
    expect(run.config).not.toHaveProperty("skill_spec");
    expect(harness.gateways.grants[0]?.repositories).toEqual([
      { owner: "acme", name: "tools", push: false },
      { owner: "acme", name: "more", push: false },
    ]);
  });

  test("an agent that does not look for skills is told where they are", async () => {
    await perform({});

    expect(places()).toEqual([
      "directory .skills/deploy",
      "directory .skills/deploy-2",
      "directory .skills/review",
    ]);
    expect(harness.agents.starts[0]?.basePrompt).toContain("- shipping: .skills/deploy/SKILL.md. Ships it.");
  });

  test("without a prompt the first of the skills is the task", async () => {
    const run = await perform({ prompt: "", provenance: {} });

    expect(run.config).toMatchObject({
      name: "shipping",
      skill_spec: "acme/tools:.agents/skills/deploy/SKILL.md",
    });
    expect(run.provenance.config_layers).toMatchObject({ skills: "request", skill_spec: "request" });
    expect(harness.agents.prompts).toEqual(['Carry out the skill "shipping", as its instructions say.']);
    const { basePrompt = "" } = harness.agents.starts[0] ?? {};
    expect(basePrompt).toMatch(/^Deploy it\./);
    expect(basePrompt).not.toContain("- shipping");
    expect(basePrompt).toContain("- review: .skills/review/SKILL.md");
  });

  test("an unknown skill among them is refused", async () => {
    await expect(harness.create({ config: { skills: ["acme/tools:nothing"] } })).rejects.toMatchObject({
      code: "resource_not_found",
    });
  });

  test("a retried run has the skills as they were", async () => {
    const run = await perform({});
    harness.skills.put("acme/tools", {});
    harness.skills.put("acme/more", {});

    const again = await harness.create(retryOf(run, { creator: await harness.person(), source: "API" }));

    expect(again.skillSnapshots).toEqual(run.skillSnapshots);
    expect(again.config).toEqual(run.config);
  });
});

test("a run without a skill has only the caller's base prompt and no files", async () => {
  const harness = new CoreHarness();
  await harness.start();
  await harness.create({ config: { base_prompt: "Softly." } });
  await quiet();

  expect(harness.agents.starts[0]?.basePrompt).toBe("Softly.");
  expect(harness.workspaces.beginnings).toEqual([{ files: [] }]);
});
