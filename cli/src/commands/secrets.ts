import type { Command } from "commander";
import { askSecret, readInput } from "../ask.ts";
import { type Cli, handle } from "../cli.ts";
import { UsageError } from "../failure.ts";
import { MEMBERS } from "../generated/members.ts";
import { setMembers } from "../json-members.ts";
import { readText, requireYes } from "../options.ts";
import { ago } from "../output.ts";

interface SetOptions {
  readonly personal?: boolean;
  readonly valueFile?: string;
}

export function addSecretCommands(program: Command): void {
  const group = program.command("secrets").summary("set, list and delete secrets");
  const set = group
    .command("set")
    .description("Sets a secret. Its value is read from standard input, or asked for without showing it.")
    .argument("<name>", "the name of the environment variable")
    .option("--personal", "only your own runs get it")
    .option("--value-file <file>", "read the value from this file");
  handle(setMembers(set, MEMBERS.Secret), async (cli, { personal, valueFile }: SetOptions, name: string) => {
    const value = await secretValue(cli, name, valueFile);
    const secret = await (await cli.client()).secrets.put(name, {
      value,
      ...(personal === true && { team: false }),
    });
    if (cli.output.isJson) {
      cli.output.json(secret);
    } else {
      cli.output.note(`Set ${name}.`);
    }
  });

  const list = group
    .command("list")
    .alias("ls")
    .description("Lists the names of secrets. Values are never shown.");
  handle(setMembers(list, MEMBERS.Secret), async (cli) => {
    const { secrets } = await (await cli.client()).secrets.list();
    cli.output.table(
      secrets,
      [
        { title: "NAME", value: ({ name }) => name, isWhole: true },
        { title: "OF", value: ({ scope }) => (scope.type === "User" ? "you" : "team") },
        {
          title: "CHANGED",
          value: ({ updated_at }) => updated_at,
          text: ({ updated_at }) => ago(updated_at),
        },
      ],
      "No secrets.",
    );
  });

  const remove = group
    .command("delete")
    .alias("rm")
    .description("Deletes a secret.")
    .argument("<name>", "its name")
    .option("--personal", "your own, not the team's")
    .option("-y, --yes", "do not ask");
  handle(
    remove,
    async (cli, options: { readonly personal?: boolean; readonly yes?: boolean }, name: string) => {
      await requireYes(cli, options.yes, `Delete the secret ${name}?`);
      await (await cli.client()).secrets.delete(name, options.personal === true ? { team: false } : {});
      cli.output.note(`Deleted ${name}.`);
    },
  );
}

/** Of a file and of standard input, the last line break is not part of the value. */
async function secretValue(cli: Cli, name: string, file: string | undefined): Promise<string> {
  const isAsked = file === undefined && cli.isInteractive;
  if (file === undefined && !isAsked && process.stdin.isTTY) {
    // A terminal would show what is typed.
    throw new UsageError("The value cannot be asked for.", "Write it to standard input.");
  }
  const value = isAsked
    ? await askSecret(`Value of ${name}`)
    : (file === undefined ? await readInput() : await readText(file)).replace(/\r?\n$/, "");
  if (value === "") {
    throw new UsageError("The value is empty.", "Write it to standard input.");
  }
  return value;
}
