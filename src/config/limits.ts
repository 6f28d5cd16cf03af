import { z } from "zod";
import { PULL_REQUEST_SETTINGS, type RunSettings } from "../core/attempts/attempt-deps.ts";
import type { VariableDoc } from "./variable-doc.ts";

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

export const limitVariableDocs = {
  ERRAND_INACTIVITY_MINUTES: {
    group: "Limits",
    default: "15",
    description: "Errand stops an agent that is silent for this long. Waiting for a person does not count.",
  },
  ERRAND_TURN_MINUTES: {
    group: "Limits",
    default: "120",
    description: "The time limit of one turn. Waiting for a person does not count.",
  },
  ERRAND_RUN_MINUTES: {
    group: "Limits",
    default: "360",
    description: "The longest uninterrupted work on one run.",
  },
  ERRAND_MAX_LOG_MIB: {
    group: "Limits",
    default: "256",
    description:
      "How much one attempt may write to the log of its run, in MiB. A run that writes more fails.",
  },
  ERRAND_PULL_REQUESTS: {
    group: "Agents",
    default: "draft",
    description: "Pull requests for unpushed changes in a requested repository: `draft`, `ready` or `off`.",
  },
} satisfies Record<keyof typeof workVariables, VariableDoc>;

export function runSettingsOf(given: z.infer<z.ZodObject<typeof workVariables>>): RunSettings {
  return {
    inactivityMs: given.ERRAND_INACTIVITY_MINUTES * MINUTE_MS,
    turnMs: given.ERRAND_TURN_MINUTES * MINUTE_MS,
    runMs: given.ERRAND_RUN_MINUTES * MINUTE_MS,
    logMib: given.ERRAND_MAX_LOG_MIB,
    pullRequests: given.ERRAND_PULL_REQUESTS,
  };
}
