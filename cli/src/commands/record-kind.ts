import type { Command } from "commander";
import { editText } from "../ask.ts";
import { type Cli, handle } from "../cli.ts";
import { UsageError } from "../failure.ts";
import { setMembers } from "../json-members.ts";
import { readJson, requireYes } from "../options.ts";
import type { Column } from "../output.ts";

/** A kind of record that can be listed, shown, created, changed and deleted. */
export interface RecordKind<Item, Edit extends object> {
  /** The command, for example `environments`. */
  readonly name: string;
  /** One of them, for example `environment`. */
  readonly one: string;
  readonly columns: readonly Column<Item>[];
  /** The members of its JSON. */
  readonly members: readonly string[];
  readonly idOf: (item: Item) => string;
  readonly nameOf: (item: Item) => string;
  readonly list: (cli: Cli) => Promise<readonly Item[]>;
  /** Adds the options by which one is described. */
  readonly addOptions: (command: Command) => void;
  /** What the options describe. */
  readonly editOf: (cli: Cli, options: never) => Promise<Partial<Edit>>;
  readonly create: (cli: Cli, edit: Edit) => Promise<Item>;
  /** The members of an item that can be changed. */
  readonly editable: (item: Item) => Edit;
  /** An item with changes. Default: each member that changes is replaced as a whole. */
  readonly combine?: (before: Edit, changes: Partial<Edit>) => Edit;
  /** The collection of the API, for example `/agent/environments`. */
  readonly path: string;
  /** `options` has the version that the change is based on. */
  readonly replace: (cli: Cli, id: string, edit: Edit, options: Version) => Promise<Item>;
  readonly remove: (cli: Cli, id: string) => Promise<unknown>;
}

/** Adds list, get, create, edit and delete. */
export function addRecordKind<Item extends object, Edit extends object>(
  program: Command,
  kind: RecordKind<Item, Edit>,
): Command {
  const group = program.command(kind.name).summary(`list and change ${kind.name}`);
  const described = `a ${kind.one}: its name or id`;

  const list = group.command("list").alias("ls").description(`Lists the ${kind.name}.`);
  handle(setMembers(list, kind.members), async (cli) => {
    cli.output.table(await kind.list(cli), kind.columns, `No ${kind.name}.`);
  });

  const get = group
    .command("get")
    .alias("view")
    .description(`Shows one ${kind.one}.`)
    .argument("<name>", described);
  handle(setMembers(get, kind.members), async (cli, _: object, name: string) => {
    showItem(cli, await findItem(cli, kind, name), kind.columns);
  });

  const create = group
    .command("create")
    .description(`Creates one ${kind.one}, from options or from a JSON file.`)
    .option("-F, --file <file>", "a JSON file; - reads standard input");
  kind.addOptions(create);
  handle(setMembers(create, kind.members), async (cli, options: { readonly file?: string }) => {
    const fromFile = options.file === undefined ? {} : await readJson(options.file);
    const item = await kind.create(cli, {
      ...fromFile,
      ...(await kind.editOf(cli, options as never)),
    } as Edit);
    showItem(cli, item, kind.columns);
  });

  const edit = group
    .command("edit")
    .alias("update")
    .description(`Changes one ${kind.one}: by options, by a JSON file, or in your editor.`)
    .argument("<name>", described)
    .option("-F, --file <file>", "a JSON file; - reads standard input");
  kind.addOptions(edit);
  handle(setMembers(edit, kind.members), async (cli, options: { readonly file?: string }, name: string) => {
    const id = kind.idOf(await findItem(cli, kind, name));
    const { ifMatch, item } = await readVersion<Item>(cli, `${kind.path}/${id}`);
    const changes = await kind.editOf(cli, options as never);
    const before = kind.editable(item);
    const wanted =
      options.file !== undefined
        ? { ...(await readJson(options.file)), ...changes }
        : Object.keys(changes).length > 0
          ? (kind.combine?.(before, changes) ?? { ...before, ...changes })
          : await editJson(cli, kind.one, before);
    showItem(cli, await kind.replace(cli, id, wanted as Edit, { ifMatch }), kind.columns);
  });

  const remove = group
    .command("delete")
    .alias("rm")
    .description(`Deletes one ${kind.one}.`)
    .argument("<name>", described)
    .option("-y, --yes", "do not ask");
  handle(remove, async (cli, { yes }: { readonly yes?: boolean }, name: string) => {
    const item = await findItem(cli, kind, name);
    await requireYes(cli, yes, `Delete the ${kind.one} "${kind.nameOf(item)}"?`);
    await kind.remove(cli, kind.idOf(item));
    cli.output.note(`Deleted ${kind.one} ${kind.nameOf(item)}.`);
  });
  return group;
}

interface Version {
  readonly ifMatch: string | undefined;
}

/** A record as it is now, and its version. A change that names the version is refused if another one came before it. */
export async function readVersion<Item>(cli: Cli, path: string): Promise<Version & { readonly item: Item }> {
  const { data, response } = await (await cli.client()).get<Item>(path).withResponse();
  return { item: data, ifMatch: response.headers.get("etag") ?? undefined };
}

export async function findItem<Item>(
  cli: Cli,
  {
    idOf,
    list,
    name: kindName,
    nameOf,
    one,
  }: Pick<RecordKind<Item, object>, "idOf" | "list" | "name" | "nameOf" | "one">,
  name: string,
): Promise<Item> {
  return oneNamed(await list(cli), { idOf, nameOf, one, kindName }, name);
}

interface Naming<Item> {
  readonly idOf: (item: Item) => string;
  readonly nameOf: (item: Item) => string;
  readonly one: string;
  readonly kindName: string;
}

/** The item with this id, or the only one with this name. Of two, either could be the one that was meant. */
export function oneNamed<Item>(
  items: readonly Item[],
  { idOf, kindName, nameOf, one }: Naming<Item>,
  name: string,
): Item {
  const named = items.filter((item) => nameOf(item) === name);
  const found = items.find((item) => idOf(item) === name) ?? named[0];
  if (found === undefined) {
    throw new UsageError(`There is no ${one} "${name}".`, `List them with: errand ${kindName} list`);
  }
  if (idOf(found) !== name && named.length > 1) {
    throw new UsageError(
      `There are ${named.length} ${kindName} with the name "${name}".`,
      `Name one by its id: ${named.map(idOf).join(", ")}`,
    );
  }
  return found;
}

export function showItem<Item>(cli: Cli, item: Item, columns: readonly Column<Item>[]): void {
  cli.output.details(
    item,
    Object.fromEntries(columns.map(({ title, value }) => [title.toLowerCase(), value(item)])),
  );
}

async function editJson(cli: Cli, name: string, before: object): Promise<object> {
  if (!cli.isInteractive) {
    throw new UsageError("Nothing is to be changed.", "Give options, or a file: --file FILE");
  }
  const text = await editText(`${name.replaceAll(" ", "-")}.json`, `${JSON.stringify(before, null, 2)}\n`);
  try {
    return JSON.parse(text) as object;
  } catch {
    throw new UsageError("The edited text is not JSON. Nothing was changed.");
  }
}
