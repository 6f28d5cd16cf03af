import type { ScheduledAgentItem, ScheduleUpdateRequest } from "@errand/client";
import { type ConfigDraft, configDraftOf, configOf } from "../edit/config-draft.ts";
import type { Issue } from "../edit/issues.ts";

/** A schedule as the user edits it. */
export interface ScheduleDraft extends ConfigDraft {
  readonly name: string;
  readonly cron: string;
  readonly prompt: string;
  /** The uid, or an empty text. */
  readonly environment: string;
  readonly enabled: boolean;
}

export function scheduleDraftOf(schedule: ScheduledAgentItem | undefined): ScheduleDraft {
  const {
    agent_config: config,
    cron_schedule: cron = "",
    enabled = true,
    name = "",
    prompt = "",
  } = schedule ?? {};
  return { ...configDraftOf(config), name, cron, prompt, enabled, environment: config?.environment_id ?? "" };
}

export function scheduleIssuesOf({ config, cron, name, prompt }: ScheduleDraft): readonly Issue[] {
  const hasSkill = config.skill_spec !== undefined || config.skills?.[0] !== undefined;
  return [
    ...(name.trim() === "" ? [{ path: "name", message: "Write a name" }] : []),
    ...(cron.trim() === ""
      ? [{ path: "cron_schedule", message: "Write five fields, such as 0 3 * * *" }]
      : []),
    ...(prompt.trim() === "" && !hasSkill
      ? [{ path: "prompt", message: "Say what the agent should do" }]
      : []),
  ];
}

/** The request. Members that the form does not show are sent back as they are in `schedule`. */
export function scheduleRequestOf(
  draft: ScheduleDraft,
  schedule: ScheduledAgentItem | undefined,
): ScheduleUpdateRequest {
  const { cron, enabled, environment, name, prompt } = draft;
  const { agent_uid, metadata, mode } = schedule ?? {};
  const { environment_id, ...config } = configOf(draft);
  return {
    name: name.trim(),
    cron_schedule: cron.trim(),
    prompt,
    enabled,
    agent_config: { ...config, ...(environment === "" ? {} : { environment_id: environment }) },
    ...(mode === undefined ? {} : { mode }),
    ...(agent_uid === undefined ? {} : { agent_uid }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}
