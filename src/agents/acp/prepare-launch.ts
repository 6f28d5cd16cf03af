import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import { pathsInside } from "../../core/model/workspaces/workspace.ts";
import type { AgentStart } from "../../core/ports/agent-runner.ts";
import type { AgentDefinition, AgentLaunch } from "../agent-definition.ts";
import { defaultModelFor, modelFor } from "../agent-models.ts";
import { chooseModel, listModels } from "../compatible-models.ts";
import type { PlacedModel } from "../models.ts";
import type { AcpRunnerOptions } from "./runner-options.ts";
import { unpackAgent } from "./unpack-agent.ts";

export function findAgent(catalogue: AcpRunnerOptions["catalogue"], name: string): AgentDefinition {
  const agent = catalogue.get(name);
  if (agent === undefined) {
    const remedy = `Use one of: ${[...catalogue.keys()].join(", ")}.`;
    throw new AppError("resource_not_found", `There is no agent called ${name}.`, { remedy });
  }
  return agent;
}

const STANDING_INSTRUCTIONS =
  "When you end your turn, all your processes are ended: commands in the background, timers and subagents do not " +
  "survive it, and nobody reads what you say later. Wait for everything that you start before you end your turn.";

/** What the agent is told at its start: the base prompt of the run, and what holds for each run. */
export function basePromptFor(
  { isDemo }: AgentDefinition,
  basePrompt: string | undefined,
): string | undefined {
  return isDemo ? basePrompt : [basePrompt, STANDING_INSTRUCTIONS].filter(Boolean).join("\n\n");
}

type LaunchNeeds = Pick<AgentStart, "basePrompt" | "modelId" | "permissionPolicy" | "signal" | "workspace">;

/** Installs the agent if needed. Returns how it is started with a gateway at an address. */
export async function prepareLaunch(
  options: AcpRunnerOptions,
  agent: AgentDefinition,
  request: LaunchNeeds,
  report: (text: string) => void,
): Promise<(address: string) => AgentLaunch> {
  const model = await modelOf(options, agent, request.modelId);
  const directory =
    agent.npmPackage === undefined ? "" : await options.programs.provide(agent, report, request.signal);
  const unpacking = agent.unpacking?.(directory);
  if (unpacking !== undefined && !(await unpackAgent(options.sandbox, unpacking, directory))) {
    options.log.warn({ agent: agent.name }, "agent.unpack_failed");
  }
  const { basePrompt, permissionPolicy, workspace } = request;
  const { home } = pathsInside(workspace);
  const { servers } = options;
  return (address) =>
    agent.launch(defined({ directory, address, servers, home, permissionPolicy, model, basePrompt }));
}

/** The key may have been removed since the run was created. */
async function modelOf(
  { compatibleServer, defaultModel, servers }: AcpRunnerOptions,
  agent: AgentDefinition,
  requestedModel: string | undefined,
): Promise<PlacedModel | undefined> {
  if (requestedModel === undefined) {
    const usual = defaultModelFor(agent, servers, defaultModel);
    const isAsked =
      compatibleServer !== undefined && usual?.provider === "openai" && defaultModel === undefined;
    return isAsked ? chooseModel(await listModels(compatibleServer), usual) : usual;
  }
  const model = modelFor(agent, requestedModel, servers);
  if (typeof model !== "string") {
    return model;
  }
  throw new AppError("integration_not_configured", model);
}
