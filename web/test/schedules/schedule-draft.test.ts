import type { ScheduledAgentItem } from "@errand/client";
import { describe, expect, test } from "vitest";
import { scheduleDraftOf, scheduleIssuesOf, scheduleRequestOf } from "../../src/schedules/schedule-draft.ts";

describe("the draft of a schedule", () => {
  const content = {
    name: "Nightly tidy",
    cron_schedule: "0 3 * * *",
    prompt: "tidy up",
    enabled: false,
    mode: "plan",
    agent_uid: "0195b2a0-0000-7000-8000-000000000002",
    agent_config: { environment_id: "env-1", model_id: "small", skills: ["acme/web:tidy"] },
    metadata: { ticket: "OPS-1" },
  };
  const schedule = {
    ...content,
    id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d72",
  } as unknown as ScheduledAgentItem;

  test("a schedule comes back as the same request, with what the form does not show", () => {
    expect(scheduleRequestOf(scheduleDraftOf(schedule), schedule)).toEqual(content);
  });

  test("without an environment, the configuration names none", () => {
    const request = scheduleRequestOf({ ...scheduleDraftOf(schedule), environment: "" }, schedule);

    expect(request.agent_config).toEqual({ model_id: "small", skills: ["acme/web:tidy"] });
  });

  test("a new schedule needs a name, a time and a prompt", () => {
    const paths = scheduleIssuesOf(scheduleDraftOf(undefined)).map(({ path }) => path);

    expect(paths).toEqual(["name", "cron_schedule", "prompt"]);
  });

  test("a schedule with a skill needs no prompt", () => {
    expect(scheduleIssuesOf({ ...scheduleDraftOf(schedule), prompt: "" })).toEqual([]);
  });
});
