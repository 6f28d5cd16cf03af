import { z } from "zod";
import { TITLE_LENGTH } from "../../core/runs/new-run.ts";
import { FOLLOW_UP_DELIVERIES, RUN_MODES } from "../../core/runs/run.ts";
import { RUN_STATES } from "../../core/runs/states.ts";
import { AmbientAgentConfig } from "./run-config.ts";
import { textOfBytes, textOfCharacters } from "./text.ts";

const METADATA_PAIRS = 20;
const METADATA_VALUE_BYTES = 256;
const FILES_MAX = 5;

export const RunState = z.enum(RUN_STATES).meta({ id: "RunState" });

const NOTHING_TO_DO = "one of prompt, skill, config.skill_spec and conversation_id is needed";

const MetadataKey = z
  .string()
  .regex(/^[a-zA-Z0-9._-]{1,64}$/, "must be 1 to 64 characters of a-z A-Z 0-9 . _ -");
const Metadata = z
  .record(MetadataKey, textOfBytes(METADATA_VALUE_BYTES))
  .refine((pairs) => Object.keys(pairs).length <= METADATA_PAIRS, `must have at most ${METADATA_PAIRS} pairs`)
  .describe("The caller's own names for the run; runs can be listed by them.");

const Image = z.object({
  data: z.string().describe("Base64."),
  mime_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
});
const Attachment = z.object({
  file_name: z.string(),
  mime_type: z.string(),
  data: z.string().describe("Base64."),
});

const Mode = z.enum(RUN_MODES).describe("Only `normal` (default) is available yet.");

export const RunAgentRequest = z
  .object({
    prompt: z.string().optional(),
    config: AmbientAgentConfig.optional(),
    title: textOfCharacters(TITLE_LENGTH).optional(),
    skill: z
      .string()
      .optional()
      .describe("`[owner/]repo:name` or `[owner/]repo:path`; beats `config.skill_spec`."),
    conversation_id: z.string().optional().describe("A conversation to continue."),
    parent_run_id: z.string().optional(),
    team: z
      .boolean()
      .optional()
      .describe("false: only the creator and administrators see the run. Default true."),
    images: z.array(Image).max(FILES_MAX).optional(),
    attachments: z.array(Attachment).max(FILES_MAX).optional(),
    mode: Mode.optional(),
    interactive: z.boolean().optional(),
    metadata: Metadata.optional(),
  })
  .refine(hasWork, { path: ["prompt"], message: NOTHING_TO_DO })
  .meta({ id: "RunAgentRequest", description: "At least one of the members that say what to do is needed." });
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
  .object({ run_id: z.uuid(), task_id: z.uuid(), state: RunState, at_capacity: z.boolean().optional() })
  .meta({ id: "RunAgentResponse", description: "`run_id` and `task_id` are the same." });
export type RunAgentResponse = z.output<typeof RunAgentResponse>;

export const RunFollowupRequest = z
  .object({
    message: z.string().refine((text) => text.trim() !== "", "must not be empty"),
    mode: Mode.optional(),
    delivery: z
      .enum(FOLLOW_UP_DELIVERIES)
      .optional()
      .describe(
        "queue (default): the next turn takes it. interrupt: stops the current turn. steer: goes into it where the " +
          "agent can take words in the middle of a turn, and is a queue where it cannot; no agent of this version can.",
      ),
    visibility: z.enum(["thread", "private"]).optional().describe("`private` is not available yet."),
  })
  .meta({ id: "RunFollowupRequest" });
export type RunFollowupRequest = z.output<typeof RunFollowupRequest>;

export const RunFollowupResponse = z.object({ followup_id: z.uuid().optional(), state: RunState }).meta({
  id: "RunFollowupResponse",
  description: "Without `followup_id`, the words answered what the run asked.",
});
