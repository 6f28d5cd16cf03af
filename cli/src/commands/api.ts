import type { Command } from "commander";
import { type Cli, handle } from "../cli.ts";
import { UsageError } from "../failure.ts";
import { collect, pairOf, readJson } from "../options.ts";

interface ApiOptions {
  readonly field?: readonly string[];
  readonly typed?: readonly string[];
  readonly body?: string;
  readonly paginate?: boolean;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

export function addApiCommand(program: Command): void {
  const api = program
    .command("api")
    .summary("send a request to the API")
    .description(
      "Sends a request to an endpoint below /api/v1 and prints the response. Fields are members of the JSON body, or with\n" +
        "GET and DELETE of the query. A field like config[model_id]=x is a member of a member.",
    )
    .argument("<method>", METHODS.join(", "))
    .argument("<path>", "for example /agent/runs")
    .option("-f, --field <key=value>", "a text (repeatable)", collect)
    .option("-F, --typed <key=value>", "a number, true, false, null or other JSON (repeatable)", collect)
    .option("--body <file>", "a JSON file as the body; - reads standard input")
    .option("--paginate", "read all pages, and print their entries as one list");
  handle(api, async (cli, options: ApiOptions, name: string, path: string) => {
    const method = METHODS.find((known) => known === name.toUpperCase());
    if (method === undefined) {
      throw new UsageError(`"${name}" is not a method.`, `Methods: ${METHODS.join(", ")}`);
    }
    const fields = fieldsOf(options);
    const client = await cli.client();
    const target = `/${path.replace(/^\/?(api\/v1\/)?/, "")}`;
    const isQuery = method === "GET" || method === "DELETE";
    const body = options.body === undefined ? fields : { ...(await readJson(options.body)), ...fields };
    if (isQuery) {
      const query = fields as Record<string, string>;
      const call = method === "GET" ? client.get.bind(client) : client.delete.bind(client);
      if (options.paginate === true) {
        cli.output.json(await allPages((cursor) => call(target, { query: { ...query, ...cursor } })));
        return;
      }
      printBody(cli, await call(target, { query }));
      return;
    }
    const call = { POST: client.post, PUT: client.put, PATCH: client.patch }[method].bind(client);
    printBody(cli, await call(target, Object.keys(body).length === 0 ? {} : { body }));
  });
}

function printBody({ output }: Cli, body: unknown): void {
  if (body !== undefined && body !== "") {
    output.json(body);
  }
}

function fieldsOf({ field = [], typed = [] }: ApiOptions): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [key, value] of [...field.map(pairOf), ...typed.map(typedPairOf)]) {
    setMember(fields, key, value);
  }
  return fields;
}

function typedPairOf(entry: string): readonly [key: string, value: unknown] {
  const [key, text] = pairOf(entry);
  try {
    return [key, JSON.parse(text)];
  } catch {
    throw new UsageError(`The value of ${key} is not JSON: ${text}`, "Use -f for a text.");
  }
}

/** Sets `a[b]`, or adds to the list `a[]`. */
function setMember(target: Record<string, unknown>, key: string, value: unknown): void {
  const [first = "", ...inner] = key.split(/\[|\]\[|\]$/).filter((part, index) => index === 0 || part !== "");
  if (key.endsWith("[]")) {
    target[first] = [...((target[first] as unknown[] | undefined) ?? []), value];
    return;
  }
  let place = target;
  let name = first;
  for (const next of inner) {
    const below = Object.hasOwn(place, name) ? place[name] : undefined;
    const object = typeof below === "object" && below !== null ? (below as Record<string, unknown>) : {};
    Object.defineProperty(place, name, {
      value: object,
      enumerable: true,
      configurable: true,
      writable: true,
    });
    place = object;
    name = next;
  }
  Object.defineProperty(place, name, { value, enumerable: true, configurable: true, writable: true });
}

/** The entries of all pages. A page has one list, beside `page_info`. */
async function allPages(
  read: (query: { readonly cursor?: string }) => Promise<unknown>,
): Promise<readonly unknown[]> {
  const entries: unknown[] = [];
  for (let query: { readonly cursor?: string } = {}; ; ) {
    const page = (await read(query)) as { readonly page_info?: { readonly next_cursor?: string } };
    const list = Object.values(page).find((member) => Array.isArray(member));
    if (list === undefined) {
      throw new UsageError("The response contains no list.", "Leave out --paginate.");
    }
    entries.push(...list);
    const cursor = page.page_info?.next_cursor;
    if (cursor === undefined) {
      return entries;
    }
    query = { cursor };
  }
}
