import type { DoctorCheck, UsageGroup, UsageRow } from "@errand/client";
import { type Command, Option } from "commander";
import { askChoice, askSecret, askText, readInput } from "../ask.ts";
import { keyFromBrowser } from "../browser-login.ts";
import { type Cli, handle } from "../cli.ts";
import { EXIT, Exit, UsageError } from "../failure.ts";
import { type Column, oneLine, parseDuration, safeText } from "../output.ts";
import { DEFAULT_NAMES, type DefaultName, LOCAL_URL } from "../settings.ts";
import { collect, pairOf, readJson } from "./run.ts";

export function addServiceCommands(program: Command): void {
  addUsageCommand(program);
  addApiCommand(program);
  addDoctorCommand(program);
  addAccountCommands(program);
  addConfigCommands(program);
}

const GROUP_MEMBERS: Readonly<Record<UsageGroup, keyof UsageRow>> = {
  day: "day",
  source: "source",
  creator: "creator_uid",
  environment: "environment_id",
  repository: "repository",
  agent: "agent",
  model: "model_id",
};

function addUsageCommand(program: Command): void {
  const usage = program
    .command("usage")
    .summary("show runs, tokens and cost")
    .description(
      `Shows runs, success rate, time, tokens and cost. Groups: ${Object.keys(GROUP_MEMBERS).join(", ")}.`,
    )
    .option("--by <groups>", "one or more groups, separated by commas", "day")
    .option("--since <duration>", "only runs of this time", "30d")
    .option("--csv", "write CSV");
  handle(
    usage,
    async (cli, options: { readonly by: string; readonly since: string; readonly csv?: boolean }) => {
      const groups = options.by.split(",").map((name) => name.trim());
      const unknown = groups.find((name) => !(name in GROUP_MEMBERS));
      if (unknown !== undefined) {
        throw new UsageError(
          `"${unknown}" is not a group.`,
          `Groups: ${Object.keys(GROUP_MEMBERS).join(", ")}`,
        );
      }
      const from = new Date(Date.now() - parseDuration(options.since)).toISOString().slice(0, 10);
      const { usage: rows } = await (await cli.client()).usage.retrieve({
        from,
        group_by: groups as UsageGroup[],
      });
      const columns: readonly Column<UsageRow>[] = [
        ...groups.map((name): Column<UsageRow> => {
          const value = (row: UsageRow) => row[GROUP_MEMBERS[name as UsageGroup]];
          return { title: name.toUpperCase(), value };
        }),
        { title: "RUNS", value: ({ runs }) => runs },
        {
          title: "SUCCEEDED",
          value: ({ success_rate: rate }) => (rate === undefined ? undefined : `${Math.round(rate * 100)}%`),
        },
        { title: "MEDIAN S", value: ({ median_seconds_to_result: seconds }) => rounded(seconds) },
        { title: "P95 S", value: ({ p95_seconds_to_result: seconds }) => rounded(seconds) },
        { title: "TOKENS", value: ({ total_tokens }) => total_tokens },
        { title: "USD", value: ({ inference_cost_usd: cost }) => cost.toFixed(2) },
      ];
      if (options.csv === true) {
        cli.output.line(csvLine(columns.map(({ title }) => title.toLowerCase().replaceAll(" ", "_"))));
        for (const row of rows) {
          cli.output.line(csvLine(columns.map(({ value }) => String(value(row) ?? ""))));
        }
        return;
      }
      cli.output.table(rows, columns, "No runs in this time.");
    },
  );
}

function rounded(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.round(seconds);
}

/** A spreadsheet would take a cell that begins with such a character for a formula. */
function csvLine(cells: readonly string[]): string {
  return cells
    .map((cell) => safeText(cell))
    .map((cell) => (/^[=+\-@\t\r]/.test(cell) && Number.isNaN(Number(cell)) ? `'${cell}` : cell))
    .map((cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(",");
}

interface ApiOptions {
  readonly field?: readonly string[];
  readonly typed?: readonly string[];
  readonly body?: string;
  readonly paginate?: boolean;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

function addApiCommand(program: Command): void {
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

const CHECK_STYLES = { ok: "green", warn: "yellow", fail: "red" } as const;

function addDoctorCommand(program: Command): void {
  const doctor = program
    .command("doctor")
    .summary("check the server")
    .description("Lets the server check itself. The exit code is 1 if a check fails.");
  handle(doctor, async (cli) => {
    const { checks, ...report } = await (await cli.client()).doctor.retrieve();
    const columns: readonly Column<DoctorCheck>[] = [
      { title: "CHECK", value: ({ name }) => name },
      { title: "IS", value: ({ status }) => status, style: ({ status }) => CHECK_STYLES[status] },
      { title: "FINDING", value: ({ message }) => message },
    ];
    if (cli.output.isJson) {
      cli.output.json({ ...report, checks });
    } else {
      cli.output.table(checks, columns, "No checks.");
      for (const { name, remedy } of checks.filter(({ status }) => status !== "ok")) {
        cli.output.note(remedy === undefined ? "" : `${name} → ${oneLine(remedy)}`);
      }
    }
    if (report.status === "fail") {
      throw new Exit(EXIT.failed);
    }
  });
}

interface LoginOptions {
  readonly web?: boolean;
  readonly withToken?: boolean;
  readonly name?: string;
}

const WAYS = [
  { value: "browser", label: "In the browser" },
  { value: "key", label: "With an API key" },
] as const;

function addAccountCommands(program: Command): void {
  const login = program
    .command("login")
    .summary("sign in to a server")
    .description(
      "Keeps the address of a server and an API key for it, as a context. Signing in with the browser makes the key.",
    )
    .option("--web", "sign in with the browser")
    .addOption(new Option("--with-token", "read the key from standard input").conflicts("web"))
    .option("--name <name>", "the name of the context; default: the host of the server");
  handle(login, async (cli, options: LoginOptions) => {
    if (options.withToken !== true && options.web !== true && !cli.isInteractive) {
      throw new UsageError(
        "The key cannot be asked for.",
        "Write it to standard input: errand login --with-token",
      );
    }
    const before = cli.options.url ?? process.env.ERRAND_URL;
    const isAsked = options.withToken !== true && cli.isInteractive;
    const url = addressOf(
      before ?? (isAsked ? await askText("Address of the server", LOCAL_URL) : LOCAL_URL),
    );
    const apiKey = await keyFor(cli, url, options);
    if (apiKey === "") {
      throw new UsageError("The key is empty.");
    }
    const { principal, team } = await cli.clientOf(url, apiKey).whoami();
    const name = options.name ?? cli.options.context ?? new URL(url).host;
    await cli.settings.change((stored) => ({
      ...stored,
      current: name,
      contexts: { ...stored.contexts, [name]: { url, apiKey } },
    }));
    cli.output.line(
      `Signed in to ${url} as ${oneLine(principal.display_name ?? principal.uid)}, team ${oneLine(team.name)}.`,
    );
  });

  const logout = program
    .command("logout")
    .description(
      "Forgets the key of the current context. The key stays valid: delete it on the server if it has leaked.",
    );
  handle(logout, async (cli) => {
    const { contexts, current } = await cli.settings.read();
    const name = cli.options.context ?? current;
    if (name === undefined || contexts[name] === undefined) {
      throw new UsageError(name === undefined ? "You are not signed in." : `There is no context "${name}".`);
    }
    await cli.settings.change(({ contexts: { [name]: _, ...others }, current: chosen, ...stored }) => ({
      ...stored,
      contexts: others,
      ...(chosen === undefined || chosen === name ? {} : { current: chosen }),
    }));
    cli.output.line(`Signed out of ${name}.`);
  });

  const whoami = program.command("whoami").description("Shows whose key is used, and what it may do.");
  handle(whoami, async (cli) => {
    const { origin, url } = await cli.connection();
    const who = await (await cli.client()).whoami();
    cli.output.details(who, {
      name: who.principal.display_name,
      uid: who.principal.uid,
      team: who.team.name,
      scopes: who.scopes.join(", "),
      "key ends": who.key?.expires_at,
      server: url,
      "key from": origin,
    });
  });

  const status = program.command("status").description("Shows the server, who you are, and what needs you.");
  handle(status, async (cli) => {
    const { origin, url } = await cli.connection();
    const client = await cli.client();
    const [who, { workers }, { runs: active }] = await Promise.all([
      client.whoami(),
      client.workers.list(),
      client.runs.list({ state: ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS", "BLOCKED"], limit: 500 }),
    ]);
    const count = (...states: readonly string[]) =>
      active.filter(({ state }) => states.includes(state)).length;
    const mine = active.filter(
      ({ creator, state }) => state === "BLOCKED" && creator.uid === who.principal.uid,
    );
    const counts = {
      working: count("PENDING", "CLAIMED", "INPROGRESS"),
      queued: count("QUEUED"),
      waiting_for_people: count("BLOCKED"),
      waiting_for_you: mine.length,
      workers: workers.reduce((sum, { connection_count }) => sum + connection_count, 0),
    };
    cli.output.details(
      { url, key_from: origin, principal: who.principal, team: who.team, ...counts },
      {
        server: url,
        "key from": origin,
        you: `${who.principal.display_name ?? who.principal.uid}, team ${who.team.name}`,
        workers: counts.workers || undefined,
        working: counts.working,
        queued: counts.queued,
        "waiting for people": counts.waiting_for_people,
        "waiting for you": mine.map(({ run_id, title }) => `${run_id.slice(0, 13)} ${title}`).join("; "),
      },
    );
  });
}

async function keyFor(cli: Cli, url: string, { web, withToken }: LoginOptions): Promise<string> {
  if (withToken === true) {
    return (await readInput()).trim();
  }
  if (web === true || (await askChoice("How do you sign in?", WAYS)) === "browser") {
    return keyFromBrowser(cli, url);
  }
  return (await askSecret("API key")).trim();
}

function addressOf(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      `"${text}" is not the address of a server.`,
      "For example: https://errand.example.com",
    );
  }
  return (url.origin + url.pathname).replace(/\/+$/, "");
}

function addConfigCommands(program: Command): void {
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
        { title: "NAME", value: ({ name }) => name },
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
