import { defined } from "../../basics/defined.ts";
import type { RunConfig } from "./run.ts";

/**
 * The values of `upper` and, where it has none, those of `lower`. The members of `harness` are combined one by one, so
 * that naming a model does not change the agent program.
 */
export function layeredConfig(upper: RunConfig, lower: RunConfig): RunConfig {
  const harness = layeredHarness(upper, lower);
  return { ...lower, ...upper, ...defined({ harness }) };
}

/** What of `lower` fits to the choices of `upper`. Another agent program may not have the same models. */
export function ofSameProgram(lower: RunConfig, upper: RunConfig): RunConfig {
  const type = upper.harness?.type;
  if (type === undefined || type === lower.harness?.type) {
    return lower;
  }
  const { harness: _harness, model_id: _model, ...others } = lower;
  return others;
}

/** The model of the harness precedes `model_id`, so that of a lower layer must not beat `model_id` of an upper one. */
function layeredHarness(upper: RunConfig, lower: RunConfig): RunConfig["harness"] {
  if (lower.harness === undefined) {
    return upper.harness;
  }
  const { model_id: _model, ...withoutModel } = lower.harness;
  return { ...(upper.model_id === undefined ? lower.harness : withoutModel), ...upper.harness };
}
