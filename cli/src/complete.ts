import { setTimeout as sleep } from "node:timers/promises";
import type { Argument, Command } from "commander";
import { Cli } from "./cli.ts";
import { STATE_NAMES } from "./event-text.ts";
import { RUN_HELP } from "./find-run.ts";
import { commandIn } from "./json-members.ts";

/** Who presses Tab waits so long at most for names from the server. */
const WAIT_MS = 1_000;
const RUNS = 30;
/** Names that a shell would split or interpret are completed by their ids. */
const PLAIN = /^[\p{L}\p{N}][\p{L}\p{N}._/:@+-]*$/u;

type Entry = Readonly<Record<string, unknown>>;

/** Where names come from: the path, and the members by which a record is named. The last is its id. */
interface Source {
  readonly path: string;
  readonly naming: readonly string[];
}

const ENVIRONMENTS: Source = { path: "/agent/environments", naming: ["config.name", "uid"] };
const AGENTS: Source = { path: "/agent/identities", naming: ["name", "uid"] };
const CATALOGUE: Source = { path: "/agent/catalogue", naming: ["name"] };
const MODELS: Source = { path: "/agent/models", naming: ["id"] };
const RUNS_SOURCE: Source = {
  path: `/agent/runs?sort_by=created_at&limit=${RUNS}&fields=run_id`,
  naming: ["run_id"],
};

/** Of the options that name something on the server. */
const OF_OPTIONS: Readonly<Record<string, readonly Source[]>> = {
  "--env": [ENVIRONMENTS],
  "--agent": [AGENTS, CATALOGUE],
  "--model": [MODELS],
  "--parent": [RUNS_SOURCE],
};
/** Of the argument `<name>`, by the group of the command. */
const OF_GROUPS: Readonly<Record<string, readonly Source[]>> = {
  agents: [AGENTS],
  catalogue: [CATALOGUE],
  environments: [ENVIRONMENTS],
  keys: [{ path: "/agent/keys", naming: ["name", "id"] }],
  "mcp-servers": [{ path: "/agent/mcp-servers", naming: ["name", "uid"] }],
  people: [{ path: "/agent/principals", naming: ["email", "uid"] }],
  policies: [{ path: "/agent/policies", naming: ["name", "id"] }],
  routing: [{ path: "/agent/routing-rules", naming: ["name", "id"] }],
  schedules: [{ path: "/agent/schedules", naming: ["name", "id"] }],
  secrets: [{ path: "/agent/secrets", naming: ["name"] }],
  teams: [{ path: "/agent/teams", naming: ["name", "uid"] }],
  webhooks: [{ path: "/agent/webhooks", naming: ["id"] }],
};

/** What the last of these words may become. An error is no candidate, and is not said. */
export async function candidatesOf(program: Command, words: readonly string[]): Promise<readonly string[]> {
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const { known, sources } = candidatesFor(program, before, current);
  const found = await Promise.race([namesAt(sources, before), sleep(WAIT_MS, [], { ref: false })]).catch(
    () => [],
  );
  return [...new Set([...known, ...found])].filter((candidate) => candidate.startsWith(current));
}

interface Candidates {
  readonly known: readonly string[];
  readonly sources: readonly Source[];
}

function candidatesFor(program: Command, before: readonly string[], current: string): Candidates {
  const command = commandIn(program, before);
  const last = before.at(-1);
  const option = command.options.find(
    ({ long, short }) => last !== undefined && [long, short].includes(last),
  );
  if (option?.required === true) {
    const states =
      option.long === "--state" && option.argChoices === undefined ? Object.keys(STATE_NAMES) : [];
    const known = option.argChoices ?? states.map((state) => state.toLowerCase());
    return { known, sources: OF_OPTIONS[option.long ?? ""] ?? [] };
  }
  if (current.startsWith("-")) {
    const known = command.options.flatMap(({ hidden, long }) => (hidden || long == null ? [] : long));
    return { known, sources: [] };
  }
  const commands = command
    .createHelp()
    .visibleCommands(command)
    .map((own) => own.name());
  const values = command.registeredArguments;
  const [first] = values;
  return {
    known: [
      ...commands,
      ...values.flatMap(({ argChoices = [] }) => argChoices),
      ...(first?.description === RUN_HELP ? ["@last"] : []),
    ],
    sources: sourcesOf(command, first),
  };
}

function sourcesOf(command: Command, argument: Argument | undefined): readonly Source[] {
  if (argument?.description === RUN_HELP) {
    return [RUNS_SOURCE];
  }
  return argument?.name() === "name" ? (OF_GROUPS[command.parent?.name() ?? ""] ?? []) : [];
}

/** The names of records on the server that the words name. */
async function namesAt(sources: readonly Source[], words: readonly string[]): Promise<readonly string[]> {
  if (sources.length === 0) {
    return [];
  }
  const valueBehind = (name: string) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
  const [context, url] = [valueBehind("--context"), valueBehind("--url")];
  const cli = new Cli({ quiet: true, ...(context && { context }), ...(url && { url }) });
  const client = (await cli.client()).withOptions({ maxRetries: 0 });
  const lists = await Promise.all(
    sources.map(async ({ naming, path }) => {
      const page = await client.get<Entry>(path);
      const list = Object.values(page).find((member): member is Entry[] => Array.isArray(member)) ?? [];
      return list.flatMap((entry) => nameOf(entry, naming) ?? []);
    }),
  );
  return lists.flat();
}

function nameOf(entry: Entry, naming: readonly string[]): string | undefined {
  const names = naming.map((member) =>
    member.split(".").reduce<unknown>((value, name) => (value as Entry | undefined)?.[name], entry),
  );
  return names.find((name): name is string => typeof name === "string" && PLAIN.test(name));
}
