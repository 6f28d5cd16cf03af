import { type Command, Option } from "commander";
import { type Cli, handle } from "../cli.ts";
import { UsageError } from "../failure.ts";
import { setMembers } from "../json-members.ts";
import { collect, pairOf, parseCount, readJson, requireYes } from "../options.ts";
import { ago, type Column } from "../output.ts";
import { environmentUid } from "./environments.ts";
import { oneNamed, readVersion } from "./record-kind.ts";

/** An option, and the member of the request that it sets. */
export interface Flag {
  readonly kind: "text" | "list" | "count" | "switch" | "choice" | "match" | "environment" | "quotas";
  readonly name: string;
  readonly member: string;
  readonly help: string;
  readonly choices?: readonly string[];
}

/** A command for one record, which sends a POST below it. */
interface Action {
  readonly name: string;
  readonly help: string;
  readonly path: string;
  readonly flags?: readonly Flag[];
  /** Default: as the record. */
  readonly members?: readonly string[];
}

/** A collection of the API, and what can be done with it. */
export interface Resource {
  readonly name: string;
  /** One of them, for people. */
  readonly one: string;
  /** Several of them, for people. */
  readonly many: string;
  readonly path: string;
  /** The member of the response that has the records. */
  readonly entries: string;
  readonly members: readonly string[];
  /** The members by which a record is named. The first is its id. With no other, one is only found in the list. */
  readonly naming: readonly string[];
  /** The member of a record that has ended. Such a record is found by its id only. */
  readonly ended?: string;
  /** The members that a table shows. */
  readonly columns: readonly string[];
  readonly filters?: readonly Flag[];
  readonly create?: readonly Flag[];
  readonly edit?: {
    readonly method: "PATCH" | "PUT";
    readonly flags: readonly Flag[];
    /** For PUT: the members that a request must repeat. */
    readonly editable?: readonly string[];
  };
  readonly remove?: { readonly verb?: string; readonly filters?: readonly Flag[] };
  readonly actions?: readonly Action[];
  /** What only the response that creates it contains. */
  readonly revealed?: { readonly member: string; readonly members: readonly string[] };
  /** For a collection that is replaced as a whole, by team. */
  readonly replaceAll?: { readonly path: (teamUid: string) => string; readonly flag: Flag };
}

type Entry = Readonly<Record<string, unknown>>;
type Options = Readonly<Record<string, unknown>>;

/** Adds the commands that the table of a resource names. */
export function addResource(parent: Command, resource: Resource): Command {
  const canChange = [resource.create, resource.edit, resource.remove, resource.replaceAll].some(Boolean);
  const group = parent
    .command(resource.name)
    .summary(`list ${canChange ? "and change " : ""}${resource.many}`);
  addList(group, resource);
  addGet(group, resource);
  addCreate(group, resource);
  addEdit(group, resource);
  addRemove(group, resource);
  for (const action of resource.actions ?? []) {
    addAction(group, resource, action);
  }
  addReplaceAll(group, resource);
  return group;
}

function one(group: Command, { one: title }: Resource, name: string, help: string): Command {
  return group.command(name).description(help).argument("<name>", `a ${title}: its name or id`);
}

function addList(group: Command, resource: Resource): void {
  const { columns, entries, filters = [], many, members, path } = resource;
  const command = group
    .command("list", { isDefault: hasOnlyIds(resource) })
    .alias("ls")
    .description(`Lists the ${many}.`);
  addFlags(command, filters);
  if (hasOnlyIds(resource)) {
    setMembers(group, members);
  }
  handle(setMembers(command, members), async (cli, options: Options) => {
    const rows = await entriesAt(cli, path, entries, await bodyOf(cli, filters, options));
    cli.output.table(rows, columnsOf({ columns }), `No ${many}.`);
  });
}

/** The records of a log, which are many. */
const hasOnlyIds = ({ naming }: Resource) => naming.length === 1;

function addGet(group: Command, resource: Resource): void {
  if (hasOnlyIds(resource)) {
    return;
  }
  const command = one(group, resource, "get", `Shows one ${resource.one}.`).alias("view");
  handle(setMembers(command, resource.members), async (cli, _: Options, name: string) => {
    show(cli, resource, await find(cli, resource, name));
  });
}

function addCreate(group: Command, resource: Resource): void {
  const { create, one: title, path, revealed } = resource;
  if (create === undefined) {
    return;
  }
  const command = group
    .command("create")
    .description(`Creates one ${title}, from options or from a JSON file.`);
  addFlags(withFile(command), create);
  handle(
    setMembers(command, revealed?.members ?? resource.members),
    async (cli, options: Options & { readonly file?: string }) => {
      const body = { ...(await fileOf(options.file)), ...(await bodyOf(cli, create, options)) };
      show(cli, resource, await (await cli.client()).post<Entry>(path, { body }));
    },
  );
}

function addEdit(group: Command, resource: Resource): void {
  const { edit } = resource;
  if (edit === undefined) {
    return;
  }
  const command = one(group, resource, "edit", `Changes one ${resource.one}, by options or by a JSON file.`);
  addFlags(withFile(command.alias("update")), edit.flags);
  handle(
    setMembers(command, resource.members),
    async (cli, options: Options & { readonly file?: string }, name: string) => {
      const changes = { ...(await fileOf(options.file)), ...(await bodyOf(cli, edit.flags, options)) };
      if (Object.keys(changes).length === 0) {
        throw new UsageError("Nothing is to be changed.", "Give options, or a file: --file FILE");
      }
      const target = `${resource.path}/${idOf(resource, await find(cli, resource, name))}`;
      const { ifMatch, item } = await readVersion<Entry>(cli, target);
      const client = await cli.client();
      const kept = Object.fromEntries((edit.editable ?? []).map((member) => [member, item[member]]));
      const changed =
        edit.method === "PATCH"
          ? client.patch<Entry>(target, { body: changes, ifMatch })
          : client.put<Entry>(target, {
              body: options.file === undefined ? { ...kept, ...changes } : changes,
              ifMatch,
            });
      show(cli, resource, await changed);
    },
  );
}

function addRemove(group: Command, resource: Resource): void {
  const { remove } = resource;
  if (remove === undefined) {
    return;
  }
  const { filters = [], verb = "Deletes" } = remove;
  const command = one(group, resource, "delete", `${verb} one ${resource.one}.`)
    .alias("rm")
    .option("-y, --yes", "do not ask");
  addFlags(command, filters);
  handle(command, async (cli, options: Options & { readonly yes?: boolean }, name: string) => {
    const item = await find(cli, resource, name);
    const query = Object.entries(await bodyOf(cli, filters, options));
    await requireYes(
      cli,
      options.yes,
      `${verb.slice(0, -1)} the ${resource.one} "${nameOf(resource, item)}"?`,
    );
    await (await cli.client()).delete(`${resource.path}/${idOf(resource, item)}`, {
      query: Object.fromEntries(query.map(([key, value]) => [key, String(value)])),
    });
    cli.output.note(`${verb.slice(0, -1)}d ${resource.one} ${nameOf(resource, item)}.`);
  });
}

function addAction(
  group: Command,
  resource: Resource,
  { flags = [], help, members, name, path }: Action,
): void {
  const command = one(group, resource, name, help);
  addFlags(command, flags);
  const shown = members ?? resource.revealed?.members ?? resource.members;
  handle(setMembers(command, shown), async (cli, options: Options, named: string) => {
    const item = await find(cli, resource, named);
    const body = await bodyOf(cli, flags, options);
    const target = `${resource.path}/${idOf(resource, item)}/${path}`;
    const client = await cli.client();
    show(
      cli,
      { ...resource, columns: members ?? resource.columns },
      await client.post<Entry>(target, flags.length === 0 ? {} : { body }),
    );
  });
}

function addReplaceAll(group: Command, resource: Resource): void {
  const { replaceAll: all } = resource;
  if (all === undefined) {
    return;
  }
  const command = group
    .command("set")
    .description(`Replaces all ${resource.name} of a team, by options or by a JSON file. Only for operators.`)
    .option("--team <uid>", "another team, by its uid; default: yours");
  addFlags(withFile(command), [all.flag]);
  handle(
    setMembers(command, resource.members),
    async (cli, options: Options & { readonly file?: string; readonly team?: string }) => {
      const body = { ...(await fileOf(options.file)), ...(await bodyOf(cli, [all.flag], options)) };
      const client = await cli.client();
      const team = options.team ?? (await client.whoami()).team.uid;
      const changed = await client.put<Record<string, Entry[]>>(all.path(team), { body });
      cli.output.table(changed[resource.entries] ?? [], columnsOf(resource), `No ${resource.name}.`);
    },
  );
}

function withFile(command: Command): Command {
  return command.option("-F, --file <file>", "a JSON file with the whole request; - reads standard input");
}

async function fileOf(file: string | undefined): Promise<Entry> {
  return file === undefined ? {} : readJson(file);
}

function addFlags(command: Command, flags: readonly Flag[]): void {
  for (const { choices, help, kind, name } of flags) {
    if (kind === "switch") {
      command.option(`--${name}`, help).option(`--no-${name}`, "the opposite");
      continue;
    }
    const option = new Option(`--${name} <${kind === "count" ? "number" : "value"}>`, help);
    if (choices !== undefined) {
      option.choices(choices);
    } else if (kind === "count") {
      option.argParser(parseCount);
    } else if (kind === "list" || kind === "match" || kind === "quotas") {
      option.argParser(collect);
    }
    command.addOption(option);
  }
}

/** The members of a request that the options set. */
async function bodyOf(cli: Cli, flags: readonly Flag[], options: Options): Promise<Entry> {
  const body: Record<string, unknown> = {};
  for (const { kind, member, name } of flags) {
    const value = options[name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())];
    if (value !== undefined) {
      body[member] = await memberOf(cli, kind, value);
    }
  }
  return body;
}

async function memberOf(cli: Cli, kind: Flag["kind"], value: unknown): Promise<unknown> {
  const texts = Array.isArray(value) ? value.map(String) : [String(value)];
  switch (kind) {
    case "match":
      return Object.fromEntries(texts.map(pairOf).map(([name, values]) => [name, values.split(",")]));
    case "quotas":
      return texts.map(pairOf).map(([name, limit]) => ({ name, limit: Number(limit) }));
    case "environment":
      return environmentUid(cli, texts[0] ?? "");
    default:
      return value;
  }
}

async function entriesAt(
  cli: Cli,
  path: string,
  entries: string,
  query: Entry = {},
): Promise<readonly Entry[]> {
  const sent = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
  const page = await (await cli.client()).get<Record<string, Entry[]>>(path, { query: sent });
  return page[entries] ?? [];
}

/** The record with this id, or the only one with this name. */
async function find(cli: Cli, resource: Resource, name: string): Promise<Entry> {
  const { ended, naming } = resource;
  if (hasOnlyIds(resource)) {
    return { [naming[0] ?? ""]: name };
  }
  const rows = await entriesAt(cli, resource.path, resource.entries);
  return oneNamed(
    rows,
    {
      idOf: (item) => idOf(resource, item),
      nameOf: (item) => {
        const hasEnded = ended !== undefined && item[ended] !== undefined;
        return !hasEnded && naming.some((member) => item[member] === name) ? name : "";
      },
      one: resource.one,
      kindName: resource.name,
    },
    name,
  );
}

function idOf({ naming: [id = "id"] }: Resource, item: Entry): string {
  return String(item[id]);
}

function nameOf({ naming: [id = "id", name = id] }: Resource, item: Entry): string {
  return String(item[name] ?? item[id]);
}

/** A record, and what only this response contains. */
function show(cli: Cli, resource: Pick<Resource, "columns" | "members" | "revealed">, item: Entry): void {
  const { member } = resource.revealed ?? {};
  const columns = columnsOf(resource).map(({ title, value }) => [title.toLowerCase(), value(item)] as const);
  const secret = member === undefined || item[member] === undefined ? [] : [[member, String(item[member])]];
  cli.output.details(item, Object.fromEntries([...columns, ...secret]));
  if (secret.length > 0 && cli.output.isTerminal) {
    cli.output.note(`Keep the ${member}: it is not shown again.`);
  }
}

/** The columns of a table. Ids and names are never cut, because people copy them. */
function columnsOf({ columns }: Pick<Resource, "columns">): readonly Column<Entry>[] {
  return columns.map((member) => {
    const isTime = /(^|_)at$|_since$/.test(member);
    return {
      title: member
        .replace(/_(at|uid|id)$/, "")
        .replaceAll("_", " ")
        .toUpperCase(),
      value: (item) => textOf(item[member]),
      ...(isTime && { text: (item: Entry) => ago(textOf(item[member])) }),
      isWhole: member === "id" || member === "uid" || member === "name",
    };
  });
}

/** A member for people: lists and names instead of JSON. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  if (Array.isArray(value)) {
    return value.map(textOf).join(" ");
  }
  if (typeof value === "object") {
    return Object.entries(value)
      .map(([name, inner]) => `${name}=${Array.isArray(inner) ? inner.join(",") : textOf(inner)}`)
      .join(" ");
  }
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}
