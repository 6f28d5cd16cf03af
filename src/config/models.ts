import { z } from "zod";
import { defined } from "../core/basics/defined.ts";
import type { VariableDoc } from "./variable-doc.ts";
import { plainAddress } from "./variable-types.ts";

/** A model API, and the key that the gateway adds to requests. */
export interface ModelProvider {
  /** Undefined: the server at `baseUrl` needs no key. */
  readonly key: string | undefined;
  /** Without a slash at its end. */
  readonly baseUrl: string;
}

/** Model servers, by the API that they speak. */
export interface ModelProviders {
  readonly anthropic?: ModelProvider;
  readonly openai?: ModelProvider;
  readonly gemini?: ModelProvider;
}

export interface ModelConfig extends ModelProviders {
  /** `isCompatible`: another company's server that speaks OpenAI's API. */
  readonly openai?: ModelProvider & { readonly isCompatible: boolean };
}

const price = z.number().nonnegative();
const modelPrice = z.strictObject({ input: price, output: price, cached_input: price.optional() });

/** US dollars per million tokens. */
export type ModelPrice = z.infer<typeof modelPrice>;

const baseUrl = plainAddress("https://models.example.com/v1", /^https?:$/).optional();
/** With a space or a line break in the key, every request would fail. */
const key = z
  .string()
  .regex(/^[\x21-\x7e]+$/, "must contain only ASCII letters, digits and signs, without spaces or line breaks")
  .optional();

const PRICES_FORM = 'must be JSON such as {"gpt-5*": {"input": 1.25, "output": 10}}';
const prices = z
  .string()
  .default("{}")
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: "custom", message: PRICES_FORM });
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), modelPrice, PRICES_FORM));

const OPENAI_URL = "https://api.openai.com/v1";

/** All names except the last one are the usual names in other programs. */
export const modelVariables = {
  ANTHROPIC_API_KEY: key,
  ANTHROPIC_BASE_URL: baseUrl,
  OPENAI_API_KEY: key,
  OPENAI_BASE_URL: baseUrl,
  GEMINI_API_KEY: key,
  GOOGLE_GEMINI_BASE_URL: baseUrl,
  ERRAND_MODEL_PRICES: prices,
};

export const modelVariableDocs = {
  ANTHROPIC_API_KEY: {
    group: "Models",
    default: "(none)",
    description: "The API key for Anthropic's models. It stays outside the sandbox.",
    secret: true,
  },
  ANTHROPIC_BASE_URL: {
    group: "Models",
    default: "(Anthropic's API)",
    description: "Another server that speaks Anthropic's API.",
  },
  OPENAI_API_KEY: {
    group: "Models",
    default: "(none)",
    description: "The API key for OpenAI's models. It stays outside the sandbox.",
    secret: true,
  },
  OPENAI_BASE_URL: {
    group: "Models",
    default: "(OpenAI's API)",
    description: "Another server that speaks OpenAI's API. It may need no key.",
  },
  GEMINI_API_KEY: {
    group: "Models",
    default: "(none)",
    description: "The API key for Google's models. It stays outside the sandbox.",
    secret: true,
  },
  GOOGLE_GEMINI_BASE_URL: {
    group: "Models",
    default: "(Google's API)",
    description: "Another server that speaks Google's Gemini API.",
  },
  ERRAND_MODEL_PRICES: {
    group: "Models",
    default: "(none)",
    description:
      'Prices in US dollars per million tokens, by model id or prefix: `{"gpt-5*": {"input": 1.25, "cached_input": 0.125, "output": 10}}`.',
  },
} satisfies Record<keyof typeof modelVariables, VariableDoc>;

type ModelVariables = z.infer<z.ZodObject<typeof modelVariables>>;

export function modelsOf(values: ModelVariables): ModelConfig {
  const anthropic = provider(
    values.ANTHROPIC_API_KEY,
    values.ANTHROPIC_BASE_URL,
    "https://api.anthropic.com",
  );
  const openai = provider(values.OPENAI_API_KEY, values.OPENAI_BASE_URL, OPENAI_URL);
  const google = "https://generativelanguage.googleapis.com";
  const gemini = provider(values.GEMINI_API_KEY, values.GOOGLE_GEMINI_BASE_URL, google);
  return defined({
    anthropic,
    openai: openai === undefined ? undefined : { ...openai, isCompatible: openai.baseUrl !== OPENAI_URL },
    gemini,
  });
}

/** An address without a key is enough, because servers in a private network often need no key. */
function provider(
  key: string | undefined,
  baseUrl: string | undefined,
  defaultUrl: string,
): ModelProvider | undefined {
  if (key === undefined && baseUrl === undefined) {
    return undefined;
  }
  return { key, baseUrl: baseUrl ?? defaultUrl };
}
