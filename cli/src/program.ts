import { Command } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { withCommonOptions } from "./cli.ts";
import { addAccountCommands } from "./commands/account.ts";
import { addAgentCommands } from "./commands/agents.ts";
import { addApiCommand } from "./commands/api.ts";
import { addConfigCommands } from "./commands/config.ts";
import { addEnvironmentCommands } from "./commands/environments.ts";
import { addMcpServerCommands } from "./commands/mcp-servers.ts";
import { addPolicyCommands } from "./commands/policies.ts";
import { addTeamResources } from "./commands/resources.ts";
import { addRunCommand } from "./commands/run.ts";
import { addRunsCommands } from "./commands/runs.ts";
import { addScheduleCommands } from "./commands/schedules.ts";
import { addSecretCommands } from "./commands/secrets.ts";
import { addServerCommands } from "./commands/server.ts";
import { addSteerCommands } from "./commands/steer.ts";
import { addUsageCommand } from "./commands/usage.ts";
import { addWorkCommands } from "./commands/work.ts";
import { addCompletionCommands } from "./completion.ts";

const HELP = `
RUN is an id, the beginning of one, a session link, or @last.

Exit codes: 0 succeeded; 1 failed; 2 wrong usage; 3 cancelled; 4 not signed in or not allowed; 5 waits for a person;
124 timed out; 130 interrupted; 141 the reader of the output has ended.

Examples:
  errand run "Fix the failing test" --follow
  errand run "Update the dependencies" --repo acme/site --pr draft --wait
  errand send @last "Leave TypeScript as it is"
  errand runs list --mine --state failed --since 2d`;

/** All commands with their options. */
export function buildProgram(): Command {
  const program = new Command("errand")
    .description("Starts, watches and steers coding agents on an Errand server.")
    .version(packageJson.version, "-V, --version", "show the version")
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .configureHelp({ sortSubcommands: false, showGlobalOptions: false })
    .addHelpText("after", HELP);
  withCommonOptions(program);
  program.commandsGroup("Runs:");
  addRunCommand(program);
  addRunsCommands(program);
  addSteerCommands(program);
  addWorkCommands(program);
  program.commandsGroup("Settings of the team:");
  addEnvironmentCommands(program);
  addSecretCommands(program);
  addScheduleCommands(program);
  addAgentCommands(program);
  addMcpServerCommands(program);
  addPolicyCommands(program);
  addTeamResources(program);
  program.commandsGroup("Server and account:");
  addAccountCommands(program);
  addServerCommands(program);
  addUsageCommand(program);
  addApiCommand(program);
  addConfigCommands(program);
  addCompletionCommands(program);
  for (const command of allOf(program)) {
    command.exitOverride().configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, "errand: ")),
    });
  }
  return program;
}

function allOf(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(allOf)];
}
