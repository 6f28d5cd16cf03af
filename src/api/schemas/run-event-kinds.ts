import { z } from "zod";
import { PERMISSION_KINDS, TOOL_STATUSES } from "../../core/agents/agent-runner.ts";
import { ERROR_CODES } from "../../core/errors.ts";
import { INPUT_KINDS } from "../../core/inputs/run-input.ts";
import type { RunEventBody, RunEventKind } from "../../core/runs/events.ts";
import { RUN_MODES } from "../../core/runs/run.ts";
import { RunState } from "./run-requests.ts";

type Body<Kind extends RunEventKind> = Extract<RunEventBody, { readonly kind: Kind }>;
/** All members of a kind, and no others. */
type Members<Kind extends RunEventKind> = {
  readonly [Name in Exclude<keyof Body<Kind>, "kind">]-?: z.ZodType;
};
type Kinds = { readonly [Kind in RunEventKind]: { readonly says: string; readonly members: Members<Kind> } };

const text = (description: string) => z.string().describe(description);
const count = (description: string) => z.int().describe(description);
const flag = (description: string) => z.boolean().describe(description);
const anything = (description: string) => z.unknown().optional().describe(description);
const maybe = (description: string) => text(description).optional();

const Status = z
  .object({
    message: text("For people."),
    errorCode: z.enum(ERROR_CODES).optional().describe("For programs: one of the codes of `Error`."),
    retryable: flag("Whether the same run, done again, may end better.").optional(),
  })
  .optional()
  .describe("Why the run ended so, or what it waits for.");

const RequestFile = z.object({
  path: text("Below the workspace's directory."),
  kind: z.enum(INPUT_KINDS).describe("As what it was given."),
  mimeType: text("What the bytes are."),
  sizeBytes: count("How many there are."),
});

const Question = z
  .object({
    permissionId: text("What the answer is posted to."),
    toolCallId: maybe("The tool call that it is about."),
    title: text("What the agent asks."),
    options: z
      .array(
        z.object({
          optionId: text("What the answer names."),
          name: text("For people."),
          kind: z.enum(PERMISSION_KINDS).describe("Whether it allows or rejects, and for how long."),
        }),
      )
      .describe("The answers that the agent offers."),
  })
  .describe("The question. `GET /agent/runs/{runId}` has it too, while the run waits.");

const Made = z
  .discriminatedUnion("type", [
    z.object({
      type: z.literal("PULL_REQUEST"),
      url: text("Where it is to be seen."),
      branch: text("What it is to merge."),
    }),
    z.object({ type: z.literal("PLAN"), documentUid: text("The plan's id."), title: maybe("For people.") }),
    z.object({
      type: z.literal("FILE"),
      filePath: text("In the workspace."),
      fileName: text("Its last part."),
      mimeType: text("By the file's name."),
    }),
    z.object({ type: z.literal("SCREENSHOT"), mimeType: text("By the file's name.") }),
    z.object({
      type: z.literal("EXTERNAL_REFERENCE"),
      referenceType: text("What it is, as the agent names it."),
      url: text("Where it is to be seen."),
      title: maybe("For people."),
    }),
  ])
  .describe("What is told of it, each type in its own way.");

const ToolContent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: text("The words.") }),
  z.object({
    type: z.literal("diff"),
    path: text("The file."),
    oldText: z.string().nullable().describe("What it was; null: there was no such file."),
    newText: text("What it is."),
  }),
  z.object({
    type: z.literal("terminal"),
    terminalId: text("The agent's name of it."),
    output: maybe("What it shows."),
  }),
  z.object({ type: z.literal("other"), data: anything("As the agent told it.") }),
]);

const SPEECH = {
  messageId: maybe("Pieces of one message have the same."),
  text: text("The words, or a piece of them."),
};
const REASON = { reason: text("Why, for people.") };

/** What each kind of event is, and the members that it has besides those of all. */
export const RUN_EVENT_KINDS: Kinds = {
  "run.created": {
    says: "The run was accepted.",
    members: {
      state: RunState,
      files: z.array(RequestFile).optional().describe("What was given with it, as the workspace has it."),
    },
  },
  "run.state": {
    says: "The run moved to another state.",
    members: { from: RunState, to: RunState, reason: maybe("Why, for people."), status: Status },
  },
  "attempt.started": {
    says: "A worker has taken the run.",
    members: { attempt: count("1, 2, 3 …"), worker: text("The worker's name.") },
  },
  "attempt.ended": {
    says: "The worker has put the run away.",
    members: { attempt: count("The same as at its start."), ...REASON },
  },
  "workspace.step": {
    says: "Something that prepares the workspace; later ones of the same id go on with it.",
    members: {
      stepId: text("The step's id."),
      title: text("What is done."),
      status: z.enum(["running", "completed", "failed"]).describe("How far it is."),
      output: maybe("What it printed, or more of it."),
    },
  },
  "workspace.ready": {
    says: "The workspace is there.",
    members: { restored: flag("Whether it is as the run had left it.") },
  },
  "workspace.stored": { says: "The workspace was kept.", members: { checkpoint: text("By what name.") } },
  "workspace.not_stored": { says: "The workspace could not be kept.", members: REASON },
  "changes.not_kept": {
    says: "What the run changed, or its pull request, could not be kept where people look for it.",
    members: REASON,
  },
  "agent.started": {
    says: "The agent's process is there.",
    members: {
      agent: text("A name of the catalogue."),
      version: maybe("As the agent tells it."),
      session: text("The agent's own id of its session."),
      resumed: flag("Whether it remembers the turns before."),
    },
  },
  "turn.started": {
    says: "The agent was given a prompt.",
    members: {
      followUpIds: z.array(z.string()).describe("The follow-ups that it is made of; none: the request."),
      again: flag("Whether the turn was begun before, by a worker that was lost."),
      mode: z.enum(RUN_MODES).optional().describe("How the agent goes about it."),
    },
  },
  "turn.ended": {
    says: "The agent has stopped.",
    members: {
      stopReason: text("As the agent tells it, `end_turn` when all is well."),
      answer: text("Its closing words; they may be empty."),
      usage: anything("Tokens of the turn, where the agent tells them."),
    },
  },
  "followup.received": {
    says: "Somebody said something to the run.",
    members: {
      followUpId: text("The follow-up's id."),
      message: text("What was said."),
      authorId: text("Who said it: a principal's uid."),
      delivery: text("`queue`, `interrupt` or `steer`."),
    },
  },
  "followup.steered": {
    says: "The agent was told of a follow-up during its turn.",
    members: { followUpId: text("The follow-up's id.") },
  },
  "permission.requested": {
    says: "The agent asks, and the run waits for the answer.",
    members: { request: Question },
  },
  "permission.answered": {
    says: "Somebody answered.",
    members: {
      permissionId: text("The question's id."),
      optionId: z.string().nullable().describe("What was chosen; null: a no that the agent does not offer."),
    },
  },
  "approval.requested": {
    says: "A policy wants somebody's approval first.",
    members: { policyId: text("The policy's id."), ...REASON },
  },
  "approval.decided": {
    says: "Somebody approved or refused.",
    members: {
      approved: flag("false: refused."),
      decidedBy: text("Who: a principal's uid."),
      comment: maybe("What was said with it."),
    },
  },
  "thread.bound": {
    says: "The run is talked about in a thread.",
    members: { adapter: text("Where the thread is."), threadId: text("The thread's id.") },
  },
  "artifact.added": {
    says: "The run made something, or a newer version of it.",
    members: { artifactId: text("The artifact's id."), version: count("1, 2, 3 …"), artifact: Made },
  },
  "artifact.left_out": {
    says: "Files in `artifacts/` that were not kept.",
    members: {
      files: z
        .array(z.object({ path: text("Below `artifacts/`."), ...REASON }))
        .describe("Each with its reason."),
    },
  },
  "agent.message": { says: "The agent speaks.", members: SPEECH },
  "agent.thought": { says: "The agent thinks aloud.", members: SPEECH },
  "agent.tool_call": {
    says: "A tool call as far as it is known; later ones of the same id replace the members that they name.",
    members: {
      toolCallId: text("The agent's id of it."),
      title: maybe("For people."),
      toolKind: maybe("`read`, `edit`, `delete`, `move`, `search`, `execute`, `think`, `fetch` or `other`."),
      status: z.enum(TOOL_STATUSES).optional().describe("How far it is."),
      content: z.array(ToolContent).optional().describe("What it shows."),
      locations: z
        .array(z.object({ path: text("The file."), line: count("Where in it.").optional() }))
        .optional()
        .describe("Where it is at work."),
      rawInput: anything("What the tool was given."),
      rawOutput: anything("What it gave back."),
    },
  },
  "agent.plan": {
    says: "The agent's plan, as a whole; a newer one replaces it.",
    members: {
      entries: z
        .array(
          z.object({
            content: text("What is to be done."),
            status: text("How far it is."),
            priority: maybe("As the agent tells it."),
          }),
        )
        .describe("In their order."),
    },
  },
  "agent.usage": {
    says: "What the agent's session has taken so far.",
    members: {
      used: z.number().describe("Tokens in the agent's memory."),
      size: z.number().describe("How many there is room for."),
      costUsd: z.number().optional().describe("Dollars, as the agent reckons."),
    },
  },
  "agent.title": { says: "The agent calls its work something.", members: { title: text("That.") } },
  "agent.notice": {
    says: "Something about the agent that is worth knowing.",
    members: {
      severity: text("`info`, `warning` or `error`, or the agent's own word."),
      text: text("For people."),
    },
  },
  "agent.permission_granted": {
    says: "The agent asked, and the run is one that allows.",
    members: { title: text("What it asked."), optionId: text("Which option it was given.") },
  },
  "agent.other": {
    says: "What the agent told beyond these.",
    members: { name: text("The agent's name of it."), data: anything("As the agent told it.") },
  },
};
