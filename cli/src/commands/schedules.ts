import type {
  AmbientAgentConfig,
  ScheduledAgentItem,
  ScheduleRequest,
  ScheduleUpdateRequest,
} from "@errand/client";
import { type Command, Option } from "commander";
import { type Cli, handle } from "../cli.ts";
import { MEMBERS } from "../generated/members.ts";
import { setMembers } from "../json-members.ts";
import { mcpServersOf } from "../mcp-sources.ts";
import { collect, definedMembers, readJson } from "../options.ts";
import { ago } from "../output.ts";
import { environmentUid } from "./environments.ts";
import { addRecordKind, findItem, type RecordKind, showItem } from "./record-kind.ts";

interface ScheduleOptions {
  readonly name?: string;
  readonly cron?: string;
  readonly prompt?: string;
  readonly env?: string | false;
  readonly repo?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly skill?: string;
  readonly mcp?: readonly string[];
  readonly host?: string;
  readonly configFile?: string;
}

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
        .option("--no-env", "no environment")
        .option("--repo <owner/name>", "the GitHub repository to work on")
        .option("--agent <name>", "an agent of the catalogue")
        .option("--model <id>", "the model")
        .option("--skill <skill>", "the skill to run: owner/repo:name")
        .option("--mcp <servers>", "MCP servers: a JSON file, its content, or a uid (repeatable)", collect)
        .addOption(new Option("--host <name>").hideHelp())
        .option("--config-file <file>", "a JSON file with the configuration; other options take precedence"),
    editOf: async (cli, options: ScheduleOptions) => {
      const config = await configOf(cli, options);
      return definedMembers({
        name: options.name,
        cron_schedule: options.cron,
        prompt: options.prompt,
        agent_config: Object.keys(config).length === 0 ? undefined : config,
      });
    },
    combine: (before, changes) => ({
      ...before,
      ...changes,
      agent_config: { ...before.agent_config, ...changes.agent_config },
    }),
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

async function configOf(cli: Cli, options: ScheduleOptions): Promise<AmbientAgentConfig> {
  const { agent, configFile, env, mcp } = options;
  const uid = typeof env === "string" ? await environmentUid(cli, env) : undefined;
  return {
    ...(configFile === undefined ? {} : await readJson(configFile)),
    ...definedMembers({
      // An empty text leaves it out.
      environment_id: env === false ? "" : uid,
      repository: options.repo,
      harness: agent === undefined ? undefined : { type: agent },
      model_id: options.model,
      skill_spec: options.skill,
      mcp_servers: mcp === undefined ? undefined : await mcpServersOf(mcp),
      worker_host: options.host,
    }),
  };
}
