import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { type Cli, handle } from "../cli.ts";
import { CliError, EXIT, Exit } from "../failure.ts";
import { setMembers } from "../json-members.ts";

/** As the server's program lists it. */
interface MachineAgent {
  readonly name: string;
  readonly version: string;
  readonly from: string;
  readonly errand_version: string;
  readonly previous_version?: string;
}

const MEMBERS: readonly (keyof MachineAgent)[] = [
  "name",
  "version",
  "from",
  "errand_version",
  "previous_version",
];
const WHERE = "It changes the data directory of this machine, as npm start would use it.";
/** The folder of the server, if this program is a part of its checkout. */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Adds the commands for the versions of the agents on this machine, which need no server. */
export function addMachineAgents(admin: Command): void {
  const group = admin.command("agents").summary("list and change the versions of the agents on this machine");
  setMembers(group, MEMBERS);
  const list = group
    .command("list", { isDefault: true })
    .alias("ls")
    .description("Lists the versions of the agents on this machine.");
  handle(setMembers(list, MEMBERS), async (cli) => {
    const agents: readonly MachineAgent[] = JSON.parse(await serverProgram(cli, ["list", "--json"], "pipe"));
    cli.output.table(
      agents,
      [
        { title: "NAME", value: ({ name }) => name, isWhole: true },
        { title: "VERSION", value: ({ version }) => version },
        { title: "FROM", value: ({ from }) => from },
        { title: "OF ERRAND", value: ({ errand_version }) => errand_version },
        { title: "BEFORE", value: ({ previous_version }) => previous_version },
      ],
      "No agents.",
    );
  });
  const update = group
    .command("update")
    .summary("use another version of an agent")
    .description(`Installs a version of an agent, starts it once, and uses it from the next run on. ${WHERE}`)
    .argument("<agent[@version]>", "its name in the catalogue; without a version: the newest");
  handle(update, async (cli, _: object, agent: string) => void (await serverProgram(cli, ["update", agent])));
  const rollback = group
    .command("rollback")
    .summary("use the version before the last update")
    .description(`Uses the version of an agent again that was in use before. ${WHERE}`)
    .argument("<agent>", "its name in the catalogue");
  handle(
    rollback,
    async (cli, _: object, agent: string) => void (await serverProgram(cli, ["rollback", agent])),
  );
}

/** Runs the program of the server on this machine with the variables of `npm start`. Returns what it wrote to a pipe. */
async function serverProgram(
  cli: Cli,
  words: readonly string[],
  output: "inherit" | "pipe" = "inherit",
): Promise<string> {
  if (!existsSync(`${ROOT}/src/main.js`)) {
    throw new CliError(
      "This errand is not a part of the folder of a server, so it cannot change the agents of this machine.",
      "On the machine of the worker, in the folder of Errand: npm run agents -- update NAME. In a container: node src/main.js agents update NAME",
      EXIT.usage,
    );
  }
  if (cli.options.url !== undefined || cli.options.context !== undefined) {
    throw new CliError("This command works on this machine, not on a server.", undefined, EXIT.usage);
  }
  const child = spawn("npm", ["run", "--silent", "agents", "--", ...words], {
    cwd: ROOT,
    stdio: ["ignore", output, "inherit"],
  });
  const [answer, [code]] = await Promise.all([
    child.stdout === null ? "" : text(child.stdout),
    once(child, "close"),
  ]);
  if (code !== 0) {
    throw new Exit(EXIT.failed);
  }
  return answer;
}
