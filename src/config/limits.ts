import { z } from "zod";
import { PULL_REQUEST_SETTINGS } from "../core/model/repositories/pull-request-setting.ts";
import type { RunSettings } from "../core/work/lease/attempt-deps.ts";
import type { diskVariables } from "./disk.ts";
import type { VariableDoc } from "./variable-doc.ts";
import { positiveNumber, wholeNumber } from "./variable-types.ts";

const MINUTE_MS = 60_000;
/** Below the 24 hours after which the queue hands a job out again. */
const MAX_MINUTES = 23 * 60;

const minutes = (defaultMinutes: number) => positiveNumber(MAX_MINUTES).default(defaultMinutes);

export const workVariables = {
  ERRAND_INACTIVITY_MINUTES: minutes(15),
  ERRAND_TURN_MINUTES: minutes(120),
  ERRAND_RUN_MINUTES: minutes(360),
  ERRAND_BACKGROUND_SECONDS: wholeNumber(0, 600).default(30),
  ERRAND_MAX_LOG_MIB: wholeNumber(1, 65_536).default(256),
  ERRAND_CHECKPOINT_MINUTES: minutes(5),
  ERRAND_CHECKPOINT_DAYS: wholeNumber(1, 3_650).default(30),
  ERRAND_EVENT_BODY_DAYS: wholeNumber(1, 3_650).default(7),
  ERRAND_HISTORY_DAYS: wholeNumber(30, 3_650).default(400),
  ERRAND_PULL_REQUESTS: z.enum(PULL_REQUEST_SETTINGS).default("draft"),
};

export const limitVariableDocs = {
  ERRAND_INACTIVITY_MINUTES: {
    group: "Limits",
    default: "15",
    description:
      "Errand stops an agent that is silent for this long. Waiting for a person does not count, and neither does a running tool call.",
  },
  ERRAND_TURN_MINUTES: {
    group: "Limits",
    default: "120",
    description: "The time limit of one turn. Waiting for a person does not count.",
  },
  ERRAND_RUN_MINUTES: {
    group: "Limits",
    default: "360",
    description: "The time limit of one attempt, from the claim of the run to its end.",
  },
  ERRAND_BACKGROUND_SECONDS: {
    group: "Limits",
    default: "30",
    description:
      "How long the end of a turn waits for commands that the agent left running in the background. Those that are left are stopped, and the run and its thread name them.",
  },
  ERRAND_MAX_LOG_MIB: {
    group: "Limits",
    default: "256",
    description: "The size of the log that one attempt may write, in MiB. A run that writes more fails.",
  },
  ERRAND_CHECKPOINT_MINUTES: {
    group: "Limits",
    default: "5",
    description:
      "How often Errand stores the changed files within a turn. If a worker is lost, its run loses at most the work of this time.",
  },
  ERRAND_CHECKPOINT_DAYS: {
    group: "Limits",
    default: "30",
    description:
      "How many days after its end the whole workspace of a run is kept. After that, only the work is kept: commits, changes, and new files that git does not ignore.",
  },
  ERRAND_EVENT_BODY_DAYS: {
    group: "Limits",
    default: "7",
    description:
      "How many days Errand keeps what Slack or GitHub sent after it was processed. Messages that were not for the bot are not kept. The ids stay, so that nothing is processed twice.",
  },
  ERRAND_HISTORY_DAYS: {
    group: "Limits",
    default: "400",
    description:
      "How many days Errand keeps the ids and results of processed events, and the messages that it sent to threads. A platform that delivers an older event again has it processed again.",
  },
  ERRAND_PULL_REQUESTS: {
    group: "Agents",
    default: "draft",
    description:
      "Whether Errand opens pull requests for changes that the agent did not push, for requests of people in Slack, issues and pull requests: `draft`, `ready` or `off`. Requests, routing rules and environments can say otherwise.",
  },
} satisfies Record<keyof typeof workVariables, VariableDoc>;

export function runSettingsOf(
  values: z.infer<z.ZodObject<typeof workVariables & typeof diskVariables>>,
): RunSettings {
  return {
    inactivityMs: values.ERRAND_INACTIVITY_MINUTES * MINUTE_MS,
    turnMs: values.ERRAND_TURN_MINUTES * MINUTE_MS,
    attemptMs: values.ERRAND_RUN_MINUTES * MINUTE_MS,
    logMib: values.ERRAND_MAX_LOG_MIB,
    checkpointMs: values.ERRAND_CHECKPOINT_MINUTES * MINUTE_MS,
    workspaceGib: values.ERRAND_MAX_WORKSPACE_GIB,
    pullRequests: values.ERRAND_PULL_REQUESTS,
  };
}
