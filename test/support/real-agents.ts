import { join, resolve } from "node:path";
import { createAcpRunner } from "../../src/agents/acp/acp-runner.ts";
import { type AgentCatalogue, createCatalogue } from "../../src/agents/catalogue.ts";
import { AgentInstaller } from "../../src/agents/install/agent-installer.ts";
import { agentConfigOf } from "../../src/config/agents.ts";
import type { ModelConfig } from "../../src/config/models.ts";
import type { Gateway } from "../../src/core/ports/gateway.ts";
import { gatewayVariables } from "../../src/gateway/gateway-variables.ts";
import { createLocalSandbox } from "../../src/sandboxes/local/local-sandbox.ts";
import type { Sandbox } from "../../src/sandboxes/sandbox.ts";
import { AgentHarness, BARE_RUNNER } from "./agent-harness.ts";
import { bubblewrapIn, reasonToSkipBubblewrap } from "./bubblewrap.ts";
import { openGateway } from "./gateway-harness.ts";
import { type ScriptedModel, startScriptedModel } from "./scripted-model.ts";

/** The key that the gateway adds, which must not be seen anywhere else. */
export const REAL_KEY = "sk-this-is-the-real-key-4711";
const MODEL = "scripted-model";
const GIT_URL = "http://127.0.0.1:9";

const catalogue: AgentCatalogue = createCatalogue();
/** Not removed between test runs. It takes the place of a server's data directory. */
export const AGENT_CACHE = resolve(import.meta.dirname, "../../node_modules/.cache/errand-agents");
const { npmVariables: variables } = agentConfigOf(
  { ERRAND_AGENT: "auto", ERRAND_AGENT_READABLE: [], ERRAND_WARM_AGENTS: false },
  process.env,
);
const installer = new AgentInstaller({ dataDir: AGENT_CACHE, variables });

/** Why tests of an agent are skipped on this machine, or undefined. In CI nothing is skipped. */
export async function reasonToSkipAgent(name: string): Promise<string | undefined> {
  const agent = catalogue.get(name);
  if (agent === undefined) {
    throw new Error(`There is no agent ${name}.`);
  }
  try {
    await installer.provide(agent, () => undefined, new AbortController().signal);
    return undefined;
  } catch (error) {
    if (process.env.CI === "true") {
      throw error;
    }
    return error instanceof Error ? error.message : String(error);
  }
}

export interface RealAgentHarness extends AsyncDisposable {
  readonly harness: AgentHarness;
  readonly gateway: Gateway;
  readonly model: ScriptedModel;
  readonly start: AgentHarness["start"];
}

export type MakeSandbox = (dataDir: string) => Sandbox;

/** A real agent, in a sandbox if possible, whose only way out is a real gateway to a scripted model. */
export async function openRealAgent(name: string, makeSandbox?: MakeSandbox): Promise<RealAgentHarness> {
  const undo = new AsyncDisposableStack();
  const model = await startScriptedModel();
  undo.defer(() => model.stop());
  const make = makeSandbox ?? (await usualSandbox());
  const isolated = make !== createLocalSandbox;
  const models = modelsAt(model.url);
  const opened = await openGateway({ isolated, models, gitUrl: GIT_URL });
  undo.defer(() => opened.close());
  const { gateway } = opened;
  const harness = await AgentHarness.open((dataDir) =>
    createAcpRunner({
      ...BARE_RUNNER,
      ...{ catalogue, programs: installer, servers: models, defaultModel: MODEL },
      sandbox: make(dataDir),
      variablesOf: (each) => gatewayVariables(each, GIT_URL),
    }),
  );
  undo.defer(() => harness.close());
  const start: AgentHarness["start"] = (changes, permission) =>
    harness.start({ agent: name, gateway, ...changes }, permission);
  return { harness, gateway, model, start, [Symbol.asyncDispose]: () => undo.disposeAsync() };
}

async function usualSandbox(): Promise<MakeSandbox> {
  return (await reasonToSkipBubblewrap()) === undefined ? bubblewrapIn : createLocalSandbox;
}

/** The program of a fixture, at a place where the sandbox lets the agent see it. */
export function fixtureProgram(name: string): string {
  return join(import.meta.dirname, "../fixtures/agents", name);
}

function modelsAt(url: string): ModelConfig {
  const at = (baseUrl: string) => ({ key: REAL_KEY, baseUrl });
  return { openai: { ...at(`${url}/v1`), isCompatible: true }, anthropic: at(url), gemini: at(url) };
}
