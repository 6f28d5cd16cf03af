import type { Command } from "commander";
import { handle } from "../cli.ts";
import { UsageError } from "../failure.ts";
import { DEFAULT_NAMES, type DefaultName } from "../settings.ts";

export function addConfigCommands(program: Command): void {
  const config = program.command("config").summary("show and change settings of this program");
  const names = ["context", ...DEFAULT_NAMES];

  const get = config
    .command("get")
    .description(`Shows a setting: ${names.join(", ")}.`)
    .argument("[name]", "a setting");
  handle(get, async (cli, _: object, name?: string) => {
    const { current, defaults } = await cli.settings.read();
    const values: Readonly<Record<string, string | undefined>> = { context: current, ...defaults };
    if (name === undefined) {
      cli.output.details(values, values);
      return;
    }
    requireSetting(name, names);
    if (cli.output.isJson) {
      cli.output.json(values[name] ?? null);
    } else if (values[name] !== undefined) {
      cli.output.line(values[name]);
    }
  });

  const set = config
    .command("set")
    .description(`Changes a setting: ${names.join(", ")}. An empty value removes it.`)
    .argument("<name>", "a setting")
    .argument("<value>", "its value");
  handle(set, async (cli, _: object, name: string, value: string) => {
    requireSetting(name, names);
    const { contexts } = await cli.settings.read();
    if (name === "context" && contexts[value] === undefined) {
      throw new UsageError(
        `There is no context "${value}".`,
        `Known contexts: ${Object.keys(contexts).join(", ") || "none"}`,
      );
    }
    await cli.settings.change(({ defaults, ...stored }) => {
      if (name === "context") {
        return { ...stored, defaults, current: value };
      }
      const { [name as DefaultName]: __, ...others } = defaults;
      return { ...stored, defaults: value === "" ? others : { ...others, [name]: value } };
    });
  });

  const contexts = config.command("contexts").description("Lists the servers that you are signed in to.");
  handle(contexts, async (cli) => {
    const { contexts: known, current } = await cli.settings.read();
    const rows = Object.entries(known).map(([name, { url }]) => ({ name, url, current: name === current }));
    cli.output.table(
      rows,
      [
        { title: "NAME", value: ({ name }) => name, isWhole: true },
        { title: "CURRENT", value: ({ current: is }) => (is ? "current" : "") },
        { title: "SERVER", value: ({ url }) => url },
      ],
      "You are not signed in. Run: errand login",
    );
  });
}

function requireSetting(name: string, names: readonly string[]): void {
  if (!names.includes(name)) {
    throw new UsageError(`"${name}" is not a setting.`, `Settings: ${names.join(", ")}`);
  }
}
