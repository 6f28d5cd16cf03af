import type {
  CreateNamedAgentRequest,
  Environment,
  EnvironmentConfig,
  NamedAgent,
  ScheduledAgentItem,
  ScheduleRequest,
  ScheduleUpdateRequest,
  UpdateNamedAgentRequest,
} from "@errand/client";
import type { Command } from "commander";
import { askSecret, editText, readInput } from "../ask.ts";
import { type Cli, handle } from "../cli.ts";
import { outcomeText } from "../event-text.ts";
import { EXIT, Exit, UsageError } from "../failure.ts";
import { keepLastRun } from "../find-run.ts";
import { ago, type Column } from "../output.ts";
import { waitForRun } from "../watch.ts";
import { collect, given, readJson } from "./run.ts";
import { requireYes } from "./runs.ts";

/** A kind of record that can be listed, shown, created, changed and deleted. */
interface RecordKind<Item, Edit extends object> {
  /** The command, for example `environments`. */
  readonly name: string;
  /** One of them, for example `environment`. */
  readonly one: string;
  readonly columns: readonly Column<Item>[];
  readonly idOf: (item: Item) => string;
  readonly nameOf: (item: Item) => string;
  readonly list: (cli: Cli) => Promise<readonly Item[]>;
  /** Adds the options by which one is described. */
  readonly addOptions: (command: Command) => void;
  /** What the options describe. */
  readonly editOf: (options: never) => Partial<Edit>;
  readonly create: (cli: Cli, edit: Edit) => Promise<Item>;
  /** The members of an item that can be changed. */
  readonly editable: (item: Item) => Edit;
  readonly replace: (cli: Cli, id: string, edit: Edit) => Promise<Item>;
  readonly remove: (cli: Cli, id: string) => Promise<unknown>;
}

export function addRecordCommands(program: Command): void {
  addEnvironmentCommands(program);
  addSecretCommands(program);
  addScheduleCommands(program);
  addSkillCommands(program);
  addAgentCommands(program);
  addCatalogueCommands(program);
  addModelCommand(program);
}

/** Adds list, get, create, edit and delete. */
function addRecordKind<Item extends object, Edit extends object>(
  program: Command,
  kind: RecordKind<Item, Edit>,
): Command {
  const group = program.command(kind.name).summary(`list and change ${kind.name}`);
  const described = `a ${kind.one}: its name or id`;

  const list = group.command("list").alias("ls").description(`Lists the ${kind.name}.`);
  handle(list, async (cli) => {
    cli.output.table(await kind.list(cli), kind.columns, `No ${kind.name}.`);
  });

  const get = group
    .command("get")
    .alias("view")
    .description(`Shows one ${kind.one}.`)
    .argument("<name>", described);
  handle(get, async (cli, _: object, name: string) => {
    showItem(cli, await findItem(cli, kind, name), kind.columns);
  });

  const create = group
    .command("create")
    .description(`Creates one ${kind.one}, from options or from a JSON file.`)
    .option("-F, --file <file>", "a JSON file; - reads standard input");
  kind.addOptions(create);
  handle(create, async (cli, options: { readonly file?: string }) => {
    const fromFile = options.file === undefined ? {} : await readJson(options.file);
    const item = await kind.create(cli, { ...fromFile, ...kind.editOf(options as never) } as Edit);
    showItem(cli, item, kind.columns);
  });

  const edit = group
    .command("edit")
    .description(`Changes one ${kind.one}: by options, by a JSON file, or in your editor.`)
    .argument("<name>", described)
    .option("-F, --file <file>", "a JSON file; - reads standard input");
  kind.addOptions(edit);
  handle(edit, async (cli, options: { readonly file?: string }, name: string) => {
    const item = await findItem(cli, kind, name);
    const changes = kind.editOf(options as never);
    const before = kind.editable(item);
    const wanted =
      options.file !== undefined
        ? { ...(await readJson(options.file)), ...changes }
        : Object.keys(changes).length > 0
          ? { ...before, ...changes }
          : await editJson(cli, kind.one, before);
    showItem(cli, await kind.replace(cli, kind.idOf(item), wanted as Edit), kind.columns);
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

async function findItem<Item>(
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
  const items = await list(cli);
  const found = items.find((item) => idOf(item) === name) ?? items.find((item) => nameOf(item) === name);
  if (found === undefined) {
    throw new UsageError(`There is no ${one} "${name}".`, `List them with: errand ${kindName} list`);
  }
  return found;
}

function showItem<Item>(cli: Cli, item: Item, columns: readonly Column<Item>[]): void {
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

function addEnvironmentCommands(program: Command): void {
  const group = addRecordKind<Environment, EnvironmentConfig>(program, {
    name: "environments",
    one: "environment",
    columns: [
      { title: "NAME", value: ({ config }) => config.name },
      { title: "UID", value: ({ uid }) => uid },
      { title: "IMAGE", value: ({ config }) => config.docker_image },
      {
        title: "CHANGED",
        value: ({ last_updated }) => last_updated,
        text: ({ last_updated }) => ago(last_updated),
      },
      { title: "SETUP", value: ({ setup_failed }) => (setup_failed ? "failed" : "") },
      {
        title: "REPOSITORIES",
        value: ({ config }) => config.github_repos?.map(({ owner, repo }) => `${owner}/${repo}`).join(" "),
      },
    ],
    idOf: ({ uid }) => uid,
    nameOf: ({ config }) => config.name,
    list: async (cli) => (await (await cli.client()).environments.list({ sort_by: "name" })).environments,
    addOptions: (command) =>
      command
        .option("--name <name>", "its name")
        .option("--description <text>", "what it is for")
        .option("--image <image>", "the Docker image")
        .option("--repo <owner/name>", "a GitHub repository (repeatable)", collect)
        .option("--setup <command>", "a command that prepares it (repeatable)", collect),
    editOf: (options: {
      readonly name?: string;
      readonly description?: string;
      readonly image?: string;
      readonly repo?: readonly string[];
      readonly setup?: readonly string[];
    }) =>
      given({
        name: options.name,
        description: options.description,
        docker_image: options.image,
        github_repos: options.repo?.map(repositoryOf),
        setup_commands: options.setup === undefined ? undefined : [...options.setup],
      }),
    create: async (cli, config) => (await cli.client()).environments.create({ config }),
    editable: ({ config }) => config,
    replace: async (cli, uid, config) => (await cli.client()).environments.replace(uid, { config }),
    remove: async (cli, uid) => (await cli.client()).environments.delete(uid),
  });
  const test = group
    .command("test")
    .description("Prepares an environment as a run would, and says whether that works.")
    .argument("<name>", "an environment: its name or id");
  handle(test, async (cli, _: object, name: string) => {
    const client = await cli.client();
    const { environments } = await client.environments.list();
    const found = environments.find(({ config, uid }) => uid === name || config.name === name);
    await reportTest(cli, await client.environments.test(found?.uid ?? name));
  });
}

function repositoryOf(text: string): { owner: string; repo: string } {
  const [owner = "", repo = ""] = text.split("/");
  return { owner, repo };
}

/** Waits for a run that tests something, and says how it ended. */
async function reportTest(cli: Cli, { run_id }: { readonly run_id: string }): Promise<void> {
  await keepLastRun(cli, run_id);
  const run = await waitForRun(cli, run_id, { untilBlocked: true });
  if (cli.output.isJson) {
    cli.output.json(run);
  } else {
    cli.output.line(outcomeText(cli.output, run));
  }
  if (run.state !== "SUCCEEDED") {
    throw new Exit(EXIT.failed);
  }
}

function addSecretCommands(program: Command): void {
  const group = program.command("secrets").summary("set, list and delete secrets");
  const set = group
    .command("set")
    .description("Sets a secret. Its value is read from standard input, or asked for without showing it.")
    .argument("<name>", "the name of the environment variable")
    .option("--personal", "only your own runs get it");
  handle(set, async (cli, { personal }: { readonly personal?: boolean }, name: string) => {
    const value = cli.isInteractive
      ? await askSecret(`Value of ${name}`)
      : (await readInput()).replace(/\r?\n$/, "");
    if (value === "") {
      throw new UsageError("The value is empty.", "Write it to standard input.");
    }
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
  handle(list, async (cli) => {
    const { secrets } = await (await cli.client()).secrets.list();
    cli.output.table(
      secrets,
      [
        { title: "NAME", value: ({ name }) => name },
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

function addScheduleCommands(program: Command): void {
  const schedules = async (cli: Cli) => (await cli.client()).schedules;
  const kind: RecordKind<ScheduledAgentItem, ScheduleRequest> = {
    name: "schedules",
    one: "schedule",
    columns: [
      { title: "NAME", value: ({ name }) => name },
      { title: "ID", value: ({ id }) => id },
      { title: "CRON (UTC)", value: ({ cron_schedule }) => cron_schedule },
      { title: "IS", value: ({ enabled }) => (enabled ? "active" : "paused") },
      {
        title: "NEXT",
        value: ({ history }) => history?.next_run,
        text: ({ history }) => ago(history?.next_run),
      },
      { title: "LAST ERROR", value: ({ last_spawn_error }) => last_spawn_error },
      { title: "PROMPT", value: ({ prompt }) => prompt },
    ],
    idOf: ({ id }) => id,
    nameOf: ({ name }) => name,
    list: async (cli) => (await (await schedules(cli)).list()).schedules,
    addOptions: (command) =>
      command
        .option("--name <name>", "its name")
        .option("--cron <expression>", "when it runs, in UTC: minute hour day month weekday")
        .option("--prompt <text>", "what to do")
        .option("--env <uid>", "the uid of an environment")
        .option("--repo <owner/name>", "the GitHub repository to work on")
        .option("--model <id>", "the model"),
    editOf: (options: Partial<Record<"name" | "cron" | "prompt" | "env" | "repo" | "model", string>>) => {
      const config = given({
        environment_id: options.env,
        repository: options.repo,
        model_id: options.model,
      });
      return given({
        name: options.name,
        cron_schedule: options.cron,
        prompt: options.prompt,
        agent_config: Object.keys(config).length === 0 ? undefined : config,
      });
    },
    create: async (cli, edit) => (await schedules(cli)).create(edit),
    editable: ({ agent_config, agent_uid, cron_schedule, enabled, metadata, mode, name, prompt }) => ({
      name,
      cron_schedule,
      prompt,
      enabled,
      ...given({ agent_config, agent_uid, metadata, mode }),
    }),
    replace: async (cli, id, edit) =>
      (await schedules(cli)).replace(id, { enabled: true, ...edit } as ScheduleUpdateRequest),
    remove: async (cli, id) => (await schedules(cli)).delete(id),
  };
  const group = addRecordKind(program, kind);
  for (const verb of ["pause", "resume"] as const) {
    const command = group
      .command(verb)
      .description(`${verb === "pause" ? "Pauses" : "Resumes"} a schedule.`)
      .argument("<name>", "a schedule: its name or id");
    handle(command, async (cli, _: object, name: string) => {
      const { id } = await findItem(cli, kind, name);
      showItem(cli, await (await schedules(cli))[verb](id), kind.columns);
    });
  }
}

function addSkillCommands(program: Command): void {
  const group = program.command("skills").summary("list skills");
  const list = group
    .command("list")
    .alias("ls")
    .description("Lists the skills in the repositories of the environments.")
    .option("--repo <owner/name>", "only those of this repository")
    .option("--refresh", "read the repositories again");
  handle(list, async (cli, options: { readonly repo?: string; readonly refresh?: boolean }) => {
    const { agents } = await (await cli.client()).skills.list(given(options));
    const rows = agents.flatMap(({ name, variants }) => variants.map((variant) => ({ name, ...variant })));
    cli.output.table(
      rows,
      [
        { title: "NAME", value: ({ name }) => name },
        { title: "SKILL", value: ({ id }) => id },
        { title: "DESCRIPTION", value: ({ description }) => description },
      ],
      "No skills.",
    );
  });
}

function addAgentCommands(program: Command): void {
  const agents = async (cli: Cli) => (await cli.client()).agents;
  addRecordKind<NamedAgent, CreateNamedAgentRequest>(program, {
    name: "agents",
    one: "named agent",
    columns: [
      { title: "NAME", value: ({ name }) => name },
      { title: "UID", value: ({ uid }) => uid },
      { title: "AGENT", value: ({ harness }) => harness?.type },
      { title: "MODEL", value: ({ base_model }) => base_model },
      { title: "DESCRIPTION", value: ({ description }) => description },
    ],
    idOf: ({ uid }) => uid,
    nameOf: ({ name }) => name,
    list: async (cli) => (await (await agents(cli)).list()).agents,
    addOptions: (command) =>
      command
        .option("--name <name>", "its name")
        .option("--description <text>", "what it is for")
        .option("--prompt <text>", "what it is always told")
        .option("--agent <name>", "the agent of the catalogue that does its runs")
        .option("--model <id>", "the model")
        .option("--env <uid>", "the uid of an environment")
        .option("--skill <skill>", "a skill (repeatable)", collect)
        .option("--secret <name>", "a secret of the team that it gets, and no other (repeatable)", collect),
    editOf: (
      options: Partial<Record<"name" | "description" | "prompt" | "agent" | "model" | "env", string>> & {
        readonly skill?: readonly string[];
        readonly secret?: readonly string[];
      },
    ) =>
      given({
        name: options.name,
        description: options.description,
        prompt: options.prompt,
        harness: options.agent === undefined ? undefined : { type: options.agent },
        base_model: options.model,
        environment_id: options.env,
        skills: options.skill === undefined ? undefined : [...options.skill],
        secrets: options.secret?.map((name) => ({ name })),
      }),
    create: async (cli, edit) => (await agents(cli)).create(edit),
    editable: (agent) => {
      const {
        base_model,
        description,
        environment_id,
        harness,
        mcp_servers,
        name,
        prompt,
        secrets,
        skills,
        worker_host,
      } = agent;
      return {
        name,
        skills,
        secrets,
        ...given({ base_model, description, environment_id, harness, mcp_servers, prompt, worker_host }),
      };
    },
    replace: async (cli, uid, { name: _, ...edit }) =>
      (await agents(cli)).update(uid, edit as UpdateNamedAgentRequest),
    remove: async (cli, uid) => (await agents(cli)).delete(uid),
  });
}

function addCatalogueCommands(program: Command): void {
  const group = program.command("catalogue").summary("list the agents that the server knows, and test them");
  const list = group
    .command("list", { isDefault: true })
    .alias("ls")
    .description("Lists the agents that the server knows.");
  handle(list, async (cli) => {
    const { agents } = await (await cli.client()).catalogue.list();
    cli.output.table(
      agents,
      [
        { title: "NAME", value: ({ name }) => name },
        { title: "VERSION", value: ({ version }) => version },
        {
          title: "USABLE",
          value: ({ usable }) => (usable ? "yes" : "no"),
          style: ({ usable }) => (usable ? "green" : "dim"),
        },
        { title: "DEFAULT", value: ({ is_default }) => (is_default ? "default" : "") },
        { title: "NEEDS", value: ({ needs }) => needs.join(", ") },
        { title: "DESCRIPTION", value: ({ description }) => description },
      ],
      "No agents.",
    );
  });
  const test = group
    .command("test")
    .description("Tests an agent with a short run.")
    .argument("<name>", "its name");
  handle(test, async (cli, _: object, name: string) => {
    await reportTest(cli, await (await cli.client()).catalogue.test(name));
  });
}

function addModelCommand(program: Command): void {
  const models = program.command("models").description("Lists the models that runs can use.");
  handle(models, async (cli) => {
    const { default_model_id, models: rows } = await (await cli.client()).models.list();
    cli.output.table(
      rows,
      [
        { title: "MODEL", value: ({ id }) => id },
        { title: "NAME", value: ({ display_name }) => display_name },
        { title: "PROVIDER", value: ({ provider }) => provider },
        { title: "DEFAULT", value: ({ id }) => (id === default_model_id ? "default" : "") },
      ],
      "No models. The server has no key of a model provider.",
    );
  });
}
