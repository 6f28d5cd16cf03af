import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "vitest";
import { RepositoryMirrors } from "../../src/git/repository-mirrors.ts";
import { createGitSkillLibrary } from "../../src/git/skills/git-skill-library.ts";
import { reasonToSkipGit } from "../support/git-program.ts";
import { GitRepositories } from "../support/git-repositories.ts";
import { SILENT_LOG } from "../support/logs.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { InMemorySkillLibrary } from "../support/memory/in-memory-skill-library.ts";
import { describeSkillLibrary } from "./skill-library-contract.ts";

describeSkillLibrary("memory", async () => {
  const library = new InMemorySkillLibrary();
  return { library, put: async (name, files) => library.put(name, files), close: async () => undefined };
});

const skipped = reasonToSkipGit();
describe.skipIf(skipped !== undefined)(`with git${skipped === undefined ? "" : ` (${skipped})`}`, () => {
  describeSkillLibrary("git", async () => {
    const repositories = await GitRepositories.create();
    const dataDir = await mkdtemp(join(tmpdir(), "errand-skills-"));
    const mirrors = new RepositoryMirrors({
      dataDir,
      baseUrl: repositories.fileUrl,
      authorize: async () => undefined,
      clock: new ManualClock(),
      log: SILENT_LOG,
    });
    return {
      library: createGitSkillLibrary(mirrors),
      put: async (name, files) => void (await repositories.commit(name, files)),
      close: async () => {
        mirrors.close();
        await Promise.all([repositories.remove(), rm(dataDir, { recursive: true })]);
      },
    };
  });
});
