import type { ScheduledAgentItem } from "@errand/client";
import { useState } from "react";
import { EditForm } from "../edit/edit-form.tsx";
import { EditPage, type Guard } from "../edit/edit-page.tsx";
import { EnvironmentField } from "../edit/environment-field.tsx";
import { AgentFields } from "../parts/agent-fields.tsx";
import { CheckField, Field } from "../parts/field.tsx";
import { client } from "../server/client.ts";
import {
  type ScheduleDraft,
  scheduleDraftOf,
  scheduleIssuesOf,
  scheduleRequestOf,
} from "./schedule-draft.ts";

/** `/schedules/new` and `/schedules/{id}`. */
export function SchedulePage({ id }: { readonly id: string }) {
  return (
    <EditPage
      what="schedule"
      id={id}
      list="/schedules"
      text="A schedule starts a run at each of its times. The runs have the rights of the person who creates it."
      scope="runs:write"
      read={(scheduleId, signal) => client.schedules.retrieve(scheduleId, { signal }).withResponse()}
      remove={(scheduleId, based) => client.schedules.delete(scheduleId, based)}
      consequence="It starts no more runs. The runs that it has started are kept."
    >
      {(schedule, guard) => <ScheduleForm schedule={schedule} guard={guard} />}
    </EditPage>
  );
}

function ScheduleForm({
  schedule,
  guard,
}: {
  readonly schedule: ScheduledAgentItem | undefined;
  readonly guard: Guard;
}) {
  const [draft, setDraft] = useState(() => scheduleDraftOf(schedule));
  const [isForTeam, setForTeam] = useState(true);
  const change = (part: Partial<ScheduleDraft>) => setDraft((before) => ({ ...before, ...part }));
  const save = () => {
    const request = scheduleRequestOf(draft, schedule);
    return schedule === undefined
      ? client.schedules.create({ ...request, team: isForTeam })
      : guard((based) => client.schedules.replace(schedule.id, request, based));
  };
  return (
    <EditForm what="schedule" list="/schedules" check={() => scheduleIssuesOf(draft)} save={save}>
      {(problemAt) => (
        <>
          <div className="grid-2">
            <Field label="Name" hint="It is the title of the runs." problem={problemAt("name")}>
              {(control) => (
                <input
                  {...control}
                  className="input"
                  placeholder="Nightly tidy"
                  value={draft.name}
                  onChange={({ target }) => change({ name: target.value })}
                />
              )}
            </Field>
            <Field
              label="When, in UTC"
              hint="Minute, hour, day of month, month, day of week. 0 3 * * 1-5 is at 3:00 from Monday to Friday."
              problem={problemAt("cron_schedule")}
            >
              {(control) => (
                <input
                  {...control}
                  className="input mono"
                  placeholder="0 3 * * *"
                  value={draft.cron}
                  onChange={({ target }) => change({ cron: target.value })}
                />
              )}
            </Field>
          </div>
          <Field label="What should be done?" problem={problemAt("prompt")}>
            {(control) => (
              <textarea
                {...control}
                className="input"
                dir="auto"
                rows={5}
                placeholder="Look for dead code, and open a pull request that removes it."
                value={draft.prompt}
                onChange={({ target }) => change({ prompt: target.value })}
              />
            )}
          </Field>
          <div className="grid-3">
            <EnvironmentField
              value={draft.environment}
              isForTeam={false}
              problem={problemAt("agent_config.environment_id")}
              onChange={(environment) => change({ environment })}
            />
            <AgentFields agent={draft.agent} model={draft.model} onChange={change} />
          </div>
          <div>
            <CheckField
              label="Active"
              hint="A schedule that is not active starts no runs."
              checked={draft.enabled}
              onChange={(enabled) => change({ enabled })}
            />
            {schedule === undefined && (
              <CheckField
                label="For the team"
                hint="Otherwise only you and administrators see the schedule and its runs."
                checked={isForTeam}
                onChange={setForTeam}
              />
            )}
          </div>
        </>
      )}
    </EditForm>
  );
}
