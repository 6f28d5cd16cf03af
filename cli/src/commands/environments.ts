import type { Environment, EnvironmentConfig } from "@errand/client";
import type { Command } from "commander";
import { handle } from "../cli.ts";
import { collect, definedMembers } from "../options.ts";
import { ago } from "../output.ts";
import { reportTest } from "../watch.ts";
import { addRecordKind } from "./record-kind.ts";

export function addEnvironmentCommands(program: Command): void {
  const group = addRecordKind<Environment, EnvironmentConfig>(program, {
    name: "environments",
    one: "environment",
    columns: [
      { title: "NAME", value: ({ config }) => config.name },
      { title: "UID", value: ({ uid }) => uid },
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
        .option("--setup <command>", "a command that prepares it (repeatable)", collect),
    editOf: (options: {
      readonly name?: string;
      readonly description?: string;
      readonly image?: string;
      readonly repo?: readonly string[];
      readonly setup?: readonly string[];
    }) =>
      definedMembers({
        name: options.name,
        description: options.description,
        docker_image: options.image,
        github_repos: options.repo?.map(repositoryOf),
        setup_commands: options.setup === undefined ? undefined : [...options.setup],
      }),
    create: async (cli, config) => (await cli.client()).environments.create({ config }),
    editable: ({ config }) => config,
    replace: async (cli, uid, config) => (await cli.client()).environments.replace(uid, { config }),
    remove: async (cli, uid) => (await cli.client()).environments.delete(uid),
  });
  const test = group
    .command("test")
    .description("Prepares an environment as a run would, and says whether that works.")
    .argument("<name>", "an environment: its name or id");
  handle(test, async (cli, _: object, name: string) => {
    const client = await cli.client();
    const { environments } = await client.environments.list();
    const found = environments.find(({ config, uid }) => uid === name || config.name === name);
    await reportTest(cli, await client.environments.test(found?.uid ?? name));
  });
}

function repositoryOf(text: string): { owner: string; repo: string } {
  const [owner = "", repo = ""] = text.split("/");
  return { owner, repo };
}
