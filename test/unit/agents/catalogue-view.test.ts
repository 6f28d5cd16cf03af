import { expect, test } from "vitest";
import type { AgentDefinition } from "../../../src/agents/agent-definition.ts";
import { createCatalogue } from "../../../src/agents/catalogue.ts";
import { createCatalogueView } from "../../../src/agents/catalogue-view.ts";

const OPENAI = { openai: { isCompatible: true } };
const installed = {
  current: async (agent: AgentDefinition) => agent,
  isThere: async ({ name }: { readonly name: string }) => name === "demo" || name === "qwen",
};

test("the default agent stands first, and each says what it needs and whether it can be used", async () => {
  const custom = { argv: ["/nowhere/agent"], readable: [] } as const;
  const options = { catalogue: createCatalogue(custom), servers: OPENAI, setting: "auto" } as const;

  const entries = await createCatalogueView({ ...options, programs: installed }).list();

  const told = entries.map(({ name, usable, needs }) => [
    name,
    usable,
    needs.map((need) => need.split(" (")[0]),
  ]);
  const later = "It is installed when a run first needs it";
  expect(told).toEqual([
    ["opencode", true, [later]],
    ["codex", true, [later]],
    ["claude", false, ["Claude Code needs ANTHROPIC_API_KEY.", later]],
    ["gemini", false, ["Gemini CLI needs GEMINI_API_KEY.", later]],
    ["qwen", true, []],
    ["copilot", true, [later]],
    ["demo", true, []],
    ["custom", false, ["Its program is not on this machine."]],
  ]);
});

test("models are those that the server can reach, the operator's own first", async () => {
  const options = {
    catalogue: createCatalogue(),
    servers: OPENAI,
    setting: "auto",
    programs: installed,
  } as const;

  const [opencode] = await createCatalogueView({ ...options, defaultModel: "llama-9" }).list();
  const [plain] = await createCatalogueView(options).list();

  expect(opencode?.models[0]).toMatchObject({ id: "llama-9" });
  expect(new Set(opencode?.models.slice(1).map(({ provider }) => provider))).toEqual(new Set(["OpenAI"]));
  expect(plain?.models.map(({ id }) => id)).toEqual(opencode?.models.slice(1).map(({ id }) => id));
});
