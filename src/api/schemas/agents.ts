import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { AgentModel, CatalogueEntry } from "../../core/ports/agent-catalogue.ts";

const PROVIDERS = ["OPENAI", "ANTHROPIC", "GOOGLE", "UNKNOWN"] as const;

const MODEL_EXAMPLE = {
  id: "demo",
  display_name: "No model",
  provider: "UNKNOWN" as const,
  vision_supported: true,
  description: "What the demo agent does is written in its program.",
};

const AGENT_EXAMPLE = {
  name: "demo",
  display_name: "Demo agent (no model)",
  description: "Looks at the files and writes a report, without a model, a key or the network.",
  installed: true,
  version: "1",
  is_default: true,
  needs: [],
  usable: true,
  license: "Apache-2.0",
  models: [MODEL_EXAMPLE],
};

const Model = z
  .object({
    id: z.string().describe("`config.model_id` or `config.harness.model_id` of a run."),
    display_name: z.string().describe("The name shown to people."),
    provider: z.enum(PROVIDERS).describe("The provider of the model. `UNKNOWN`: any other."),
    vision_supported: z.boolean().describe("Whether the model accepts images."),
    description: z.string().optional().describe("What the model is good at."),
  })
  .meta({ id: "AgentModel", description: "A model that an agent can use.", examples: [MODEL_EXAMPLE] });

export const ListModelsResponse = z
  .object({
    default_model_id: z.string().describe("The model of a run that names neither an agent nor a model."),
    models: z
      .array(Model)
      .describe(
        "The models of all usable agents, those of the default agent first. An agent may accept other models, which " +
          "a run can name as well.",
      ),
  })
  .meta({
    id: "ListModelsResponse",
    description: "The models that the agents of this server are known to support.",
    examples: [{ default_model_id: "demo", models: [MODEL_EXAMPLE] }],
  });
export type ListModelsResponse = z.output<typeof ListModelsResponse>;

const Agent = z
  .object({
    name: z.string().describe("`config.harness.type` of a run."),
    display_name: z.string().describe("The name shown to people."),
    description: z.string().describe("What the agent is, in one sentence."),
    installed: z.boolean().describe("Whether the agent is installed on the machine that answers."),
    version: z.string().optional().describe("The version of the agent."),
    is_default: z.boolean().describe("Whether the agent does the runs that name no agent."),
    needs: z
      .array(z.string())
      .describe("What is missing, or is installed at the first use. One sentence each."),
    usable: z.boolean().describe("Whether the agent can do a run now."),
    license: z.string().optional().describe("The license of the agent: an SPDX identifier or a text."),
    models: z.array(Model).describe("The first model is used if a run names none."),
  })
  .meta({
    id: "CatalogueAgent",
    description: "An agent that can do runs.",
    examples: [AGENT_EXAMPLE],
  });

export const ListCatalogueResponse = z
  .object({ agents: z.array(Agent).describe("The default agent comes first.") })
  .meta({
    id: "ListCatalogueResponse",
    description: "The agents of this server.",
    examples: [{ agents: [AGENT_EXAMPLE] }],
  });
export type ListCatalogueResponse = z.output<typeof ListCatalogueResponse>;

export function modelsJson(entries: readonly CatalogueEntry[]): ListModelsResponse["models"] {
  const models = new Map(entries.flatMap(({ models }) => models.map((model) => [model.id, model])));
  return Array.from(models.values(), modelJson);
}

export function agentJson(
  entry: CatalogueEntry,
  defaultName: string,
): ListCatalogueResponse["agents"][number] {
  const { name, displayName, description, installed, usable, version, needs, license, models } = entry;
  return {
    name,
    display_name: displayName,
    description,
    installed,
    is_default: name === defaultName,
    needs: [...needs],
    usable,
    models: models.map(modelJson),
    ...defined({ version, license }),
  };
}

function modelJson({ id, displayName, provider, seesImages, description }: AgentModel) {
  return {
    id,
    display_name: displayName,
    provider: PROVIDERS.find((each) => each === provider.toUpperCase()) ?? "UNKNOWN",
    vision_supported: seesImages,
    ...defined({ description }),
  };
}
