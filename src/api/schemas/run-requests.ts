import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { FOLLOW_UP_DELIVERIES } from "../../core/model/runs/follow-up.ts";
import { RUN_MODES } from "../../core/model/runs/run.ts";
import { RUN_STATES } from "../../core/model/runs/states.ts";
import { COMMENTS_MAX } from "../../core/runs/comment-text.ts";
import { FOLLOW_UP_OUTCOMES } from "../../core/runs/decide-follow-up.ts";
import type { FollowUpResult } from "../../core/runs/transaction-extras.ts";
import { SentLineComment } from "./line-comment.ts";
import { withoutEffect } from "./marks.ts";
import { AmbientAgentConfig, checkSkills, SkillSpec } from "./run-config.ts";
import { RUN_REQUEST_EXAMPLE, RUN_RESPONSE_EXAMPLE } from "./run-examples.ts";
import { textOfBytes } from "./text.ts";
import { RunWaitingFor } from "./waiting-for.ts";
import { RunWebhook } from "./webhooks.ts";

const METADATA_PAIRS = 20;
const METADATA_VALUE_BYTES = 256;
const FILES_MAX = 5;
const FILE_NAME_LENGTH = 255;
const MIME_TYPE =
  /^[A-Za-z0-9][A-Za-z0-9_!#$&^.+-]{0,126}\/[A-Za-z0-9][A-Za-z0-9_!#$&^.+-]{0,126}([ \t]*;|$)/;

export const RunState = z.enum(RUN_STATES).meta({
  id: "RunState",
  description:
    "`QUEUED`: the run waits for a worker. `PENDING` and `CLAIMED`: a worker prepares it. `INPROGRESS`: the " +
    "agent works. `BLOCKED`: the run waits for a person. `SUCCEEDED`, `FAILED` (a problem of the request), " +
    "`ERROR` (a problem of the platform) and `CANCELLED`: the run has ended. A follow-up continues an ended run.",
  examples: ["QUEUED"],
});

const NOTHING_TO_DO = "one of prompt, skill, config.skill_spec, config.skills and conversation_id is needed";

export const MetadataKey = z
  .string()
  .regex(/^[a-zA-Z0-9._-]{1,64}$/, "must be 1 to 64 characters of a-z A-Z 0-9 . _ -");
export const Metadata = z
  .record(MetadataKey, textOfBytes(METADATA_VALUE_BYTES))
  .refine((pairs) => Object.keys(pairs).length <= METADATA_PAIRS, `must have at most ${METADATA_PAIRS} pairs`)
  .meta({ maxProperties: METADATA_PAIRS })
  .describe(
    `The caller's own labels of the run, by which runs can be listed. At most ${METADATA_PAIRS} pairs. Names ` +
      `have up to 64 characters of \`a-z A-Z 0-9 . _ -\`, values up to ${METADATA_VALUE_BYTES} bytes.`,
  );

const Image = z.object({
  data: z.string().describe("The bytes, encoded as base64."),
  mime_type: z
    .enum(["image/jpeg", "image/png", "image/gif", "image/webp"])
    .describe("The media type of the bytes."),
});
const Attachment = z.object({
  file_name: z
    .string()
    .min(1)
    .max(FILE_NAME_LENGTH)
    .describe(
      "The name of the file in `attachments/`. Unsafe characters are replaced, and a number is added if the name " +
        "is already used.",
    ),
  mime_type: z
    .string()
    .regex(MIME_TYPE, "must be a media type such as text/plain")
    .describe("The media type of the bytes."),
  data: z.string().describe("The bytes, encoded as base64."),
});

export const Mode = z
  .enum(RUN_MODES)
  .describe(
    "The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's " +
      "own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: " +
      "`normal`.",
  );

export const RunAgentRequest = z
  .object({
    prompt: z.string().optional().describe("The task, in words."),
    config: AmbientAgentConfig.optional(),
    title: z.string().optional().describe("The title of the run. Default: the beginning of the prompt."),
    skill: SkillSpec.optional().describe(
      "`[owner/]repo:name` or `[owner/]repo:path`. It takes precedence over `config.skill_spec`.",
    ),
    conversation_id: z
      .string()
      .optional()
      .describe(
        "A conversation to continue, with its files and, if the agent is the same, its memory. Values that `config` " +
          "and `team` leave out are taken from the newest run of the conversation, except `name` and `skill_spec`.",
      ),
    parent_run_id: z.string().optional().describe("The parent of the run."),
    team: z
      .boolean()
      .optional()
      .describe("false: only the creator and administrators can see the run. Default: true."),
    images: z
      .array(Image)
      .max(FILES_MAX)
      .optional()
      .describe("Images that belong to the prompt, for agents that accept images."),
    attachments: z.array(Attachment).max(FILES_MAX).optional().describe("Files that belong to the prompt."),
    mode: Mode.optional(),
    interactive: withoutEffect(
      z.boolean().optional().describe("true: `config.permission_policy` defaults to `ask`."),
      ({ config, interactive }) => interactive === true && Object(config).permission_policy === "allow",
    ),
    metadata: Metadata.optional(),
    agent_identity_uid: z
      .string()
      .optional()
      .describe(
        "The uid of the named agent that executes the run. Values that `config` leaves out are taken from it. " +
          "Default: the caller, if its key belongs to a named agent.",
      ),
    on_behalf_of: z
      .string()
      .optional()
      .describe(
        "The uid or the email address of an active member, who becomes the creator of the run. The run gets no " +
          "personal secrets, and the member cannot approve it. For administrators, and for named agents with " +
          "`on_behalf_of_enabled`.",
      ),
    webhook: RunWebhook.optional(),
  })
  .refine(hasWork, { path: ["prompt"], message: NOTHING_TO_DO })
  .superRefine(({ config = {} }, context) => checkSkills(config, ["config"], context))
  .meta({
    id: "RunAgentRequest",
    description:
      "A new run. At least one of `prompt`, `skill`, `config.skill_spec`, `config.skills` and `conversation_id` is " +
      "required.",
    examples: [RUN_REQUEST_EXAMPLE],
  });
export type RunAgentRequest = z.output<typeof RunAgentRequest>;

interface Work {
  readonly prompt?: string | undefined;
  readonly skill?: string | undefined;
  readonly conversation_id?: string | undefined;
  readonly config?:
    | { readonly skill_spec?: string | undefined; readonly skills?: readonly string[] | undefined }
    | undefined;
}

/** A prompt of only spaces counts as absent. */
function hasWork({ prompt, skill, config, conversation_id }: Work): boolean {
  if (prompt !== undefined && prompt.trim() !== "") {
    return true;
  }
  return [skill, config?.skill_spec, config?.skills?.[0], conversation_id].some(
    (member) => member !== undefined,
  );
}

export const RunUpdate = z
  .object({
    title: z.string().optional().describe("The new title."),
    metadata: Metadata.optional().describe("Replaces all pairs."),
  })
  .meta({
    id: "RunUpdate",
    description: "The members to change. Other members keep their value.",
    examples: [{ title: "Repair the build", metadata: { ticket: "OPS-17" } }],
  });

export const RunAgentResponse = z
  .object({
    run_id: z.uuid().describe("The new run's id."),
    task_id: z.uuid().describe("The same as `run_id`."),
    state: RunState,
    at_capacity: z
      .boolean()
      .optional()
      .describe(
        "Whether all workers that can execute the run are busy, more runs wait than slots are free, or no worker exists, or " +
          "the quota `running_runs` of the team leaves no room.",
      ),
    waiting_for: RunWaitingFor.optional(),
    share_url: z
      .string()
      .optional()
      .describe(
        "The address of the run's page for guests, if `config.session_sharing` asked for it and the team allows it. " +
          "Only this response contains it. It expires after 7 days.",
      ),
    ignored: z
      .array(z.string())
      .optional()
      .describe(
        "The paths of members that were accepted and have no effect: unknown ones, and known ones that this server " +
          "does not use. Absent if there are none. At most 100; then `...` is the last entry.",
      ),
  })
  .meta({
    id: "RunAgentResponse",
    description: "The run was accepted and stored.",
    examples: [RUN_RESPONSE_EXAMPLE],
  });
export type RunAgentResponse = z.output<typeof RunAgentResponse>;

export const FollowupMessage = z
  .string()
  .refine((text) => text.trim() !== "", "must not be empty")
  .describe("The text of the follow-up.");

const FOLLOW_UP_FILES_MAX = 25;

/** Clients of another server may name a file that they have uploaded before, by a call that this server does not have. */
const FollowupAttachment = z
  .object({
    ...Attachment.partial().shape,
    attachment_id: z
      .string()
      .optional()
      .describe("For clients of another server: no id is known here, and the response is 422. Send `data`."),
  })
  .superRefine(({ attachment_id, ...file }, context) => {
    const missing = (["file_name", "mime_type", "data"] as const).filter((name) => file[name] === undefined);
    for (const name of attachment_id === undefined ? missing : []) {
      context.addIssue({ code: "custom", path: [name], message: "is required" });
    }
  })
  .meta({
    id: "FollowupAttachment",
    description: "A file that belongs to a follow-up: `file_name`, `mime_type` and `data`.",
    examples: [{ file_name: "trace.txt", mime_type: "text/plain", data: "RXJyb3I6IHRpbWUtb3V0Cg==" }],
  });

export const RunFollowupRequest = z
  .object({
    message: z
      .string()
      .default("")
      .describe("The text of the follow-up. It may be empty if there are files or comments."),
    comments: z
      .array(SentLineComment)
      .optional()
      .describe(
        `Comments on lines of the run's changes, at most ${COMMENTS_MAX}. The agent reads them below the message, each with ` +
          "the lines that it is about. A follow-up with comments never answers a question.",
      ),
    attachments: z
      .array(FollowupAttachment)
      .max(FOLLOW_UP_FILES_MAX)
      .optional()
      .describe(`Files that belong to the message, at most ${FOLLOW_UP_FILES_MAX}.`),
    images: z
      .array(Image)
      .max(FILES_MAX)
      .optional()
      .describe("Images that belong to the message, for agents that accept images."),
    mode: Mode.optional(),
    delivery: z
      .enum(FOLLOW_UP_DELIVERIES)
      .optional()
      .describe(
        "queue (default): the next turn processes it. interrupt: it stops the current turn. steer: it is added to " +
          "the current turn if the agent supports that, otherwise it is queued; no agent of this version supports it.",
      ),
    visibility: z
      .enum(["thread", "private"])
      .optional()
      .describe(
        "thread (default): it is posted to the threads of the run. private: neither it nor the answer of a turn with " +
          "only private follow-ups is posted. The run's state and the agent's questions are still posted.",
      ),
  })
  .superRefine(({ attachments = [], comments = [], images = [], message }, context) => {
    if (message.trim() === "" && attachments.length + comments.length + images.length === 0) {
      context.addIssue({ code: "custom", path: ["message"], message: "must not be empty" });
    }
  })
  .meta({
    id: "RunFollowupRequest",
    description: "A message to an existing run.",
    examples: [{ message: "Leave the old tests as they are", delivery: "interrupt" }],
  });
export type RunFollowupRequest = z.output<typeof RunFollowupRequest>;

export const RunFollowupResponse = z
  .object({
    outcome: z
      .enum(FOLLOW_UP_OUTCOMES)
      .describe(
        "`live_session`: the running turn gets it, or it answered the question of a running agent. If the agent takes " +
          "nothing within its turn, the event `followup.queued` follows. `queued_prompt`: " +
          "the run has not started; its first turn gets it with the prompt. `handoff_execution`: the run had ended and " +
          "continues. `queue_pending`: it waits for the next turn, an answer or an approval.",
      ),
    followup_id: z
      .uuid()
      .nullable()
      .optional()
      .describe("null if the message answered a question of the run, and so became no follow-up."),
    state: RunState,
    answered: z
      .string()
      .optional()
      .describe(
        "The `option_id` that the message chose. Absent if it was no answer, and after a refusal for which the agent " +
          "offers no option that holds once.",
      ),
    question_open: z
      .literal(true)
      .optional()
      .describe("The message was no answer. It is held, and the run still waits for an answer."),
  })
  .meta({
    id: "RunFollowupResponse",
    description: "The follow-up was accepted. The agent has not read it yet.",
    examples: [
      {
        outcome: "queue_pending",
        followup_id: "0195b2a6-1b2c-7d3e-8f40-516273849506",
        state: "INPROGRESS",
      },
    ],
  });

export const ConversationFollowupResponse = RunFollowupResponse.extend({
  run_id: z.uuid().describe("The newest run of the conversation, which gets the follow-up."),
}).meta({
  id: "ConversationFollowupResponse",
  description: "The follow-up was accepted. The agent has not read it yet.",
  examples: [
    {
      run_id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e",
      outcome: "handoff_execution",
      followup_id: "0195b2a6-1b2c-7d3e-8f40-516273849506",
      state: "QUEUED",
    },
  ],
});

export function followUpResponseOf({
  answered,
  followUpId,
  outcome = "queue_pending",
  questionOpen,
  run: { state },
}: FollowUpResult) {
  return defined({ outcome, state, followup_id: followUpId ?? null, answered, question_open: questionOpen });
}
