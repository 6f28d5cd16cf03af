import type { ListRunsQuery, RunItem, RunSourceType, RunState } from "@errand/client";
import { type Command, Option } from "commander";
import { openInBrowser } from "../ask.ts";
import { type Cli, handle } from "../cli.ts";
import { outcomeText, STATE_NAMES, stateName, stateStyle } from "../event-text.ts";
import { UsageError } from "../failure.ts";
import { findRunId, RUN_HELP } from "../find-run.ts";
import { MEMBERS } from "../generated/members.ts";
import { setMembers } from "../json-members.ts";
import { collect, definedMembers, parseCount, requireYes } from "../options.ts";
import { ago, type Column, parseDuration, safeText } from "../output.ts";
import { watchRun } from "../watch.ts";
import { environmentUid } from "./environments.ts";

interface ListOptions {
  readonly state?: readonly string[];
  readonly mine?: boolean;
  readonly repo?: string;
  readonly source?: string;
  readonly name?: string;
  readonly since?: string;
  readonly query?: string;
  readonly env?: string | false;
  readonly creator?: string;
  readonly schedule?: string;
  readonly ancestor?: string;
  readonly skill?: string;
  readonly model?: string;
  readonly artifactType?: string;
  readonly executionLocation?: string;
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  readonly updatedAfter?: string;
  readonly sortBy?: string;
  readonly sortOrder?: string;
  readonly limit: number;
  readonly watch?: boolean;
}

const SOURCES = Object.keys({
  API: true,
  CLI: true,
  CLOUD_MODE: true,
  GITHUB_ACTION: true,
  GITHUB_WEBHOOK: true,
  GITLAB_WEBHOOK: true,
  JIRA: true,
  LINEAR: true,
  LOCAL: true,
  SCHEDULED_AGENT: true,
  SLACK: true,
  WEB_APP: true,
} satisfies Record<RunSourceType, true>) as RunSourceType[];
const NO_ENVIRONMENT = "empty-environment";
const WATCH_MS = 2_000;
const CLEAR = "\u001b[H\u001b[2J";
/** As much of an id as names a time to the millisecond. */
const SHORT_ID = 13;

const COLUMNS: readonly Column<RunItem>[] = [
  {
    title: "RUN",
    value: ({ run_id }) => run_id,
    text: ({ run_id }) => run_id.slice(0, SHORT_ID),
    isWhole: true,
  },
  {
    title: "STATE",
    value: ({ state }) => state,
    text: stateName,
    style: stateStyle,
    isWhole: true,
  },
  { title: "CREATED", value: ({ created_at }) => created_at, text: ({ created_at }) => ago(created_at) },
  { title: "BY", value: ({ creator }) => creator.display_name ?? creator.uid },
  { title: "SOURCE", value: ({ source }) => source, text: ({ source }) => source.toLowerCase() },
  { title: "TITLE", value: ({ title }) => title },
];

export function addRunsCommands(program: Command): void {
  const runs = program.command("runs").summary("list, show, share and delete runs");
  addListCommand(runs);

  const get = runs
    .command("get")
    .alias("view")
    .description("Shows a run and its result.")
    .argument("<run>", RUN_HELP);
  handle(setMembers(get, MEMBERS.RunItem), async (cli, _: object, name: string) => {
    const run = await (await cli.client()).runs.retrieve(await findRunId(cli, name));
    showRun(cli, run);
  });

  const open = runs.command("open").description("Opens a run in the browser.").argument("<run>", RUN_HELP);
  handle(open, async (cli, _: object, name: string) => {
    const { session_link } = await (await cli.client()).runs.retrieve(await findRunId(cli, name));
    await openInBrowser(session_link ?? "");
    cli.output.line(session_link);
  });

  const share = runs
    .command("share")
    .description("Creates a link that shows a run to everyone who has it.")
    .argument("<run>", RUN_HELP)
    .option("--editor", "the link also allows follow-ups")
    .option("--expires <duration>", "the link ends after this time, for example 7d");
  handle(
    setMembers(share, MEMBERS.IssuedShareLink),
    async (
      cli,
      { editor, expires }: { readonly editor?: boolean; readonly expires?: string },
      name: string,
    ) => {
      const link = await (await cli.client()).runs.share(await findRunId(cli, name), {
        ...(editor === true && { access: "EDITOR" }),
        ...(expires !== undefined && { expires_in_seconds: Math.round(parseDuration(expires) / 1000) }),
      });
      if (cli.output.isJson) {
        cli.output.json(link);
        return;
      }
      cli.output.line(link.url);
      cli.output.note(`It ends ${ago(link.expires_at)}.`);
    },
  );

  const remove = runs
    .command("delete")
    .alias("rm")
    .description("Deletes an ended run with everything it left.")
    .argument("<run>", RUN_HELP)
    .option("-y, --yes", "do not ask");
  handle(remove, async (cli, { yes }: { readonly yes?: boolean }, name: string) => {
    const client = await cli.client();
    const run = await client.runs.retrieve(await findRunId(cli, name));
    await requireYes(cli, yes, `Delete the run "${run.title}" with its log, files and changes?`);
    await client.runs.delete(run.run_id);
    cli.output.note(`Deleted run ${run.run_id}.`);
  });

  const watch = program
    .command("watch")
    .summary("show a run live")
    .description(
      "Shows a run live. On a terminal: q detaches, c cancels, a answers a question, f sends a follow-up.",
    )
    .argument("<run>", RUN_HELP)
    .addOption(new Option("--tail <count>", "begin with the last events").argParser(parseCount));
  handle(watch, async (cli, { tail }: { readonly tail?: number }, name: string) => {
    // A server that cannot be reached is an error at once. Only later, the command waits for it.
    const { run_id } = await (await cli.client()).runs.retrieve(await findRunId(cli, name));
    await watchRun(cli, run_id, tail === undefined ? {} : { tail });
  });

  const attach = program
    .command("attach")
    .summary("show a run live, and write to it")
    .description(
      "Shows a run live from its beginning. What you type and end with Enter is sent as a follow-up, and so is each line " +
        "of standard input. An answer to a question of the agent is typed as well. Ctrl-C detaches: the run continues.",
    )
    .argument("<run>", RUN_HELP)
    .option("--from-now", "do not show what has happened before");
  handle(attach, async (cli, { fromNow }: { readonly fromNow?: boolean }, name: string) => {
    const client = await cli.client();
    const { run_id } = await client.runs.retrieve(await findRunId(cli, name));
    const after = fromNow === true ? (await client.runs.storedEvents(run_id, { tail: 1 })).next_after : 0;
    await watchRun(cli, run_id, { after, types: true });
  });
}

function addListCommand(runs: Command): void {
  const list = runs.command("list").alias("ls").description("Lists runs, the last created first.");
  addFilters(list);
  list
    .addOption(new Option("-L, --limit <count>", "at most so many runs").default(30).argParser(parseCount))
    .addOption(
      new Option(
        "--sort-by <member>",
        "the order: created-at, which is the default, updated-at, title or agent",
      ),
    )
    .addOption(new Option("--sort-order <order>", "desc, which is the default, or asc"))
    .option("--watch", "repeat the list every two seconds");
  handle(setMembers(list, MEMBERS.RunItem), async (cli, options: ListOptions) => {
    if (options.watch !== true || !cli.output.isTerminal) {
      cli.output.table(await listRuns(cli, options), COLUMNS, "No runs.");
      return;
    }
    for (;;) {
      const rows = await listRuns(cli, options);
      cli.output.write(CLEAR);
      cli.output.table(rows, COLUMNS, "No runs.");
      await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
    }
  });
}

function addFilters(list: Command): void {
  list
    .option("-s, --state <state>", "only runs in this state, for example failed (repeatable)", collect)
    .option("--mine", "only runs that you created")
    .option("--repo <owner/name>", "only runs on this repository")
    .option("--source <source>", "only runs from there: api, cli, slack, github_webhook, scheduled_agent …")
    .option("--name <name>", "only runs with this name of their configuration")
    .option("--since <duration>", "only runs created within this time, for example 2d")
    .option("-q, --query <text>", "only runs with these words in title, prompt or skill")
    .option("--env <environment>", "only runs in this environment: its name or uid")
    .option("--no-env", "only runs in no environment")
    .option("--creator <uid>", "only runs that this person created")
    .option("--schedule <id>", "only runs of this schedule")
    .option("--ancestor <run>", "only runs below this one")
    .option("--skill <skill>", "only runs of this skill: owner/repo:path")
    .option("--model <id>", "only runs with this model in their configuration")
    .option("--artifact-type <type>", "only runs with such a result: pull-request, plan, file or screenshot")
    .addOption(new Option("--execution-location <location>").hideHelp())
    .option("--created-after <time>", "only runs created after this time, as in RFC 3339")
    .option("--created-before <time>", "only runs created before this time")
    .option("--updated-after <time>", "only runs changed after this time");
}

/** Shows all about a run that a person asks first. */
function showRun({ output }: Cli, run: RunItem): void {
  const { agent, agent_config: config, artifacts = [], request_usage: usage, result, waiting_for } = run;
  output.details(run, {
    run: run.run_id,
    title: run.title,
    state: output.isTerminal ? stateName(run) : run.state,
    outcome: run.outcome?.summary,
    "waits for": waiting_for?.message,
    created: output.isTerminal ? ago(run.created_at) : run.created_at,
    by: run.creator.display_name ?? run.creator.uid,
    source: run.source,
    from: run.trigger_url,
    agent: [agent?.name, agent?.version, agent?.model_id].filter(Boolean).join(" "),
    repository: config?.repository,
    environment: config?.environment_id,
    tokens: usage?.total_tokens,
    "cost in USD": usage?.inference_cost_usd,
    ...Object.fromEntries(
      artifacts.map((artifact, index) => [`artifact ${index + 1}`, artifactName(artifact)]),
    ),
    session: run.session_link,
  });
  if (output.isJson) {
    return;
  }
  if (output.isTerminal) {
    output.line(`\n${outcomeText(output, run)}`);
  }
  if (result !== undefined) {
    output.line(`\n${safeText(result.text).trimEnd()}`);
  }
}

function artifactName({ artifact_type, data }: NonNullable<RunItem["artifacts"]>[number]): string {
  const { filepath, title, url } = data as {
    readonly url?: string;
    readonly filepath?: string;
    readonly title?: string;
  };
  return `${artifact_type} ${url ?? filepath ?? title ?? ""}`;
}

async function listRuns(cli: Cli, options: ListOptions): Promise<readonly RunItem[]> {
  const client = await cli.client();
  const { limit } = options;
  const rows: RunItem[] = [];
  for await (const run of client.runs.list(await queryOf(cli, options))) {
    rows.push(run);
    if (rows.length === limit) {
      break;
    }
  }
  return rows;
}

async function queryOf(cli: Cli, options: ListOptions): Promise<ListRunsQuery> {
  const { ancestor, env, mine, since, sortBy = "created_at", source, state } = options;
  const me = mine === true ? (await (await cli.client()).whoami()).principal.uid : undefined;
  const query = definedMembers({
    sort_by: memberOf(sortBy),
    sort_order: options.sortOrder,
    limit: Math.min(options.limit, 500),
    state: state?.map(stateOf),
    creator: me ?? options.creator,
    source: source === undefined ? undefined : sourceOf(source),
    name: options.name,
    repository: options.repo,
    environment_id: await environmentOf(cli, env),
    schedule_id: options.schedule,
    ancestor_run_id: ancestor === undefined ? undefined : await findRunId(cli, ancestor),
    skill: options.skill,
    model_id: options.model,
    artifact_type: options.artifactType === undefined ? undefined : enumOf(options.artifactType),
    execution_location:
      options.executionLocation === undefined ? undefined : enumOf(options.executionLocation),
    created_after:
      since === undefined ? options.createdAfter : new Date(Date.now() - parseDuration(since)).toISOString(),
    created_before: options.createdBefore,
    updated_after: options.updatedAfter,
    q: options.query,
  });
  // The server refuses other values, and names those that it knows.
  return query as ListRunsQuery;
}

const memberOf = (text: string) => text.toLowerCase().replaceAll("-", "_");
const enumOf = (text: string) => memberOf(text).toUpperCase();

async function environmentOf(cli: Cli, env: ListOptions["env"]): Promise<string | undefined> {
  if (env === false || env === NO_ENVIRONMENT) {
    return NO_ENVIRONMENT;
  }
  return env === undefined ? undefined : environmentUid(cli, env);
}

/** A state as the server or as people call it. */
function stateOf(text: string): RunState {
  const upper = text.toUpperCase().replaceAll(/[-_ ]/g, "");
  const known = Object.keys(STATE_NAMES) as RunState[];
  const state = known.find((name) => name === upper || STATE_NAMES[name] === text.toLowerCase());
  if (state === undefined) {
    throw new UsageError(`"${text}" is not a state.`, `States: ${known.join(", ").toLowerCase()}`);
  }
  return state;
}

function sourceOf(text: string): RunSourceType {
  const source = SOURCES.find((name) => name === enumOf(text));
  if (source === undefined) {
    throw new UsageError(`"${text}" is not a source.`, `Sources: ${SOURCES.join(", ").toLowerCase()}`);
  }
  return source;
}
