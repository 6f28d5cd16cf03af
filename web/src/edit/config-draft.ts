import type { AmbientAgentConfig } from "@errand/client";

/** The part of a configuration that forms show. An empty text leaves the choice to others. */
export interface ConfigDraft {
  readonly agent: string;
  readonly model: string;
  readonly instructions: string;
  /** The configuration as the server has it. */
  readonly config: AmbientAgentConfig;
}

export function configDraftOf(config: AmbientAgentConfig = {}): ConfigDraft {
  const { base_prompt: instructions = "" } = config;
  return { agent: agentOf(config), model: modelOf(config), instructions, config };
}

/** The configuration of the request. Members that forms do not show are sent back as they are. */
export function configOf(draft: ConfigDraft): AmbientAgentConfig {
  const { base_prompt, harness, model_id, ...others } = draft.config;
  const { instructions } = draft;
  return {
    ...others,
    ...agentMembers(draft),
    ...(instructions.trim() === "" ? {} : { base_prompt: instructions }),
  };
}

/** If the agent and its model are unchanged, the other settings of the agent stay. */
function agentMembers({ agent, config, model }: ConfigDraft): AmbientAgentConfig {
  const { harness, model_id } = config;
  if (agent === agentOf(config) && model === modelOf(config)) {
    return { ...(harness && { harness }), ...(model_id === undefined ? {} : { model_id }) };
  }
  return {
    ...(agent === "" ? {} : { harness: { type: agent } }),
    ...(model === "" ? {} : { model_id: model }),
  };
}

function agentOf({ harness }: AmbientAgentConfig): string {
  return harness?.type ?? "";
}

/** The harness has a model of its own, which takes precedence. */
function modelOf({ harness, model_id }: AmbientAgentConfig): string {
  return harness?.model_id ?? model_id ?? "";
}
