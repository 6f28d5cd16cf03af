import type { AmbientAgentConfig, RunAgentRequest, RunAgentResponse } from "@errand/client";
import { Argument, type Command, Option } from "commander";
import { editText, openInBrowser, readInput } from "../ask.ts";
import { type Cli, handle } from "../cli.ts";
import { STATE_NAMES } from "../event-text.ts";
import { EXIT, Exit, UsageError } from "../failure.ts";
import { findRunId, keepLastRun } from "../find-run.ts";
import { MEMBERS } from "../generated/members.ts";
import { localRepository } from "../git.ts";
import { setMembers } from "../json-members.ts";
import { detachedText } from "../live-screen.ts";
import { mcpServersOf } from "../mcp-sources.ts";
import { collect, definedMembers, pairOf, readJson } from "../options.ts";
import { oneLine } from "../output.ts";
import { filesOf } from "../request-files.ts";
import { type EndOptions, followOrWait, withEndOptions } from "../watch.ts";
import { AGENT_NAMING } from "./agents.ts";
import { environmentUid } from "./environments.ts";
import { oneNamed } from "./record-kind.ts";

interface RunOptions extends EndOptions {
  /** false: no repository, also not that of the current directory. */
  readonly repo?: string | boolean;
  readonly ref?: string;
  readonly pr?: "draft" | "ready";
  /** false: no environment, also not the one of the settings. */
  readonly env?: string | boolean;
  readonly agent?: string;
  readonly model?: string;
  readonly skill?: string;
  readonly mcp?: readonly string[];
  readonly secret?: readonly string[];
  readonly attach?: readonly string[];
  readonly name?: string;
  readonly title?: string;
  readonly mode?: "plan";
  readonly priority?: AmbientAgentConfig["priority"];
  readonly budget?: readonly string[];
  readonly interactive?: boolean;
  readonly ask?: boolean;
  readonly personal?: boolean;
  readonly parent?: string;
  readonly meta?: readonly string[];
  readonly web?: boolean;
  /** The prompt, as older forms of the command have it. */
  readonly prompt?: string;
  readonly conversation?: string;
  readonly host?: string;
  readonly share?: readonly string[];
  /** A file with the whole configuration, as older forms of the command have it. */
  readonly configFile?: string;
}

export function addRunCommand(program: Command): void {
  const command = program
    .command("run")
    .summary("start a run")
    .description(
      "Starts a run. Without a prompt on a terminal, your editor opens. In a clone of a GitHub repository, the run works\n" +
        "on that repository and on the branch that the current one follows.",
    )
    .addArgument(new Argument("[prompt]", "what to do; - reads standard input"))
    .option("--repo <owner/name>", "the GitHub repository to work on")
    .option("--no-repo", "work on no repository, also not on that of the current directory")
    .option("--ref <branch>", "the branch, tag or commit to begin with")
    .addOption(new Option("--pr <kind>", "open a pull request for the changes").choices(["draft", "ready"]))
    .option("--env <environment>", "an environment: its name or uid")
    .option("--no-env", "work in no environment, also not in the one of the settings")
    .option("--agent <name>", "an agent of the catalogue, or a named agent")
    .option("--model <id>", "the model")
    .option("--skill <skill>", "the skill to run: owner/repo:name")
    .option(
      "--mcp <servers>",
      "MCP servers: a JSON file, JSON, or the uid of one of the team (repeatable)",
      collect,
    )
    .option("--secret <name>", "the only secrets of the team that the run gets (repeatable)", collect)
    .option("--attach <file>", "attach a file or an image (repeatable)", collect)
    .option("--name <name>", "the name of the configuration, by which runs can be listed")
    .option("--title <title>", "the title of the run")
    .addOption(new Option("--mode <mode>", "how the agent works").choices(["normal", "plan", "orchestrate"]))
    .addOption(
      new Option("--priority <priority>", "which of your team's queued runs start first").choices([
        "low",
        "normal",
        "high",
      ]),
    )
    .option("--budget <limit>", "5usd, 30m, 20turns or 100000tokens (repeatable)", collect)
    .option(
      "--output-schema <file>",
      "a JSON Schema for the answer; with --wait --json, only the value that matches is written",
    )
    .option("--interactive", "the agent may ask for more than permission")
    .option("--ask", "the agent asks before it does something risky")
    .option("--personal", "only you and administrators see the run")
    .option("--parent <run>", "the run that this one belongs to")
    .option("--conversation <id>", "the conversation that the run continues, with its files")
    .option("-m, --meta <key=value>", "metadata (repeatable)", collect)
    .option("--web", "open the run in the browser")
    .option("--config-file <file>", "a JSON file with the configuration; other options take precedence")
    .addOption(new Option("-p, --prompt <text>").argParser(onlyPrompt).hideHelp())
    .addOption(new Option("-e, --environment <uid>").hideHelp())
    .addOption(new Option("--host <name>").hideHelp())
    .addOption(new Option("--share [whom]").argParser(collect).preset("team").hideHelp());
  withEndOptions(command);
  handle(
    setMembers(command, [...MEMBERS.RunAgentResponse, ...MEMBERS.RunItem]),
    async (cli, options: RunOptions & { readonly environment?: string }, prompt?: string) => {
      const text = prompt === undefined ? options.prompt : onlyPrompt(prompt, options.prompt);
      // Before the user writes a prompt that could not be sent.
      await cli.connection();
      const request = await requestOf(cli, { env: options.environment as string, ...options }, text);
      const client = await cli.client();
      const run = await client.runs.create(request);
      await keepLastRun(cli, run.run_id);
      for (const member of run.ignored ?? []) {
        cli.output.note(`! ${oneLine(member)} has no effect on this server.`);
      }
      await show(cli, options, run);
    },
  );
}

/** Of two prompts, either could be the one that was meant. */
function onlyPrompt(prompt: string, before?: string): string {
  if (before !== undefined) {
    throw new UsageError("There are two prompts.", "Write one, behind the command or as --prompt.");
  }
  return prompt;
}

async function show(cli: Cli, options: RunOptions, created: RunAgentResponse): Promise<void> {
  const client = await cli.client();
  const { run_id } = created;
  if (options.web === true) {
    const { session_link } = await client.runs.retrieve(run_id);
    await openInBrowser(session_link ?? "");
  }
  await followOrWait(cli, run_id, options);
  if (cli.output.isJson) {
    cli.output.json(created);
    return;
  }
  const { session_link = "" } = await client.runs.retrieve(run_id);
  if (!cli.output.isTerminal) {
    cli.output.line([run_id, created.state, session_link].join("\t"));
    return;
  }
  cli.output.line(`Run ${run_id} is ${STATE_NAMES[created.state]}.`);
  if (created.waiting_for !== undefined) {
    cli.output.line(oneLine(created.waiting_for.message));
  }
  cli.output.line(session_link);
  cli.output.note(cli.output.style("dim", detachedText(run_id).replace("The run continues. ", "")));
}

async function requestOf(
  cli: Cli,
  options: RunOptions,
  prompt: string | undefined,
): Promise<RunAgentRequest> {
  const { agent: configuredAgent, environment, model } = (await cli.settings.read()).defaults;
  const agent = await agentOf(cli, options.agent ?? configuredAgent);
  const text = await promptOf(cli, options, prompt);
  const chosen = options.env === false ? undefined : (options.env ?? environment);
  const environment_id = typeof chosen !== "string" ? undefined : await environmentUid(cli, chosen);
  const known: AmbientAgentConfig = {
    ...(options.configFile === undefined ? {} : await readJson(options.configFile)),
    ...agent.config,
    ...definedMembers({ environment_id }),
  };
  const config: AmbientAgentConfig = {
    ...known,
    ...(await repositoryOf(cli, options, known)),
    ...definedMembers({
      model_id: options.model ?? model,
      name: options.name,
      mcp_servers: options.mcp === undefined ? undefined : await mcpServersOf(options.mcp),
      secrets: options.secret?.map((name) => ({ name })),
      worker_host: options.host,
      session_sharing: sharingOf(options.share),
      priority: options.priority,
      budget: budgetOf(options.budget),
      output_schema: options.outputSchema === undefined ? undefined : await readJson(options.outputSchema),
      permission_policy: options.ask === true ? "ask" : undefined,
    }),
  };
  return {
    ...definedMembers({
      prompt: text,
      skill: options.skill,
      title: options.title,
      mode: options.mode,
      interactive: options.interactive,
      conversation_id: options.conversation,
      agent_identity_uid: agent.uid,
      parent_run_id: options.parent === undefined ? undefined : await findRunId(cli, options.parent),
      team: options.personal === true ? false : undefined,
      metadata: metadataOf(options.meta),
    }),
    ...(await filesOf(options.attach ?? [])),
    ...(Object.keys(config).length === 0 ? {} : { config }),
  };
}

async function promptOf(
  cli: Cli,
  options: RunOptions,
  prompt: string | undefined,
): Promise<string | undefined> {
  if (prompt === "-") {
    const input = await readInput();
    if (input.trim() === "" && options.skill === undefined) {
      throw new UsageError("The prompt on standard input is empty.", "For example: errand run - < task.md");
    }
    return input;
  }
  if (prompt !== undefined || options.skill !== undefined) {
    return prompt;
  }
  if (!cli.isInteractive) {
    throw new UsageError(
      "A prompt is missing.",
      'Write it behind the command, errand run "Fix the build", or to standard input, errand run -',
    );
  }
  const text = (await editText("PROMPT.md", "")).trim();
  if (text === "") {
    cli.output.note("The prompt is empty. No run was started.");
    throw new Exit(EXIT.interrupted);
  }
  return text;
}

/** An agent of the catalogue is a part of the configuration; a named agent is the one who does the run. */
async function agentOf(
  cli: Cli,
  name: string | undefined,
): Promise<{ readonly config?: Pick<AmbientAgentConfig, "harness">; readonly uid?: string }> {
  if (name === undefined) {
    return {};
  }
  const { agents } = await (await cli.client()).agents.list();
  const isNamed = agents.some(({ name: own, uid }) => own === name || uid === name);
  return isNamed
    ? { uid: oneNamed(agents, AGENT_NAMING, name).uid }
    : { config: { harness: { type: name } } };
}

/**
 * The repository of the current directory is a guess, if nothing else says where to work. `--pr` and `--ref` are about
 * it, so with them it is meant.
 */
async function repositoryOf(
  cli: Cli,
  { pr, ref, repo }: RunOptions,
  known: AmbientAgentConfig,
): Promise<Pick<AmbientAgentConfig, "repository" | "repository_guessed" | "ref" | "pull_request">> {
  const isPlaced = known.environment_id !== undefined || known.repository !== undefined;
  const local = repo === undefined && !isPlaced ? await localRepository() : undefined;
  const repository = typeof repo === "string" ? repo : (local?.repository ?? known.repository);
  if (repository === undefined) {
    if (pr !== undefined || ref !== undefined) {
      throw new UsageError("--pr and --ref need a repository.", "Name it: --repo owner/name");
    }
    return {};
  }
  if (local !== undefined) {
    sayLocal(cli, local, ref);
  }
  const isGuessed = local !== undefined && ref === undefined && pr === undefined;
  return {
    repository,
    ...(isGuessed ? { repository_guessed: true } : {}),
    ...definedMembers({ ref: ref ?? local?.ref, pull_request: pr }),
  };
}

function sayLocal(
  { output }: Cli,
  { branch, ref, repository, unpushed }: NonNullable<Awaited<ReturnType<typeof localRepository>>>,
  chosen: string | undefined,
): void {
  output.note(
    output.style("dim", `Repository ${repository}${(chosen ?? ref) ? `, branch ${chosen ?? ref}` : ""}`),
  );
  if (chosen === undefined && ref === undefined && branch !== "") {
    output.note(`! The branch ${branch} has not been pushed. The run begins with the default branch.`);
  } else if (chosen === undefined && unpushed > 0) {
    output.note(`! ${unpushed} commits of ${branch} have not been pushed. The run does not see them.`);
  }
}

/** The older forms share with the team, which sees a run anyway, with everyone who has a link, or with one person. */
function sharingOf(shared: RunOptions["share"] = []): AmbientAgentConfig["session_sharing"] {
  const whom = shared.filter((name) => !/^team(:|$)/.test(name));
  const unknown = whom.find((name) => !/^public(:(view|edit))?$/.test(name));
  if (unknown !== undefined) {
    throw new UsageError(
      `A run cannot be shared with ${unknown} alone.`,
      "The team sees it anyway. For others: errand runs share RUN",
    );
  }
  return whom.length === 0
    ? undefined
    : { public_access: whom.includes("public:edit") ? "EDITOR" : "VIEWER" };
}

function budgetOf(limits: readonly string[] = []): AmbientAgentConfig["budget"] {
  return limits.length === 0 ? undefined : Object.assign({}, ...limits.map(limitOf));
}

function limitOf(text: string): NonNullable<AmbientAgentConfig["budget"]> {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(usd|m|h|turns|tokens)$/.exec(text) ?? [];
  const number = Number(amount);
  switch (unit) {
    case "usd":
      return { max_cost_usd: number };
    case "m":
      return { max_minutes: number };
    case "h":
      return { max_minutes: number * 60 };
    case "turns":
      return { max_turns: number };
    case "tokens":
      return { max_tokens: number };
    default:
      throw new UsageError(
        `"${text}" is not a budget.`,
        "Write it as 5usd, 30m, 2h, 20turns or 100000tokens.",
      );
  }
}

/** Reads `key=value` entries. */
function metadataOf(entries: readonly string[] = []): Record<string, string> | undefined {
  return entries.length === 0 ? undefined : Object.fromEntries(entries.map(pairOf));
}
