import type { CreateNamedAgentRequest, NamedAgent, UpdateNamedAgentRequest } from "@errand/client";
import type { Command } from "commander";
import { type Cli, handle } from "../cli.ts";
import { MEMBERS } from "../generated/members.ts";
import { setMembers } from "../json-members.ts";
import { collect, definedMembers } from "../options.ts";
import { reportTest } from "../watch.ts";
import { environmentUid } from "./environments.ts";
import { addRecordKind } from "./record-kind.ts";

export const AGENT_NAMING = {
  idOf: ({ uid }: NamedAgent) => uid,
  nameOf: ({ name }: NamedAgent) => name,
  one: "named agent",
  kindName: "agents",
} as const;

/** Adds the commands for what does the work of a run: named agents, agents of the catalogue, models and skills. */
export function addAgentCommands(program: Command): void {
  addSkillCommands(program);
  addNamedAgentCommands(program);
  addCatalogueCommands(program);
  addModelCommand(program);
}

function addSkillCommands(program: Command): void {
  const group = program.command("skills").summary("list skills");
  const list = group
    .command("list")
    .alias("ls")
    .description("Lists the skills in the repositories of the environments.")
    .option("--repo <owner/name>", "only those of this repository")
    .option("--refresh", "read the repositories again");
  handle(
    setMembers(list, ["name", ...MEMBERS.AgentSkillVariant]),
    async (cli, { refresh, repo }: { readonly repo?: string; readonly refresh?: boolean }) => {
      const { agents } = await (await cli.client()).skills.list(definedMembers({ refresh, repo }));
      const rows = agents.flatMap(({ name, variants }) => variants.map((variant) => ({ name, ...variant })));
      cli.output.table(
        rows,
        [
          { title: "NAME", value: ({ name }) => name, isWhole: true },
          { title: "SKILL", value: ({ id }) => id, isWhole: true },
          { title: "DESCRIPTION", value: ({ description }) => description },
        ],
        "No skills.",
      );
    },
  );
}

function addNamedAgentCommands(program: Command): void {
  const agents = async (cli: Cli) => (await cli.client()).agents;
  addRecordKind<NamedAgent, CreateNamedAgentRequest>(program, {
    name: AGENT_NAMING.kindName,
    one: AGENT_NAMING.one,
    members: MEMBERS.NamedAgent,
    columns: [
      { title: "NAME", value: ({ name }) => name, isWhole: true },
      { title: "UID", value: ({ uid }) => uid, isWhole: true },
      { title: "AGENT", value: ({ harness }) => harness?.type },
      { title: "MODEL", value: ({ base_model }) => base_model },
      { title: "DESCRIPTION", value: ({ description }) => description },
    ],
    idOf: AGENT_NAMING.idOf,
    nameOf: AGENT_NAMING.nameOf,
    list: async (cli) => (await (await agents(cli)).list()).agents,
    addOptions: (command) =>
      command
        .option("--name <name>", "its name")
        .option("--description <text>", "what it is for")
        .option("--prompt <text>", "what it is always told")
        .option("--agent <name>", "the agent of the catalogue that does its runs")
        .option("--model <id>", "the model")
        .option("--env <environment>", "an environment: its name or uid")
        .option("--skill <skill>", "a skill (repeatable)", collect)
        .option("--secret <name>", "a secret of the team that it gets, and no other (repeatable)", collect),
    editOf: async (
      cli,
      options: Partial<Record<"name" | "description" | "prompt" | "agent" | "model" | "env", string>> & {
        readonly skill?: readonly string[];
        readonly secret?: readonly string[];
      },
    ) =>
      definedMembers({
        name: options.name,
        description: options.description,
        prompt: options.prompt,
        harness: options.agent === undefined ? undefined : { type: options.agent },
        base_model: options.model,
        environment_id: options.env === undefined ? undefined : await environmentUid(cli, options.env),
        skills: options.skill === undefined ? undefined : [...options.skill],
        secrets: options.secret?.map((name) => ({ name })),
      }),
    create: async (cli, edit) => (await agents(cli)).create(edit),
    editable: (agent) => {
      const {
        base_model,
        description,
        environment_id,
        harness,
        mcp_servers,
        name,
        prompt,
        secrets,
        skills,
        worker_host,
      } = agent;
      return {
        name,
        skills,
        secrets,
        ...definedMembers({
          base_model,
          description,
          environment_id,
          harness,
          mcp_servers,
          prompt,
          worker_host,
        }),
      };
    },
    path: "/agent/identities",
    replace: async (cli, uid, { name: _, ...edit }, version) =>
      (await agents(cli)).update(uid, edit as UpdateNamedAgentRequest, version),
    remove: async (cli, uid) => (await agents(cli)).delete(uid),
  });
}

function addCatalogueCommands(program: Command): void {
  const group = program.command("catalogue").summary("list the agents that the server knows, and test them");
  setMembers(group, MEMBERS.CatalogueAgent);
  const list = group
    .command("list", { isDefault: true })
    .alias("ls")
    .description("Lists the agents that the server knows.");
  handle(setMembers(list, MEMBERS.CatalogueAgent), async (cli) => {
    const { agents } = await (await cli.client()).catalogue.list();
    cli.output.table(
      agents,
      [
        { title: "NAME", value: ({ name }) => name, isWhole: true },
        { title: "VERSION", value: ({ version }) => version },
        {
          title: "USABLE",
          value: ({ usable }) => (usable ? "yes" : "no"),
          style: ({ usable }) => (usable ? "green" : "dim"),
        },
        { title: "DEFAULT", value: ({ is_default }) => (is_default ? "default" : "") },
        { title: "NEEDS", value: ({ needs }) => needs.join(" ") },
        { title: "DESCRIPTION", value: ({ description }) => description },
      ],
      "No agents.",
    );
  });
  const test = group
    .command("test")
    .description("Tests an agent with a short run.")
    .argument("<name>", "its name");
  handle(setMembers(test, MEMBERS.RunItem), async (cli, _: object, name: string) => {
    await reportTest(cli, await (await cli.client()).catalogue.test(name));
  });
}

function addModelCommand(program: Command): void {
  const models = program
    .command("models")
    .summary("list the models that runs can use")
    .description("Lists the models that runs can use.");
  handle(setMembers(models, MEMBERS.AgentModel), async (cli) => {
    const { default_model_id, models: rows } = await (await cli.client()).models.list();
    cli.output.table(
      rows,
      [
        { title: "MODEL", value: ({ id }) => id, isWhole: true },
        { title: "NAME", value: ({ display_name }) => display_name },
        { title: "PROVIDER", value: ({ provider }) => provider },
        { title: "DEFAULT", value: ({ id }) => (id === default_model_id ? "default" : "") },
      ],
      "No models. The server has no key of a model provider.",
    );
  });
}
