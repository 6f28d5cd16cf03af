import { writeSync } from "node:fs";
import { CommanderError } from "commander";
import { editedFiles, removeEditedFiles } from "./ask.ts";
import { EXIT, Exit, type ExitCode, failureOf, UsageError } from "./failure.ts";
import { withMembers } from "./json-members.ts";
import { translateOlderForm } from "./older-forms.ts";
import { oneLine } from "./output.ts";
import { buildProgram } from "./program.ts";

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
