import { type AmbientAgentConfig, type RunApproval, type RunItem, withHiddenShown } from "@errand/client";
import { type Command, Option } from "commander";
import { askChoice, askConfirm, editText, readInput } from "../ask.ts";
import { type Cli, handle } from "../cli.ts";
import { STATE_NAMES } from "../event-text.ts";
import { CliError, EXIT, Exit, UsageError } from "../failure.ts";
import { findRunId, keepLastRun, RUN_HELP } from "../find-run.ts";
import { MEMBERS } from "../generated/members.ts";
import { setMembers } from "../json-members.ts";
import { collect } from "../options.ts";
import { safeText } from "../output.ts";
import { questionText } from "../question-text.ts";
import { filesOf } from "../request-files.ts";
import { type EndOptions, followOrWait, withEndOptions } from "../watch.ts";

interface SendOptions extends EndOptions {
  readonly interrupt?: boolean;
  readonly steer?: boolean;
  readonly private?: boolean;
  readonly mode?: "normal" | "plan" | "orchestrate";
  readonly attach?: readonly string[];
}

export function addSteerCommands(program: Command): void {
  const send = program
    .command("send")
    .summary("send a follow-up to a run")
    .description(
      "Sends a follow-up to a run. Its next turn takes it. An ended run continues with it, and a question of the agent is\n" +
        "answered by it if the text is one of the options, or a plain yes or no.",
    )
    .argument("<run>", RUN_HELP)
    .argument("<message>", "the text; - reads standard input")
    .option("--interrupt", "stop the current turn first")
    .option("--steer", "give it to the current turn, if the agent can take it")
    .option("--attach <file>", "attach a file or an image (repeatable)", collect)
    .option("--private", "do not show it in the thread of the run")
    .addOption(new Option("--mode <mode>", "how the agent works").choices(["normal", "plan", "orchestrate"]));
  withEndOptions(send);
  handle(
    setMembers(send, [...MEMBERS.RunFollowupResponse, ...MEMBERS.RunItem]),
    async (cli, options: SendOptions, name: string, text: string) => {
      const runId = await findRunId(cli, name);
      const client = await cli.client();
      const { next_after: after } = await client.runs.storedEvents(runId, { tail: 1 });
      const followUp = await client.runs.followUp(runId, {
        message: text === "-" ? await readInput() : text,
        ...deliveryOf(options),
        ...(options.private === true && { visibility: "private" }),
        ...(options.mode !== undefined && { mode: options.mode }),
        ...(await filesOf(options.attach ?? [])),
      });
      await followOrWait(cli, runId, options, after);
      if (cli.output.isJson) {
        cli.output.json(followUp);
      } else if (followUp.answered !== undefined) {
        cli.output.line(`Answered: ${followUp.answered}`);
      } else {
        const question = followUp.question_open === true ? " A question of the agent is still open." : "";
        cli.output.line(`Sent. The run is ${STATE_NAMES[followUp.state]}.${question}`);
      }
    },
  );

  const answer = program
    .command("answer")
    .summary("answer a question of the agent")
    .description("Answers a question of the agent: allow, reject, or the name or id of one of its options.")
    .argument("<run>", RUN_HELP)
    .argument("[option]", "allow, reject, or an option");
  handle(
    setMembers(answer, MEMBERS.RunStateResponse),
    async (cli, _: object, name: string, choice?: string) => {
      const client = await cli.client();
      const run = await client.runs.retrieve(await findRunId(cli, name));
      if (run.permission === undefined) {
        throw new CliError(`The run asks nothing. It is ${STATE_NAMES[run.state]}.`);
      }
      const option_id =
        choice === undefined ? await askOption(cli, run.permission) : optionOf(run.permission, choice);
      const answered = await client.runs.answer(run.run_id, run.permission.permission_id, { option_id });
      if (cli.output.isJson) {
        cli.output.json(answered);
      } else {
        cli.output.line(
          `Answered: ${safeText(run.permission.options.find((own) => own.option_id === option_id)?.name ?? "")}`,
        );
      }
    },
  );

  addApprovalCommand(program, true);
  addApprovalCommand(program, false);

  const interrupt = program
    .command("interrupt")
    .summary("end the turn of a run")
    .description("Ends the current turn of a run, which then waits for a follow-up.")
    .argument("<run>", RUN_HELP);
  handle(setMembers(interrupt, ["run_id"]), async (cli, _: object, name: string) => {
    const runId = await findRunId(cli, name);
    await (await cli.client()).runs.interrupt(runId);
    if (cli.output.isJson) {
      cli.output.json({ run_id: runId });
    } else {
      cli.output.line(`The turn ends. Write what to do next: errand send ${runId} "…"`);
    }
  });

  const cancel = program
    .command("cancel")
    .summary("cancel runs")
    .description("Cancels runs.")
    .argument("<run...>", RUN_HELP);
  handle(setMembers(cancel, MEMBERS.CancelResult), async (cli, _: object, names: readonly string[]) => {
    const ids = await Promise.all(names.map((name) => findRunId(cli, name)));
    const { results } = await (await cli.client()).runs.cancelMany(ids);
    cli.output.table(
      results,
      [
        { title: "RUN", value: ({ run_id }) => run_id, isWhole: true },
        { title: "RESULT", value: ({ status }) => status.replaceAll("_", " ") },
      ],
      "",
    );
    if (results.some(({ status }) => status !== "cancelled" && status !== "already_cancelled")) {
      throw new Exit(EXIT.failed);
    }
  });

  const retry = program
    .command("retry")
    .summary("start a run again")
    .description("Starts a new run with the prompt and the configuration of another.")
    .argument("<run>", RUN_HELP)
    .option("--edit", "change the prompt in your editor first");
  withEndOptions(retry);
  handle(
    setMembers(retry, [...MEMBERS.RunAgentResponse, ...MEMBERS.RunItem]),
    async (cli, options: EndOptions & { readonly edit?: boolean }, name: string) => {
      const client = await cli.client();
      const runId = await findRunId(cli, name);
      const created =
        options.edit === true
          ? await createEdited(cli, await client.runs.retrieve(runId))
          : await client.runs.retry(runId);
      await keepLastRun(cli, created.run_id);
      await followOrWait(cli, created.run_id, options);
      if (cli.output.isJson) {
        cli.output.json(created);
      } else {
        cli.output.line(created.run_id);
      }
    },
  );
}

async function createEdited(cli: Cli, run: RunItem) {
  const prompt = (await editText("PROMPT.md", run.prompt)).trim();
  if (prompt === "") {
    cli.output.note("The prompt is empty. No run was started.");
    throw new Exit(EXIT.interrupted);
  }
  const config: AmbientAgentConfig | undefined = run.agent_config;
  return (await cli.client()).runs.create({
    prompt,
    parent_run_id: run.run_id,
    ...(config !== undefined && { config }),
    ...(run.metadata !== undefined && { metadata: run.metadata }),
  });
}

function deliveryOf({ interrupt, steer }: SendOptions): { readonly delivery?: "interrupt" | "steer" } {
  if (interrupt === true && steer === true) {
    throw new UsageError("Choose one of --interrupt and --steer.");
  }
  return interrupt === true ? { delivery: "interrupt" } : steer === true ? { delivery: "steer" } : {};
}

type Question = NonNullable<RunItem["permission"]>;

function optionOf({ options }: Question, choice: string): string {
  const wanted = choice.toLowerCase();
  // "allow" and "reject" hold once, never for all later questions.
  const found =
    options.find(({ name, option_id }) => option_id === choice || name.toLowerCase() === wanted) ??
    options.find(({ kind }) => kind === `${wanted}_once`);
  if (found === undefined) {
    const names = options.map(({ name }) => safeText(name)).join(", ");
    throw new UsageError(`"${choice}" is not an answer to this question.`, `Options: ${names}`);
  }
  return found.option_id;
}

async function askOption(cli: Cli, question: Question): Promise<string> {
  const { options } = question;
  if (!cli.isInteractive) {
    throw new UsageError(
      "An answer is missing.",
      `Options: ${options.map(({ name }) => safeText(name)).join(", ")}`,
    );
  }
  cli.output.note(safeText(questionText(question)));
  return askChoice(
    "Your answer",
    options.map(({ name, option_id }) => ({ value: option_id, label: safeText(withHiddenShown(name)) })),
  );
}

function addApprovalCommand(program: Command, approves: boolean): void {
  const command = program
    .command(approves ? "approve" : "refuse")
    .summary(`${approves ? "approve" : "refuse"} what waits for an approval`)
    .description(
      `${approves ? "Approves" : "Refuses"} what waits for an approval: a run, or a follow-up. Its texts are shown first.`,
    )
    .argument("<run>", RUN_HELP)
    .option("--comment <text>", "a reason")
    .option("-y, --yes", "do not ask");
  handle(
    setMembers(command, MEMBERS.RunStateResponse),
    async (cli, options: { readonly comment?: string; readonly yes?: boolean }, name: string) => {
      const runId = await findRunId(cli, name);
      const waiting = await openApprovals(cli, runId);
      if (waiting.length === 0) {
        throw new CliError("Nothing of this run waits for an approval.");
      }
      for (const approval of waiting) {
        cli.output.note(approvalText(approval));
        if (
          options.yes !== true &&
          cli.isInteractive &&
          !(await askConfirm(approves ? "Approve this?" : "Refuse this?"))
        ) {
          throw new Exit(EXIT.interrupted);
        }
        // The hash is that of the texts above: if they have changed since, the server refuses.
        const decided = await (await cli.client()).runs.approve(runId, {
          approve: approves,
          inputs_hash: approval.inputs_hash,
          ...(options.comment !== undefined && { comment: options.comment }),
        });
        if (cli.output.isJson) {
          cli.output.json(decided);
        } else {
          cli.output.line(`${approves ? "Approved" : "Refused"}. The run is ${STATE_NAMES[decided.state]}.`);
        }
      }
    },
  );
}

async function openApprovals(cli: Cli, runId: string): Promise<readonly RunApproval[]> {
  const client = await cli.client();
  const { approval } = await client.runs.retrieve(runId);
  if (approval !== undefined && approval.decided === undefined) {
    return [approval];
  }
  const waiting: RunApproval[] = [];
  for await (const followUp of client.runs.followUps(runId)) {
    if (followUp.status === "waiting_approval" && followUp.approval !== undefined) {
      waiting.push(followUp.approval);
    }
  }
  return waiting;
}

function approvalText({ details = [], inputs, not_covered: notCovered = [], reason }: RunApproval): string {
  const texts = inputs.map(({ attachments, text }) =>
    [text, ...attachments.map(({ name, sha256 }) => `[${name}, SHA-256 ${sha256}]`)].join("\n"),
  );
  const executed = details.map(({ label, values }) => `  ${label}: ${values.join("\n    ")}`);
  const notes = notCovered.map((what) => `  Not covered: ${what}`);
  const parts = [`Waits for an approval: ${reason}`, ...texts];
  const last = executed.length === 0 ? [] : [["What will be executed:", ...executed, ...notes].join("\n")];
  return safeText(withHiddenShown([...parts, ...last].join("\n\n")));
}
