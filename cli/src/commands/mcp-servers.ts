import type { McpServer, McpServerRequest } from "@errand/client";
import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import { MEMBERS } from "../generated/members.ts";
import { collect, definedMembers } from "../options.ts";
import { ago } from "../output.ts";
import { addRecordKind } from "./record-kind.ts";

interface McpServerOptions {
  readonly name?: string;
  readonly description?: string;
  readonly address?: string;
  readonly command?: string;
  readonly arg?: readonly string[];
}

export function addMcpServerCommands(program: Command): void {
  const servers = async (cli: Cli) => (await cli.client()).mcpServers;
  addRecordKind<McpServer, McpServerRequest>(program, {
    name: "mcp-servers",
    one: "MCP server",
    members: MEMBERS.McpServer,
    columns: [
      { title: "NAME", value: ({ name }) => name, isWhole: true },
      { title: "UID", value: ({ uid }) => uid, isWhole: true },
      {
        title: "CHANGED",
        value: ({ updated_at }) => updated_at,
        text: ({ updated_at }) => ago(updated_at),
      },
      { title: "DESCRIPTION", value: ({ description }) => description },
    ],
    idOf: ({ uid }) => uid,
    nameOf: ({ name }) => name,
    list: async (cli) => (await (await servers(cli)).list()).mcp_servers,
    addOptions: (command) =>
      command
        .option("--name <name>", "its name")
        .option("--description <text>", "what it is for")
        .option("--address <url>", "its address; headers with secrets need a file")
        .addOption(
          new Option(
            "--command <program>",
            "the program to start; variables with secrets need a file",
          ).conflicts("address"),
        )
        .option("--arg <text>", "an argument of the program (repeatable)", collect),
    editOf: async (_, { address, arg, command, description, name }: McpServerOptions) => {
      const program = command === undefined ? undefined : { command, args: [...(arg ?? [])] };
      const config = address === undefined ? program : { url: address };
      return definedMembers({ name, description, config });
    },
    create: async (cli, edit) => (await servers(cli)).create(edit),
    editable: ({ config, description, name }) => ({ name, config, ...definedMembers({ description }) }),
    path: "/agent/mcp-servers",
    replace: async (cli, uid, edit, version) => (await servers(cli)).replace(uid, edit, version),
    remove: async (cli, uid) => (await servers(cli)).delete(uid),
  });
}
