import type { DefinedModel } from "./agent-definition.ts";
import type { Provider } from "./models.ts";

type Models = readonly [DefinedModel, ...DefinedModel[]];

const MAKERS: Readonly<Record<Provider, string>> = {
  openai: "OpenAI",
  anthropic: "Anthropic",
  gemini: "Google",
};

/** The models that these versions of the agents list. Users may name others too. */
export const OPENAI_MODELS: Models = [
  known("gpt-6.1-sol", "GPT-6.1 Sol", "openai"),
  known("gpt-6-astra", "GPT-6 Astra", "openai"),
  known("gpt-6.1-terra", "GPT-6.1 Terra", "openai"),
  known("gpt-6-sol", "GPT-6 Sol", "openai"),
  known("gpt-6-luna", "GPT-6 Luna", "openai"),
  known("gpt-5.6-sol", "GPT-5.6 Sol", "openai"),
  known("gpt-5.5", "GPT-5.5", "openai"),
];

export const ANTHROPIC_MODELS: Models = [
  known("claude-opus-5-5", "Claude Opus 5.5", "anthropic"),
  known("claude-fable-5-1", "Claude Fable 5.1", "anthropic"),
  known("claude-sonnet-5-5", "Claude Sonnet 5.5", "anthropic"),
  known("claude-haiku-5-5", "Claude Haiku 5.5", "anthropic"),
];

export const GEMINI_MODELS: Models = [
  known("gemini-3.8-flash", "Gemini 3.8 Flash", "gemini"),
  known("gemini-3.1-pro-preview", "Gemini 3.1 Pro", "gemini"),
  known("gemini-2.5-pro", "Gemini 2.5 Pro", "gemini"),
  known("gemini-3.5-flash-lite", "Gemini 3.5 Flash Lite", "gemini"),
];

function known(id: string, displayName: string, by: Provider): DefinedModel {
  return { id, displayName, by, provider: MAKERS[by], seesImages: true };
}
