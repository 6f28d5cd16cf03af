import type { Environment, EnvironmentConfig } from "@errand/client";
import { type Command, Option } from "commander";
import { type Cli, handle } from "../cli.ts";
import { UsageError } from "../failure.ts";
import { MEMBERS } from "../generated/members.ts";
import { setMembers } from "../json-members.ts";
import { collect, definedMembers } from "../options.ts";
import { ago } from "../output.ts";
import { reportTest } from "../watch.ts";
import { addRecordKind, oneNamed } from "./record-kind.ts";

const NAMING = {
  idOf: ({ uid }: Environment) => uid,
  nameOf: ({ config }: Environment) => config.name,
  one: "environment",
  kindName: "environments",
} as const;
const UID = /^[0-9A-Za-z]{22}$/;

export function addEnvironmentCommands(program: Command): void {
  const group = addRecordKind<Environment, EnvironmentConfig>(program, {
    name: "environments",
    one: NAMING.one,
    members: MEMBERS.Environment,
    columns: [
      { title: "NAME", value: ({ config }) => config.name, isWhole: true },
      { title: "UID", value: ({ uid }) => uid, isWhole: true },
      { title: "IMAGE", value: ({ config }) => config.docker_image },
      {
        title: "CHANGED",
        value: ({ last_updated }) => last_updated,
        text: ({ last_updated }) => ago(last_updated),
      },
      { title: "SETUP", value: ({ setup_failed }) => (setup_failed ? "failed" : "") },
      {
        title: "REPOSITORIES",
        value: ({ config }) => config.github_repos?.map(({ owner, repo }) => `${owner}/${repo}`).join(" "),
      },
    ],
    idOf: ({ uid }) => uid,
    nameOf: ({ config }) => config.name,
    list: async (cli) => (await (await cli.client()).environments.list({ sort_by: "name" })).environments,
    addOptions: (command) =>
      command
        .option("--name <name>", "its name")
        .option("--description <text>", "what it is for")
        .option("--image <image>", "the Docker image")
        .option("--repo <owner/name>", "a GitHub repository (repeatable)", collect)
        .option("--sparse <folder>", "check out only this folder of its repositories (repeatable)", collect)
        .option("--setup <command>", "a command that prepares it (repeatable)", collect)
        .option("--secret <name>", "the only secrets of the team that its runs get (repeatable)", collect)
        .addOption(
          new Option(
            "--network <network>",
            "what commands and agents reach: only what a run needs, or all",
          ).choices(["none", "internet"]),
        )
        .addOption(
          new Option("--pr <kind>", "what becomes of changes, if a run does not say it").choices([
            "off",
            "draft",
            "ready",
          ]),
        ),
    editOf: async (
      _,
      options: {
        readonly name?: string;
        readonly description?: string;
        readonly image?: string;
        readonly repo?: readonly string[];
        readonly sparse?: readonly string[];
        readonly setup?: readonly string[];
        readonly secret?: readonly string[];
        readonly network?: EnvironmentConfig["network"];
        readonly pr?: EnvironmentConfig["pull_request"];
      },
    ) =>
      definedMembers({
        name: options.name,
        description: options.description,
        docker_image: options.image,
        github_repos: options.repo?.map(repositoryOf),
        sparse: options.sparse === undefined ? undefined : [...options.sparse],
        setup_commands: options.setup === undefined ? undefined : [...options.setup],
        secrets: options.secret?.map((name) => ({ name })),
        network: options.network,
        pull_request: options.pr,
      }),
    create: async (cli, config) => (await cli.client()).environments.create({ config }),
    editable: ({ config }) => config,
    path: "/agent/environments",
    replace: async (cli, uid, config, version) =>
      (await cli.client()).environments.replace(uid, { config }, version),
    remove: async (cli, uid) => (await cli.client()).environments.delete(uid),
  });
  const test = group
    .command("test")
    .description("Prepares an environment as a run would, and says whether that works.")
    .argument("<name>", "an environment: its name or id");
  handle(setMembers(test, MEMBERS.RunItem), async (cli, _: object, name: string) => {
    const uid = await environmentUid(cli, name);
    await reportTest(cli, await (await cli.client()).environments.test(uid));
  });
}

/** The uid of the environment that the user named by its uid or its name. */
export async function environmentUid(cli: Cli, name: string): Promise<string> {
  if (UID.test(name)) {
    return name;
  }
  const { environments } = await (await cli.client()).environments.list();
  return oneNamed(environments, NAMING, name).uid;
}

function repositoryOf(text: string): { owner: string; repo: string } {
  const [owner = "", repo = "", ...others] = text.split("/");
  if (owner === "" || repo === "" || others.length > 0) {
    throw new UsageError(`"${text}" is not a repository.`, "Write it as owner/name.");
  }
  return { owner, repo };
}
