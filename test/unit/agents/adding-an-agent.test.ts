import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createCatalogue } from "../../../src/agents/catalogue.ts";
import { SKILL_FOLDERS } from "../../../src/git/skills/skill-folders.ts";

const ROOT = join(import.meta.dirname, "../../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** The agents that are installed from npm. */
const AGENTS = [...createCatalogue().values()].filter(({ isDemo }) => !isDemo).map(({ name }) => name);

/** The parts of the list in docs/agents.md that no other test needs. */
const PARTS: Readonly<Record<string, (agent: string) => boolean>> = {
  "its README": (agent) => existsSync(join(ROOT, `src/agents/${agent}/README.md`)),
  "its row in docs/agents.md": (agent) =>
    read("docs/agents.md").includes(`| [\`${agent}\`](../src/agents/${agent}/README.md) `),
  "its name for people in web/src/run/names.ts": (agent) =>
    read("web/src/run/names.ts").includes(`\n  ${agent}: "`),
  "its folder of skills": (agent) => SKILL_FOLDERS.includes(`.${agent}/skills`),
  "its test with the real program": (agent) =>
    existsSync(join(ROOT, `test/integration/agents/real-${agent}.test.ts`)),
  "its recorded messages": (agent) => existsSync(join(ROOT, `test/fixtures/acp/${agent}.jsonl`)),
  "its messages in the tests": (agent) =>
    ["update-mapping", "call-facts"].every((file) =>
      read(`test/unit/agents/${file}.test.ts`).includes(`"${agent}"`),
    ),
};

test.each(AGENTS)("the agent %s has everything that an agent needs", (agent) => {
  const missing = Object.keys(PARTS).filter((part) => PARTS[part]?.(agent) !== true);

  expect(missing).toEqual([]);
});
