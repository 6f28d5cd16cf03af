import { beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../src/core/errors.ts";
import type { SkillLibrary } from "../../../../src/core/ports/skill-library.ts";
import type { NewRun } from "../../../../src/core/runs/new-run.ts";
import { CoreBench } from "../../../support/core-bench.ts";
import { quiet } from "../../../support/manual-clock.ts";

const FOLDER = ".agents/skills/deploy";

describe("a run of a skill", () => {
  let bench: CoreBench;
  beforeEach(() => {
    bench = new CoreBench();
    bench.skills.put("acme/tools", {
      [`${FOLDER}/SKILL.md`]: "---\nname: shipping\n---\nDeploy it with scripts/run.sh.",
      [`${FOLDER}/scripts/run.sh`]: "echo deployed",
    });
  });

  async function perform(request: Partial<NewRun>, readFiles?: SkillLibrary["readFiles"]) {
    await bench.start(readFiles && bench.worker({ skills: { readFiles } }));
    const { id } = await bench.create(request);
    await quiet();
    return id;
  }

  test("has its instructions before the caller's own, and says where its files are", async () => {
    await perform({ config: { skill_spec: "acme/tools:deploy", base_prompt: "Softly." } });

    const { basePrompt = "" } = bench.agents.starts[0] ?? {};
    expect(basePrompt.split("\n\n")).toEqual([
      "Deploy it with scripts/run.sh.",
      expect.stringContaining(".skills/deploy, from the working directory"),
      "Softly.",
    ]);
  });

  test("has the skill's files in its first workspace", async () => {
    await perform({ config: { skill_spec: "acme/tools:deploy" } });

    const { skill } = bench.workspaces.beginnings[0] ?? {};
    expect(skill?.directory).toBe(".skills/deploy");
    expect(skill?.files.map(({ path }) => path)).toEqual(["SKILL.md", "scripts/run.sh"]);
  });

  test("is told to carry it out where nothing else is asked, in the first turn alone", async () => {
    const id = await perform({ prompt: " ", config: { skill_spec: "acme/tools:deploy" } });
    await bench.followUp(id, "And once more.");

    expect(bench.agents.prompts).toEqual([
      'Carry out the skill "shipping", as its instructions say.',
      "And once more.",
    ]);
  });

  test("is told what is asked", async () => {
    await perform({ prompt: "The blue one.", config: { skill_spec: "acme/tools:deploy" } });

    expect(bench.agents.prompts).toEqual(["The blue one."]);
  });

  test("goes on with what the skill said when it was created", async () => {
    const id = await perform({ config: { skill_spec: "acme/tools:deploy" } });
    bench.skills.put("acme/tools", { [`${FOLDER}/SKILL.md`]: "Do something else." });
    await bench.followUp(id, "Again.");

    expect(bench.agents.starts.at(-1)?.basePrompt).toContain("Deploy it with scripts/run.sh.");
    expect((await bench.run(id)).skillSnapshot?.basePrompt).toBe("Deploy it with scripts/run.sh.");
  });

  test("that brings its skill along does not look for it again", async () => {
    const first = await bench.run(await perform({ config: { skill_spec: "acme/tools:deploy" } }));
    bench.skills.put("acme/tools", {});

    const again = await bench.create({
      config: first.config,
      ...(first.skillSnapshot && { skill: first.skillSnapshot }),
    });

    expect(again.skillSnapshot).toEqual(first.skillSnapshot);
  });

  test("fails where the files of the skill are gone", async () => {
    const gone = new AppError("resource_not_found", "no longer has the commit");
    const id = await perform({ config: { skill_spec: "acme/tools:deploy" } }, () => Promise.reject(gone));

    const { state, statusMessage } = await bench.run(id);
    expect([state, statusMessage?.errorCode]).toEqual(["FAILED", "environment_setup_failed"]);
    expect(statusMessage?.message).toContain("no longer has the commit");
  });

  test("waits for a while where the repository is away", async () => {
    const away = new AppError("resource_unavailable", "not in time");
    const tries: SkillLibrary["readFiles"][] = [() => Promise.reject(away), bench.skills.readFiles];
    const id = await perform({ config: { skill_spec: "acme/tools:deploy" } }, (...asked) =>
      (tries.shift() ?? bench.skills.readFiles)(...asked),
    );
    expect((await bench.run(id)).state).toBe("PENDING");

    await bench.clock.advance(1_000);

    expect((await bench.run(id)).state).toBe("SUCCEEDED");
  });

  test("of a root skill has its files by the repository's name", async () => {
    bench.skills.put("acme/whole", { "SKILL.md": "All of it.", "lib/a.txt": "a" });
    await perform({ config: { skill_spec: "acme/whole:SKILL.md" } });

    const { skill } = bench.workspaces.beginnings[0] ?? {};
    expect(skill?.directory).toBe(".skills/whole");
    expect(skill?.files.map(({ path }) => path)).toEqual(["SKILL.md", "lib/a.txt"]);
  });
});

test("a run without a skill has the caller's base prompt alone, and no files", async () => {
  const bench = new CoreBench();
  await bench.start();
  await bench.create({ config: { base_prompt: "Softly." } });
  await quiet();

  expect(bench.agents.starts[0]?.basePrompt).toBe("Softly.");
  expect(bench.workspaces.beginnings).toEqual([{ files: [] }]);
});
