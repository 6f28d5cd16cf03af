import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { PrincipalId } from "../../core/basics/ids.ts";
import type { Principal } from "../../core/model/people/principal.ts";
import type { Schedule } from "../../core/model/schedules/schedule.ts";
import { withRedactedValues } from "../../core/model/secrets/sealed-values.ts";
import type { Environment } from "../../core/model/workspaces/environment.ts";
import type { NewSchedule } from "../../core/requests/schedules/schedule-service.ts";
import { EnvironmentConfigSchema, environmentConfigJson } from "./environment.ts";
import { requireId } from "./ids.ts";
import { PageInfo } from "./page-info.ts";
import { AmbientAgentConfig, checkSkills, runConfigOf } from "./run-config.ts";
import { creatorInfo, RunCreatorInfo } from "./run-creator.ts";
import { CONFIG_EXAMPLE } from "./run-examples.ts";
import { Scope } from "./run-item.ts";
import { Metadata, Mode } from "./run-requests.ts";
import { Timestamp, textOfCharacters } from "./text.ts";

const NAME_LENGTH = 200;
const CRON_LENGTH = 200;
const REQUEST_EXAMPLE = {
  name: "Nightly tidy",
  cron_schedule: "0 3 * * *",
  prompt: "Look for dead code and open a pull request that removes it",
  enabled: true,
  agent_config: CONFIG_EXAMPLE,
};
const CREATOR_EXAMPLE = { uid: "0195b2a0-0000-7000-8000-000000000001", type: "user", display_name: "Mira" };
const EXAMPLE = {
  ...REQUEST_EXAMPLE,
  id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d72",
  created_at: "2026-03-01T09:00:00.000Z",
  updated_at: "2026-03-01T09:00:00.000Z",
  created_by: CREATOR_EXAMPLE,
  updated_by: CREATOR_EXAMPLE,
  history: { last_ran: "2026-03-02T03:00:00.210Z", next_run: "2026-03-03T03:00:00.000Z" },
  scope: { type: "Team" },
};
const NOTHING_TO_DO = "is required unless agent_config names a skill";

const members = {
  name: textOfCharacters(NAME_LENGTH).min(1).describe("The name of the schedule and the title of its runs."),
  cron_schedule: z
    .string()
    .max(CRON_LENGTH)
    .describe(
      "Five fields: minute, hour, day of month, month, day of week, in UTC. Numbers, names, lists, ranges and " +
        "steps are allowed.",
    ),
  prompt: z.string().optional().describe("The prompt of the runs. Required unless a skill is named."),
  mode: Mode.optional(),
  agent_uid: z
    .string()
    .optional()
    .describe("The uid of the named agent that executes the runs. Default: the creator."),
  agent_config: AmbientAgentConfig.optional(),
  metadata: Metadata.optional(),
};

export const ScheduleRequest = z
  .object({
    ...members,
    enabled: z.boolean().optional().describe("Whether the schedule is active. Default: true."),
    team: z
      .boolean()
      .optional()
      .describe(
        "false: only the creator and administrators can see the schedule and its runs. Default: true.",
      ),
  })
  .refine(hasWork, { path: ["prompt"], message: NOTHING_TO_DO })
  .superRefine(({ agent_config = {} }, context) => checkSkills(agent_config, ["agent_config"], context))
  .meta({ id: "ScheduleRequest", description: "A new schedule.", examples: [REQUEST_EXAMPLE] });
type ScheduleRequest = z.output<typeof ScheduleRequest>;

export const ScheduleUpdateRequest = z
  .object({ ...members, enabled: z.boolean().describe("Whether the schedule is active.") })
  .refine(hasWork, { path: ["prompt"], message: NOTHING_TO_DO })
  .superRefine(({ agent_config = {} }, context) => checkSkills(agent_config, ["agent_config"], context))
  .meta({
    id: "ScheduleUpdateRequest",
    description: "The new content of the schedule. Members that are left out become empty.",
    examples: [REQUEST_EXAMPLE],
  });
export type ScheduleUpdateRequest = z.output<typeof ScheduleUpdateRequest>;

const History = z.object({
  last_ran: Timestamp.optional().describe("When the schedule last started a run."),
  next_run: Timestamp.optional().describe("When the schedule is next due. Absent while it is paused."),
});

export const ScheduleItem = z
  .object({
    id: z.uuid().describe("The schedule's id."),
    name: z.string().describe("The name of the schedule."),
    cron_schedule: z.string().describe("Five fields, in UTC."),
    enabled: z.boolean().describe("Whether the schedule is active."),
    prompt: z.string().describe("The prompt of the runs."),
    mode: Mode.optional(),
    agent_uid: z.uuid().optional().describe("The uid of the named agent that executes the runs."),
    created_at: Timestamp.describe("When the schedule was created."),
    updated_at: Timestamp.describe("When the schedule was last changed."),
    agent_config: AmbientAgentConfig.optional(),
    metadata: z.record(z.string(), z.string()).optional().describe("The metadata of the runs."),
    environment: EnvironmentConfigSchema.optional(),
    created_by: RunCreatorInfo.optional(),
    updated_by: RunCreatorInfo.optional(),
    history: History.optional().describe("The last run and the next due time."),
    last_spawn_error: z.string().optional().describe("Why the last due time started no run."),
    scope: Scope.optional().describe("Who can see the schedule and its runs."),
  })
  .meta({ id: "ScheduledAgentItem", description: "The current state of a schedule.", examples: [EXAMPLE] });
export type ScheduleItem = z.output<typeof ScheduleItem>;

export const ListSchedulesResponse = z
  .object({ schedules: z.array(ScheduleItem).describe("In alphabetical order."), page_info: PageInfo })
  .meta({
    id: "ListSchedulesResponse",
    description: "All schedules that you can see.",
    examples: [{ schedules: [EXAMPLE], page_info: { has_next_page: false } }],
  });

export function newScheduleOf({ enabled = true, team = true, ...request }: ScheduleRequest): NewSchedule {
  return { ...scheduleEditOf({ ...request, enabled }), teamOwned: team };
}

export function scheduleEditOf(request: ScheduleUpdateRequest) {
  const {
    name,
    cron_schedule: cron,
    prompt = "",
    enabled,
    mode,
    agent_uid,
    agent_config: config = {},
    metadata = {},
  } = request;
  return {
    name,
    cron,
    prompt,
    enabled,
    config: runConfigOf(config),
    metadata,
    ...defined({
      mode,
      agentUid: agent_uid === undefined ? undefined : requireId<PrincipalId>(agent_uid, "agent"),
    }),
  };
}

/** The records that schedules name, by id, as far as the viewer can see them. */
export interface ScheduleSurroundings {
  readonly people: ReadonlyMap<string, Principal>;
  readonly environments: ReadonlyMap<string, Environment>;
}

export function scheduleItem(
  schedule: Schedule,
  { people, environments }: ScheduleSurroundings,
): ScheduleItem {
  const { agentUid, config, cron, enabled, id, lastSpawnError, metadata, mode, name, prompt } = schedule;
  const { createdAt, creatorId, lastEditorId, teamOwned, updatedAt } = schedule;
  return {
    id,
    name,
    cron_schedule: cron,
    enabled,
    prompt,
    ...defined({ mode, agent_uid: agentUid }),
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
    agent_config: withRedactedValues(config),
    ...environmentIn(environments.get(config.environment_id ?? "")),
    ...defined({ metadata: Object.keys(metadata).length === 0 ? undefined : metadata }),
    created_by: creatorInfo(creatorId, people.get(creatorId)),
    updated_by: creatorInfo(lastEditorId, people.get(lastEditorId)),
    history: historyOf(schedule),
    ...defined({ last_spawn_error: lastSpawnError }),
    scope: teamOwned ? { type: "Team" } : { type: "User", uid: creatorId },
  };
}

function environmentIn(environment: Environment | undefined): Pick<ScheduleItem, "environment"> {
  return environment === undefined ? {} : { environment: environmentConfigJson(environment.config) };
}

function historyOf({ lastRanAt, nextRunAt }: Schedule): NonNullable<ScheduleItem["history"]> {
  return defined({ last_ran: lastRanAt?.toISOString(), next_run: nextRunAt?.toISOString() });
}

interface Work {
  readonly prompt?: string | undefined;
  readonly agent_config?:
    | { readonly skill_spec?: string | undefined; readonly skills?: readonly string[] | undefined }
    | undefined;
}

function hasWork({ prompt = "", agent_config }: Work): boolean {
  return prompt.trim() !== "" || (agent_config?.skill_spec ?? agent_config?.skills?.[0]) !== undefined;
}
