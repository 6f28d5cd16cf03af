import { writeSync } from "node:fs";
import { Command, CommanderError } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { editedFiles, removeEditedFiles } from "./ask.ts";
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
import { EXIT, Exit, type ExitCode, failureOf, UsageError } from "./failure.ts";
import { withMembers } from "./json-members.ts";
import { translateOlderForm } from "./older-forms.ts";
import { oneLine } from "./output.ts";

const HELP = `
RUN is an id, the beginning of one, a session link, or @last.

Exit codes: 0 succeeded; 1 failed; 2 wrong usage; 3 cancelled; 4 not signed in or not allowed; 5 waits for a person;
124 timed out; 130 interrupted; 141 the reader of the output has ended.

Examples:
  errand run "Fix the failing test" --follow
  errand run "Update the dependencies" --repo acme/site --pr draft --wait
  errand send @last "Leave TypeScript as it is"
  errand runs list --mine --state failed --since 2d`;

const EXCESS_REMEDY = "→ Write a text of several words in quotes, and the members of JSON as --json a,b.";

const { note, refusal, words } = translateOlderForm(process.argv.slice(2), process.env);
if (note !== undefined) {
  process.stderr.write(`${note}\n`);
}
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", endWithoutOutput);
}
process.exitCode = refusal === undefined ? await main(words) : report(new UsageError(refusal));
// Open connections must not keep the program alive. An error has a handler of its own.
process.stdout.write("", (error) => error ?? process.exit());

async function main(args: readonly string[]): Promise<ExitCode> {
  try {
    const program = buildProgram();
    const parsed = args.length === 0 ? ["--help"] : withMembers(program, args);
    await program.parseAsync([...parsed], { from: "user" });
    await removeEditedFiles();
    return EXIT.ok;
  } catch (error) {
    if (error instanceof Exit) {
      await removeEditedFiles();
      return error.exitCode;
    }
    if (error instanceof CommanderError) {
      // commander has written the help or the error.
      if (error.code === "commander.excessArguments") {
        process.stderr.write(`${EXCESS_REMEDY}\n`);
      }
      return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    }
    return report(error);
  }
}

/** The reader of a pipe may end first, as in `errand runs list | head -1`. */
function endWithoutOutput({ code, message }: NodeJS.ErrnoException): void {
  if (code !== "EPIPE") {
    writeSync(process.stderr.fd, `errand: The output cannot be written: ${message}\n`);
  }
  process.exit(code === "EPIPE" ? EXIT.outputClosed : EXIT.failed);
}

function buildProgram(): Command {
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

function report(error: unknown): ExitCode {
  const { exitCode, message, remedy, requestId } = failureOf(error);
  const lines = [`errand: ${oneLine(message)}`];
  if (remedy !== undefined) {
    lines.push(`→ ${oneLine(remedy)}`);
  }
  if (requestId !== undefined) {
    lines.push(`request id: ${oneLine(requestId)}`);
  }
  lines.push(...editedFiles().map((file) => `Your text is kept in ${file}`));
  process.stderr.write(`${lines.join("\n")}\n`);
  return exitCode;
}
