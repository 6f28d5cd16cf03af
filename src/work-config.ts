import { z } from "zod";
import { PULL_REQUEST_SETTINGS, type RunSettings } from "./core/attempts/attempt-deps.ts";

const MINUTE_MS = 60_000;
/** A job of the queue lasts a day. */
const MAX_MINUTES = 23 * 60;

const minutes = (usual: number) => z.coerce.number().positive().max(MAX_MINUTES).default(usual);

export const workVariables = {
  ERRAND_INACTIVITY_MINUTES: minutes(15),
  ERRAND_TURN_MINUTES: minutes(120),
  ERRAND_RUN_MINUTES: minutes(360),
  ERRAND_MAX_LOG_MIB: z.coerce.number().int().min(1).max(65_536).default(256),
  ERRAND_PULL_REQUESTS: z.enum(PULL_REQUEST_SETTINGS).default("draft"),
};

export function runSettingsOf(given: z.infer<z.ZodObject<typeof workVariables>>): RunSettings {
  return {
    inactivityMs: given.ERRAND_INACTIVITY_MINUTES * MINUTE_MS,
    turnMs: given.ERRAND_TURN_MINUTES * MINUTE_MS,
    runMs: given.ERRAND_RUN_MINUTES * MINUTE_MS,
    logMib: given.ERRAND_MAX_LOG_MIB,
    pullRequests: given.ERRAND_PULL_REQUESTS,
  };
}
