import { z } from "zod";
import { ERROR_CODES } from "../../core/basics/errors.ts";
import { TOOL_STATUSES } from "../../core/model/runs/agent-update.ts";
import { RATINGS, type RunEventBody, type RunEventKind } from "../../core/model/runs/events.ts";
import { RUN_MODES } from "../../core/model/runs/run.ts";
import { INPUT_KINDS } from "../../core/model/workspaces/input-file.ts";
import type { ApiName } from "./event-names.ts";
import { QUESTION } from "./permission.ts";
import { RunOutcome } from "./run-outcome.ts";
import { RunState } from "./run-requests.ts";
import { FAILURE_REASON } from "./status-message.ts";

type Body<Kind extends RunEventKind> = Extract<RunEventBody, { readonly kind: Kind }>;
/** Exactly the members of a kind. */
type Members<Kind extends RunEventKind> = {
  readonly [Name in Exclude<keyof Body<Kind>, "kind"> as ApiName<Name & string>]-?: z.ZodType;
};
type Kinds = { readonly [Kind in RunEventKind]: { readonly says: string; readonly members: Members<Kind> } };

const text = (description: string) => z.string().describe(description);
const count = (description: string) => z.int().describe(description);
const flag = (description: string) => z.boolean().describe(description);
const anything = (description: string) => z.unknown().optional().describe(description);
const maybe = (description: string) => text(description).optional();

const Status = z
  .object({
    message: text("A text for people."),
    error_code: z.enum(ERROR_CODES).optional().describe("A code for programs: one of the codes of `Error`."),
    retryable: flag("Whether a repeat of the same run may succeed.").optional(),
    reason: maybe(FAILURE_REASON),
    remedy: maybe("What you can do about it."),
  })
  .optional()
  .describe("Why the run ended, or what it waits for.");

const AgentPhases = z
  .object({
    process_ms: count(
      "Until its process could be given a message, with the installation of the agent and the check of its MCP servers.",
    ),
    initialize_ms: count("Until it had answered the first message, so with the start of its program."),
    session_ms: count("Until its session was open."),
  })
  .optional()
  .describe(
    "How long the parts of the start took, in milliseconds. Absent in events of earlier versions and for guests.",
  );

const RequestFile = z.object({
  path: text("The path in the workspace."),
  kind: z.enum(INPUT_KINDS).describe("The kind of input."),
  mime_type: text("The media type."),
  size_bytes: count("The size in bytes."),
});

const Question = z
  .object({ ...QUESTION, tool_call_id: maybe("The tool call that the question is about.") })
  .describe("The question. `GET /agent/runs/{runId}` also contains it while the run waits.");

const APPROVAL_SUBJECT = {
  approval_id: maybe("The approval's id. Absent in events of earlier versions."),
  inputs_hash: maybe("The hash of the inputs. Absent in events of earlier versions."),
  followup_id: maybe("The follow-up that the approval is about. Absent for the run as a whole."),
};

const variant = <Shape extends z.ZodRawShape>(id: string, description: string, shape: Shape) =>
  z.object(shape).meta({ id, description });

const RunEventArtifact = z
  .discriminatedUnion("type", [
    variant("PullRequestDetails", "A pull request.", {
      type: z.literal("PULL_REQUEST"),
      url: text("The URL where it can be viewed."),
      branch: text("The branch that the pull request merges."),
    }),
    variant("PlanDetails", "A plan.", {
      type: z.literal("PLAN"),
      document_uid: text("The plan's id."),
      title: maybe("A title for people."),
    }),
    variant("FileDetails", "A file.", {
      type: z.literal("FILE"),
      filepath: text("The path in the workspace."),
      filename: text("The last segment of the path."),
      mime_type: text("The media type, derived from the file's name."),
    }),
    variant("ScreenshotDetails", "A screenshot.", {
      type: z.literal("SCREENSHOT"),
      mime_type: text("The media type that the bytes of the picture have."),
      description: maybe("What the agent did when it made the picture."),
    }),
    variant("ExternalReferenceDetails", "A reference to another system.", {
      type: z.literal("EXTERNAL_REFERENCE"),
      reference_type: text("The kind of reference, as the agent names it."),
      url: text("The URL where it can be viewed."),
      title: maybe("A title for people."),
    }),
  ])
  .meta({
    id: "RunEventArtifact",
    description: "Details of an artifact that depend on its type.",
    examples: [{ type: "PULL_REQUEST", url: "https://code.example/acme/web/pulls/7", branch: "errand/tidy" }],
  });

const ToolContent = z
  .discriminatedUnion("type", [
    variant("TextContent", "A text.", { type: z.literal("text"), text: text("The text.") }),
    variant("DiffContent", "A change of a file.", {
      type: z.literal("diff"),
      path: text("The path of the file."),
      old_text: z.string().nullable().describe("The old text. null if the file is new."),
      new_text: text("The new text."),
    }),
    variant("TerminalContent", "The output of a terminal.", {
      type: z.literal("terminal"),
      terminal_id: text("The agent's id of the terminal."),
      output: maybe("The output of the terminal."),
    }),
    variant("OtherContent", "Content of a kind that Errand does not know.", {
      type: z.literal("other"),
      data: anything("The content as the agent sent it."),
    }),
  ])
  .meta({
    id: "ToolContent",
    description: "Content of a tool call.",
    examples: [{ type: "text", text: "4 tests passed" }],
  });

const TokenUsage = z
  .object({
    input_tokens: count("The tokens that the models read."),
    output_tokens: count("The tokens that the models wrote."),
    total_tokens: count("All tokens."),
  })
  .optional()
  .describe("The tokens of the turn, if they are known.");

const SPEECH = {
  message_id: maybe("The same for all parts of one message."),
  text: text("The text or a part of it."),
};
const REASON = { reason: text("The reason, for people.") };

/** The description of each kind of event and its own members. */
export const RUN_EVENT_KINDS: Kinds = {
  "run.created": {
    says: "The run was accepted.",
    members: {
      state: RunState,
      files: z.array(RequestFile).optional().describe("The input files, as stored in the workspace."),
    },
  },
  "run.state": {
    says: "The state of the run changed.",
    members: {
      from: RunState,
      to: RunState,
      reason: maybe("The reason, for people."),
      status: Status,
      outcome: RunOutcome.optional().describe("What came of the run, if it ended."),
    },
  },
  "run.updated": {
    says: "The title, the metadata or the prompt of the run changed. The new values are members of the run.",
    members: {
      members: z.array(z.enum(["title", "metadata", "prompt"])).describe("The members that changed."),
    },
  },
  "attempt.started": {
    says: "A worker started to execute the run.",
    members: { attempt: count("1, 2, 3 …"), worker: text("The name of the worker.") },
  },
  "attempt.ended": {
    says: "The worker stopped executing the run.",
    members: { attempt: count("The number of the attempt that ended."), ...REASON },
  },
  "workspace.step": {
    says: "A step that prepares the workspace. Later events with the same id continue it.",
    members: {
      step_id: text("The step's id."),
      title: text("The title of the step."),
      status: z.enum(["running", "completed", "failed"]).describe("The state of the step."),
      output: maybe("The output, or a further part of it."),
    },
  },
  "workspace.ready": {
    says: "The workspace is ready.",
    members: {
      restored: flag("Whether the workspace was restored from an earlier attempt."),
      missing: z
        .string()
        .optional()
        .describe("What the run has lost, for people: files that no checkpoint contains. Absent: nothing."),
    },
  },
  "workspace.stored": {
    says: "The workspace was stored.",
    members: {
      checkpoint: text("The name of the checkpoint."),
      left_out: z
        .array(z.object({ path: text("The path, below `workspace` or `home`."), ...REASON }))
        .optional()
        .describe("Files that could not be stored, such as one that cannot be read. At most 20 are named."),
    },
  },
  "workspace.not_stored": { says: "The workspace could not be stored.", members: REASON },
  "changes.not_kept": {
    says: "The changes of the run, or its pull request, could not be published.",
    members: REASON,
  },
  "agent.started": {
    says: "The agent's process has started.",
    members: {
      agent: text("A name of the catalogue."),
      version: maybe("The version that the agent reports."),
      session: text("The agent's own id of the session."),
      resumed: flag("Whether the agent remembers the earlier turns."),
      phases: AgentPhases,
      warm: z
        .literal(true)
        .optional()
        .describe(
          "The agent was started and initialized before there was the run. Absent if not, and for guests.",
        ),
    },
  },
  "turn.started": {
    says: "The agent received a prompt.",
    members: {
      followup_ids: z
        .array(z.string())
        .describe("The follow-ups in the prompt. Empty if the prompt is the run's own."),
      again: flag("Whether the turn is repeated because its worker was lost."),
      mode: z.enum(RUN_MODES).optional().describe("The mode of the agent."),
    },
  },
  "turn.ended": {
    says: "The agent finished a turn.",
    members: {
      stop_reason: text("The agent's reason; `end_turn` if it finished normally."),
      answer: text("The agent's final answer. May be empty."),
      data: z.unknown().optional().describe("The part of the answer that `output_schema` asks for."),
      usage: TokenUsage,
    },
  },
  "turn.rated": {
    says: "A person rated the answer of a turn. The last rating of a person counts.",
    members: {
      rated_turn: count("The turn of the answer."),
      rating: z.enum(RATINGS).describe("What the person thinks of the answer."),
      rated_by: text("The uid of the principal that rated it. Empty for guests."),
    },
  },
  "followup.received": {
    says: "The run received a follow-up.",
    members: {
      followup_id: text("The follow-up's id."),
      message: text("The text of the follow-up."),
      author_id: text("The uid of the principal that wrote it; for a guest, the id of the share link."),
      author_type: z
        .literal("guest")
        .optional()
        .describe("`guest`: the guest of a share link wrote it. Absent for a principal."),
      delivery: text("`queue`, `interrupt` or `steer`."),
      files: z
        .array(RequestFile)
        .optional()
        .describe("The files that came with it, as the workspace gets them."),
    },
  },
  "followup.edited": {
    says: "A follow-up that waits was rewritten.",
    members: {
      followup_id: text("The follow-up's id."),
      message: text("The new text of the follow-up."),
      edited_by: text("The uid of the principal that rewrote it."),
    },
  },
  "followup.withdrawn": {
    says: "A follow-up that waited was withdrawn. The agent does not receive it.",
    members: {
      followup_id: text("The follow-up's id."),
      withdrawn_by: text("The uid of the principal that withdrew it."),
    },
  },
  "followup.steered": {
    says: "The agent received a follow-up during its turn.",
    members: { followup_id: text("The follow-up's id.") },
  },
  "followup.queued": {
    says: "The agent takes nothing during this turn, so a follow-up with the delivery `steer` waits for the next one.",
    members: { followup_id: text("The follow-up's id.") },
  },
  "permission.requested": {
    says: "The agent asks for permission, and the run waits for the answer.",
    members: { request: Question },
  },
  "permission.answered": {
    says: "A permission request was answered.",
    members: {
      permission_id: text("The question's id."),
      option_id: z
        .string()
        .nullable()
        .describe("The chosen option. null if the answer is a rejection that the agent does not offer."),
    },
  },
  "approval.requested": {
    says:
      "A policy requires approval before the run starts or before a follow-up is given; or the inputs of an open " +
      "approval have changed.",
    members: { ...APPROVAL_SUBJECT, policy_id: text("The policy's id."), ...REASON },
  },
  "approval.decided": {
    says: "The run or a follow-up was approved or refused.",
    members: {
      ...APPROVAL_SUBJECT,
      approved: flag("false: the run was refused."),
      decided_by: text("The uid of the principal that decided."),
      comment: maybe("A comment on the decision."),
    },
  },
  "notice.dead": {
    says: "A message to a thread of the run was given up.",
    members: {
      adapter: text("The adapter of the thread."),
      thread_id: text("The thread's id."),
      notice_id: text("The id by which an administrator can send it again."),
      ...REASON,
    },
  },
  "thread.bound": {
    says: "The run was bound to a thread.",
    members: { adapter: text("The adapter of the thread."), thread_id: text("The thread's id.") },
  },
  "artifact.added": {
    says: "The run produced an artifact or a newer version of it.",
    members: {
      artifact_uid: text("The artifact's id."),
      version: count("1, 2, 3 …"),
      artifact: RunEventArtifact,
    },
  },
  "artifact.left_out": {
    says: "Files in `artifacts/` that were not stored.",
    members: {
      files: z
        .array(z.object({ path: text("The path in `artifacts/`."), ...REASON }))
        .describe("Each file with the reason."),
    },
  },
  "agent.message": { says: "The agent wrote a message.", members: SPEECH },
  "agent.thought": { says: "The agent reported a thought.", members: SPEECH },
  "agent.tool_call": {
    says:
      "The known part of a tool call. A later event with the same id replaces the members that it contains, except " +
      "`output`, which it adds. `content` replaces the output too.",
    members: {
      tool_call_id: text("The agent's id of the tool call."),
      title: maybe("A title for people."),
      tool_kind: maybe("`read`, `edit`, `delete`, `move`, `search`, `execute`, `think`, `fetch` or `other`."),
      status: z.enum(TOOL_STATUSES).optional().describe("The state of the tool call."),
      content: z.array(ToolContent).optional().describe("The content of the tool call."),
      output: maybe("The output, or a further part of it. It follows the content."),
      locations: z
        .array(z.object({ path: text("The path of the file."), line: count("The line number.").optional() }))
        .optional()
        .describe("The files that the tool call works on."),
      raw_input: anything("The input of the tool."),
      raw_output: anything("The output of the tool."),
    },
  },
  "agent.plan": {
    says: "The complete plan of the agent. A newer plan replaces it.",
    members: {
      entries: z
        .array(
          z.object({
            content: text("The task."),
            status: text("The state of the task."),
            priority: maybe("The priority that the agent reports."),
          }),
        )
        .describe("In the order of the plan."),
    },
  },
  "agent.usage": {
    says: "The usage of the agent's session so far.",
    members: {
      used: z.number().describe("The tokens in the agent's context."),
      size: z.number().describe("The size of the agent's context in tokens."),
      cost_usd: z.number().optional().describe("The cost in US dollars that the agent reports."),
    },
  },
  "agent.title": { says: "The agent chose a title for its work.", members: { title: text("The title.") } },
  "agent.notice": {
    says: "A notice about the agent.",
    members: {
      severity: text("`info`, `warning`, `error`, or another word of the agent."),
      text: text("A text for people."),
    },
  },
  "agent.permission_granted": {
    says: "The agent asked for permission, and the run's permission policy granted it.",
    members: { title: text("The question of the agent."), option_id: text("The option that was chosen.") },
  },
  "agent.other": {
    says: "Other information from the agent.",
    members: { name: text("The agent's name of it."), data: anything("The content as the agent sent it.") },
  },
};
