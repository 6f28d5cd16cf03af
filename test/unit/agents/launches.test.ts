import { describe, expect, test } from "vitest";
import type { AgentDefinition, LaunchRequest } from "../../../src/agents/agent-definition.ts";
import { createCatalogue } from "../../../src/agents/catalogue.ts";

const ADDRESS = "http://127.0.0.1:21721/token";
const COMPATIBLE = { openai: { isCompatible: true } };
const catalogue = createCatalogue({ argv: ["/opt/agent", "acp"], readable: ["/opt"] });

function agent(name: string): AgentDefinition {
  const found = catalogue.get(name);
  if (found === undefined) {
    throw new Error(name);
  }
  return found;
}

function launch(name: string, changes: Partial<LaunchRequest> = {}) {
  return agent(name).launch({
    ...{ directory: "/agents/it", address: ADDRESS, servers: COMPATIBLE, home: "/home/run" },
    model: { provider: "openai", id: "the-model" },
    permissionPolicy: "allow",
    ...changes,
  });
}

const PACKAGED = [...catalogue.values()].filter(({ npmPackage }) => npmPackage !== undefined);

describe.each(PACKAGED.map(({ name }) => name))("%s", (name) => {
  test("the agent is pinned to one version, with a licence", () => {
    expect(agent(name).npmPackage?.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(agent(name).license).not.toBe("");
  });

  test("the launch uses the gateway and the requested model, and contains no key", () => {
    const provider = agent(name).providers[0] ?? "openai";
    const { argv, env } = launch(name, { model: { provider, id: "the-model" } });
    const told = JSON.stringify([argv, env]);

    expect(told).toContain(`${ADDRESS}/models/${provider}`);
    expect(told).toContain("the-model");
    for (const [variable, value] of Object.entries(env)) {
      if (variable.endsWith("_KEY")) {
        expect(value).toBe("kept-outside");
      }
    }
    // The token is the credential: users who see the arguments of processes must not see it.
    expect(JSON.stringify(argv)).not.toContain("token");
  });

  // Claude asks for each step in any case, and we grant it.
  test.skipIf(name === "claude")("the agent is launched otherwise when it is to ask", () => {
    expect(launch(name, { permissionPolicy: "ask" })).not.toEqual(launch(name));
  });
});

describe("what tells them apart", () => {
  test("opencode uses the library of the model's provider, and reads its instructions from a file", () => {
    const config = (changes: Partial<LaunchRequest>) =>
      JSON.parse(launch("opencode", changes).env.OPENCODE_CONFIG_CONTENT ?? "");

    const openai = { openai: { isCompatible: false } };
    const named = config({ basePrompt: "Be brief." });
    expect(named).toMatchObject({
      model: "errand/the-model",
      instructions: ["/home/run/.errand/instructions.md"],
      provider: { errand: { npm: "@ai-sdk/openai-compatible", models: { "the-model": {} } } },
    });
    expect(launch("opencode", { basePrompt: "Be brief." })).toMatchObject({
      files: { ".errand/instructions.md": "Be brief." },
      passesBasePrompt: true,
    });
    expect(config({ servers: openai }).provider.errand.npm).toBe("@ai-sdk/openai");
    const claude = config({ model: { provider: "anthropic", id: "c" } }).provider.errand;
    expect(claude).toMatchObject({
      npm: "@ai-sdk/anthropic",
      options: { baseURL: `${ADDRESS}/models/anthropic/v1` },
    });
    const gemini = config({ model: { provider: "gemini", id: "g" } }).provider.errand;
    expect(gemini).toMatchObject({
      npm: "@ai-sdk/google",
      options: { baseURL: `${ADDRESS}/models/gemini/v1beta` },
    });
  });

  test("copilot uses the newer API only for OpenAI itself", () => {
    const wire = (isCompatible: boolean) =>
      launch("copilot", { servers: { openai: { isCompatible } } }).env.COPILOT_PROVIDER_WIRE_API;

    expect([wire(false), wire(true)]).toEqual(["responses", "completions"]);
  });

  test("gemini reads AGENTS.md too, unless the repository has other settings", () => {
    const { env, files = {} } = launch("gemini");

    expect(env.GEMINI_CLI_SYSTEM_DEFAULTS_PATH).toBe("/home/run/.errand/gemini.json");
    expect(JSON.parse(files[".errand/gemini.json"] ?? "")).toEqual({
      context: { fileName: ["AGENTS.md", "GEMINI.md"] },
    });
  });

  test("gemini and qwen authenticate first", () => {
    expect([launch("gemini").authenticate, launch("qwen").authenticate]).toEqual([
      "gemini-api-key",
      "openai",
    ]);
  });

  test("a custom agent receives the configured model servers", () => {
    const { argv, env, readable } = launch("custom");

    expect([argv, readable]).toEqual([["/opt/agent", "acp"], ["/opt"]]);
    expect(env).toEqual({ OPENAI_API_KEY: "kept-outside", OPENAI_BASE_URL: `${ADDRESS}/models/openai` });
  });
});
