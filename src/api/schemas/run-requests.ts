import { z } from "zod";
import { FOLLOW_UP_DELIVERIES, RUN_MODES } from "../../core/runs/run.ts";
import { RUN_STATES } from "../../core/runs/states.ts";
import { AmbientAgentConfig, SkillSpec } from "./run-config.ts";
import { RUN_REQUEST_EXAMPLE, RUN_RESPONSE_EXAMPLE } from "./run-examples.ts";
import { textOfBytes } from "./text.ts";

const METADATA_PAIRS = 20;
const METADATA_VALUE_BYTES = 256;
const FILES_MAX = 5;
const FILE_NAME_LENGTH = 255;
const MIME_TYPE = /^[A-Za-z0-9][\w!#$&^.+-]{0,126}\/[A-Za-z0-9][\w!#$&^.+-]{0,126}(\s*;|$)/;

export const RunState = z.enum(RUN_STATES).meta({
  id: "RunState",
  description:
    "`QUEUED` waits for a worker, `PENDING` and `CLAIMED` are being prepared, `INPROGRESS` works, `BLOCKED` waits for a " +
    "person. `SUCCEEDED`, `FAILED` (the request's side), `ERROR` (the platform's side) and `CANCELLED` have ended, until a " +
    "follow-up takes the run up again.",
  examples: ["QUEUED"],
});

const NOTHING_TO_DO = "one of prompt, skill, config.skill_spec and conversation_id is needed";

export const MetadataKey = z
  .string()
  .regex(/^[a-zA-Z0-9._-]{1,64}$/, "must be 1 to 64 characters of a-z A-Z 0-9 . _ -");
export const Metadata = z
  .record(MetadataKey, textOfBytes(METADATA_VALUE_BYTES))
  .refine((pairs) => Object.keys(pairs).length <= METADATA_PAIRS, `must have at most ${METADATA_PAIRS} pairs`)
  .meta({ maxProperties: METADATA_PAIRS })
  .describe(
    `The caller's own names for the run; runs can be listed by them. At most ${METADATA_PAIRS} pairs, of names of up to 64 ` +
      `of \`a-z A-Z 0-9 . _ -\` and values of up to ${METADATA_VALUE_BYTES} bytes.`,
  );

const Image = z.object({
  data: z.string().describe("Base64."),
  mime_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]).describe("What the bytes are."),
});
const Attachment = z.object({
  file_name: z
    .string()
    .min(1)
    .max(FILE_NAME_LENGTH)
    .describe("The agent finds it in `attachments/` by this name, cleaned, and numbered where it is taken."),
  mime_type: z
    .string()
    .regex(MIME_TYPE, "must be a media type such as text/plain")
    .describe("What the bytes are."),
  data: z.string().describe("Base64."),
});

const Mode = z
  .enum(RUN_MODES)
  .describe(
    "How the agent goes about it, for one turn: `plan` changes nothing, `orchestrate` shares the work out. In the agent's " +
      "own mode of that name where it has one, else told in words. Default `normal`.",
  );

export const RunAgentRequest = z
  .object({
    prompt: z.string().optional().describe("What is to be done, in words."),
    config: AmbientAgentConfig.optional(),
    title: z.string().optional().describe("Default: the beginning of the prompt."),
    skill: SkillSpec.optional().describe(
      "`[owner/]repo:name` or `[owner/]repo:path`; beats `config.skill_spec`.",
    ),
    conversation_id: z
      .string()
      .optional()
      .describe(
        "A conversation to continue, with its files and, where it is the same agent, its memory. What `config` and `team` " +
          "do not say is taken over from its newest run, but for `name` and `skill_spec`.",
      ),
    parent_run_id: z.string().optional().describe("The run that this one belongs to."),
    team: z
      .boolean()
      .optional()
      .describe("false: only the creator and administrators see the run. Default true."),
    images: z
      .array(Image)
      .max(FILES_MAX)
      .optional()
      .describe("Pictures that belong to the prompt, shown to agents that look at images."),
    attachments: z.array(Attachment).max(FILES_MAX).optional().describe("Files that belong to the prompt."),
    mode: Mode.optional(),
    interactive: z
      .boolean()
      .optional()
      .describe("true: the same as `config.permission_policy` `ask`, where that is not given."),
    metadata: Metadata.optional(),
  })
  .refine(hasWork, { path: ["prompt"], message: NOTHING_TO_DO })
  .meta({
    id: "RunAgentRequest",
    description: "At least one of the members that say what to do is needed.",
    examples: [RUN_REQUEST_EXAMPLE],
  });
export type RunAgentRequest = z.output<typeof RunAgentRequest>;

interface Work {
  readonly prompt?: string | undefined;
  readonly skill?: string | undefined;
  readonly conversation_id?: string | undefined;
  readonly config?: { readonly skill_spec?: string | undefined } | undefined;
}

/** A prompt of blanks asks for nothing. */
function hasWork({ prompt, skill, config, conversation_id }: Work): boolean {
  if (prompt !== undefined && prompt.trim() !== "") return true;
  return [skill, config?.skill_spec, conversation_id].some((member) => member !== undefined);
}

export const RunAgentResponse = z
  .object({
    run_id: z.uuid().describe("The new run's id."),
    task_id: z.uuid().describe("The same as `run_id`."),
    state: RunState,
    at_capacity: z
      .boolean()
      .optional()
      .describe("Whether all workers that may take it are busy, or there is none."),
  })
  .meta({
    id: "RunAgentResponse",
    description: "The run was accepted and stored.",
    examples: [RUN_RESPONSE_EXAMPLE],
  });
export type RunAgentResponse = z.output<typeof RunAgentResponse>;

export const RunFollowupRequest = z
  .object({
    message: z
      .string()
      .refine((text) => text.trim() !== "", "must not be empty")
      .describe("What is said to the run."),
    mode: Mode.optional(),
    delivery: z
      .enum(FOLLOW_UP_DELIVERIES)
      .optional()
      .describe(
        "queue (default): the next turn takes it. interrupt: stops the current turn. steer: goes into it where the " +
          "agent can take words in the middle of a turn, and is a queue where it cannot; no agent of this version can.",
      ),
    visibility: z
      .enum(["thread", "private"])
      .optional()
      .describe(
        "thread (default): told in the threads that the run is bound to. private: neither it nor the answer of a turn " +
          "that takes nothing else is told there. How the run stands, and what its agent asks, still is.",
      ),
  })
  .meta({
    id: "RunFollowupRequest",
    description: "What is said to a run after its start.",
    examples: [{ message: "Leave the old tests as they are", delivery: "interrupt" }],
  });
export type RunFollowupRequest = z.output<typeof RunFollowupRequest>;

export const RunFollowupResponse = z
  .object({
    followup_id: z.uuid().optional().describe("Absent where the words answered what the run had asked."),
    state: RunState,
  })
  .meta({
    id: "RunFollowupResponse",
    description: "Accepted, and not yet read by the agent.",
    examples: [{ followup_id: "0195b2a6-1b2c-7d3e-8f40-516273849506", state: "INPROGRESS" }],
  });
