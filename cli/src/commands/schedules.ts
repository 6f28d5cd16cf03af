import type { ScheduledAgentItem, ScheduleRequest, ScheduleUpdateRequest } from "@errand/client";
import type { Command } from "commander";
import { type Cli, handle } from "../cli.ts";
import { MEMBERS } from "../generated/members.ts";
import { setMembers } from "../json-members.ts";
import { definedMembers } from "../options.ts";
import { ago } from "../output.ts";
import { environmentUid } from "./environments.ts";
import { addRecordKind, findItem, type RecordKind, showItem } from "./record-kind.ts";

export function addScheduleCommands(program: Command): void {
  const schedules = async (cli: Cli) => (await cli.client()).schedules;
  const kind: RecordKind<ScheduledAgentItem, ScheduleRequest> = {
    name: "schedules",
    one: "schedule",
    members: MEMBERS.ScheduledAgentItem,
    columns: [
      { title: "NAME", value: ({ name }) => name, isWhole: true },
      { title: "ID", value: ({ id }) => id, isWhole: true },
      { title: "CRON (UTC)", value: ({ cron_schedule }) => cron_schedule },
      { title: "IS", value: ({ enabled }) => (enabled ? "active" : "paused") },
      {
        title: "NEXT",
        value: ({ history }) => history?.next_run,
        text: ({ history }) => ago(history?.next_run),
      },
      { title: "LAST ERROR", value: ({ last_spawn_error }) => last_spawn_error },
      { title: "PROMPT", value: ({ prompt }) => prompt },
    ],
    idOf: ({ id }) => id,
    nameOf: ({ name }) => name,
    list: async (cli) => (await (await schedules(cli)).list()).schedules,
    addOptions: (command) =>
      command
        .option("--name <name>", "its name")
        .option("--cron <expression>", "when it runs, in UTC: minute hour day month weekday")
        .option("--prompt <text>", "what to do")
        .option("--env <environment>", "an environment: its name or uid")
        .option("--repo <owner/name>", "the GitHub repository to work on")
        .option("--model <id>", "the model"),
    editOf: async (
      cli,
      options: Partial<Record<"name" | "cron" | "prompt" | "env" | "repo" | "model", string>>,
    ) => {
      const config = definedMembers({
        environment_id: options.env === undefined ? undefined : await environmentUid(cli, options.env),
        repository: options.repo,
        model_id: options.model,
      });
      return definedMembers({
        name: options.name,
        cron_schedule: options.cron,
        prompt: options.prompt,
        agent_config: Object.keys(config).length === 0 ? undefined : config,
      });
    },
    create: async (cli, edit) => (await schedules(cli)).create(edit),
    editable: ({ agent_config, agent_uid, cron_schedule, enabled, metadata, mode, name, prompt }) => ({
      name,
      cron_schedule,
      prompt,
      enabled,
      ...definedMembers({ agent_config, agent_uid, metadata, mode }),
    }),
    path: "/agent/schedules",
    replace: async (cli, id, edit, version) =>
      (await schedules(cli)).replace(id, { enabled: true, ...edit } as ScheduleUpdateRequest, version),
    remove: async (cli, id) => (await schedules(cli)).delete(id),
  };
  const group = addRecordKind(program, kind);
  for (const verb of ["pause", "resume"] as const) {
    const command = group
      .command(verb)
      .description(`${verb === "pause" ? "Pauses" : "Resumes"} a schedule.`)
      .argument("<name>", "a schedule: its name or id");
    handle(setMembers(command, MEMBERS.ScheduledAgentItem), async (cli, _: object, name: string) => {
      const { id } = await findItem(cli, kind, name);
      showItem(cli, await (await schedules(cli))[verb](id), kind.columns);
    });
  }
}
