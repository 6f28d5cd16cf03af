/** The APIs of models. Each has a route in the gateway: `<address>/models/<provider>`. */
export const PROVIDERS = ["openai", "anthropic", "gemini"] as const;
export type Provider = (typeof PROVIDERS)[number];

/** The model servers for which there is a key or an address. */
export interface ModelServers extends Readonly<Partial<Record<Provider, object>>> {
  readonly openai?: { readonly isCompatible: boolean };
}

/** The id of a model in its API, and that API. */
export interface PlacedModel {
  readonly provider: Provider;
  readonly id: string;
}

/** The variables that enable a provider. */
export const PROVIDER_VARIABLES: Readonly<Record<Provider, string>> = {
  openai: "OPENAI_API_KEY (or OPENAI_BASE_URL)",
  anthropic: "ANTHROPIC_API_KEY",
  gemini: "GEMINI_API_KEY",
};

/** Recognised by prefix. `opus` and the like are names of Claude Code for the newest model of each size. */
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

/** Whether there is an endpoint for any model id: one that speaks OpenAI's API and is not OpenAI's. */
export function hasCompatible({ openai }: ModelServers): boolean {
  return openai?.isCompatible === true;
}

/**
 * The API for a model id. Ids of OpenAI, Anthropic and Google are recognised by prefix. Any other id,
 * `provider/model` included, goes to the compatible endpoint. Undefined: no API is known to serve it. The provider
 * may be one without a key.
 */
export function placeModel(modelId: string, servers: ModelServers): PlacedModel | undefined {
  const provider = PREFIXES.find(([pattern]) => pattern.test(modelId))?.[1];
  if (provider !== undefined && servers[provider] !== undefined) {
    return { provider, id: modelId };
  }
  if (hasCompatible(servers)) {
    return { provider: "openai", id: modelId };
  }
  if (provider !== undefined) {
    return { provider, id: modelId };
  }
  const slash = modelId.indexOf("/");
  const named = NAMED[modelId.slice(0, Math.max(slash, 0))];
  return named === undefined ? undefined : { provider: named, id: modelId.slice(slash + 1) };
}
