import { z } from "zod";
import { AppError } from "../core/basics/errors.ts";
import type { PlacedModel } from "./models.ts";

/** Another company's server that speaks OpenAI's API. */
export interface CompatibleServer {
  readonly baseUrl: string;
  /** Undefined: the server needs none. */
  readonly key: string | undefined;
}

const TIMEOUT_MS = 3_000;
/** More are not named in a message. */
const NAMED_MAX = 20;

const ModelList = z.object({ data: z.array(z.object({ id: z.string().min(1).max(200) })).min(1) });

/** The models that the server lists. Undefined: it cannot be reached, or lists none. */
export async function listModels({ baseUrl, key }: CompatibleServer): Promise<readonly string[] | undefined> {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(`${baseUrl}/models`, { headers, redirect: "error", signal });
    return ModelList.parse(await response.json()).data.map(({ id }) => id);
  } catch {
    // The caller works without a list too. A server that is away fails the turn with its own error.
    return undefined;
  }
}

/**
 * The model of the server for a run that names none, if ERRAND_MODEL is not set: `usual`, the agent's own default, where
 * the server has it or has no list, otherwise its only model. Fails if the server has several others.
 */
export function chooseModel(listed: readonly string[] | undefined, usual: PlacedModel): PlacedModel {
  const [only, ...others] = listed ?? [];
  if (only === undefined || listed?.includes(usual.id)) {
    return usual;
  }
  if (others.length === 0) {
    return { provider: "openai", id: only };
  }
  const named = [only, ...others].slice(0, NAMED_MAX).join(", ");
  const more = others.length >= NAMED_MAX ? ` and ${others.length + 1 - NAMED_MAX} more` : "";
  throw new AppError(
    "integration_not_configured",
    `No model is chosen, and the server at OPENAI_BASE_URL has several: ${named}${more}.`,
    { remedy: "Set ERRAND_MODEL to one of them where the server is started, or name one in each run." },
  );
}
