/** The APIs that models speak. Each has its route in the gateway: `<address>/models/<provider>`. */
export const PROVIDERS = ["openai", "anthropic", "gemini"] as const;
export type Provider = (typeof PROVIDERS)[number];

/** The models' servers that there is a key or an address for. */
export interface ModelServers extends Readonly<Partial<Record<Provider, object>>> {
  readonly openai?: { readonly isCompatible: boolean };
}

/** A model's id as its API knows it, and that API. */
export interface PlacedModel {
  readonly provider: Provider;
  readonly id: string;
}

/** The variables that switch a provider on. */
export const PROVIDER_VARIABLES: Readonly<Record<Provider, string>> = {
  openai: "OPENAI_API_KEY (or OPENAI_BASE_URL)",
  anthropic: "ANTHROPIC_API_KEY",
  gemini: "GEMINI_API_KEY",
};

/** By how it begins. `opus` and its like are Claude Code's names for the newest of each size. */
const PREFIXES: readonly (readonly [RegExp, Provider])[] = [
  [/^(claude-|(opus|sonnet|haiku|fable)\b)/i, "anthropic"],
  [/^(gpt-|chatgpt-|codex-|o\d)/i, "openai"],
  [/^gemini-/i, "gemini"],
];

const NAMED: Readonly<Record<string, Provider>> = {
  openai: "openai",
  anthropic: "anthropic",
  gemini: "gemini",
  google: "gemini",
};

/** Whether there is an endpoint that takes any id: one that speaks OpenAI's API and is not OpenAI's. */
export function hasCompatible({ openai }: ModelServers): boolean {
  return openai?.isCompatible === true;
}

/**
 * The API for a model's id. What OpenAI, Anthropic and Google call theirs is known by how it begins; whatever else,
 * `provider/model` too, is for the compatible endpoint. Undefined: nobody is known to have it. The provider that
 * is told may be one that there is no key for.
 */
export function placeModel(modelId: string, servers: ModelServers): PlacedModel | undefined {
  const provider = PREFIXES.find(([pattern]) => pattern.test(modelId))?.[1];
  if (provider !== undefined && servers[provider] !== undefined) return { provider, id: modelId };
  if (hasCompatible(servers)) return { provider: "openai", id: modelId };
  if (provider !== undefined) return { provider, id: modelId };
  const slash = modelId.indexOf("/");
  const named = NAMED[modelId.slice(0, Math.max(slash, 0))];
  return named === undefined ? undefined : { provider: named, id: modelId.slice(slash + 1) };
}
