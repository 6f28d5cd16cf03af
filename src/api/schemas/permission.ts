import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { PERMISSION_KINDS, type PermissionRequest } from "../../core/model/runs/agent-update.ts";
import type { ListedRun } from "../../core/model/runs/run.ts";
import { Timestamp } from "./text.ts";

/** What a question is about. Events of a run have the same members. */
export const QUESTION = {
  permission_id: z.string().describe("The id in the path of the request that answers the question."),
  title: z.string().describe("The agent's own name of the call. A model may have written it."),
  options: z
    .array(
      z.object({
        option_id: z.string().describe("The value of the answer."),
        name: z.string().describe("A text for people."),
        kind: z.enum(PERMISSION_KINDS).describe("Whether the option allows or rejects, and for how long."),
      }),
    )
    .describe("The answers that the agent offers."),
  command: z.string().optional().describe("The command that the call would run, from the call itself."),
  paths: z
    .array(z.string())
    .optional()
    .describe("The files that the call is about, and the directory of a command."),
  diff: z
    .string()
    .optional()
    .describe("The lines that the call removes and adds, in the form of a unified diff."),
  input: z
    .string()
    .optional()
    .describe("The arguments of the call that the other members do not show, as JSON."),
  reason: z
    .string()
    .optional()
    .describe("What the agent says about the call. A model may have written it, so it may be untrue."),
  truncated: z
    .boolean()
    .optional()
    .describe(
      "true: the call is longer than what is shown here. Its event `agent.tool_call` has more of it.",
    ),
};

export const RunPermission = z.object({
  ...QUESTION,
  asked_at: Timestamp.describe("When the agent asked."),
});

export function permissionMember(run: ListedRun): { readonly permission?: z.output<typeof RunPermission> } {
  const { permission, state } = run;
  if (state !== "BLOCKED" || permission === undefined) {
    return {};
  }
  return { permission: { ...questionMembers(permission), asked_at: permission.askedAt.toISOString() } };
}

function questionMembers({ truncated, options, paths, permissionId, ...others }: PermissionRequest) {
  const { command, diff, input, reason, title } = others;
  return defined({
    permission_id: permissionId,
    title,
    options: options.map(({ kind, name, optionId }) => ({ option_id: optionId, name, kind })),
    command,
    paths: paths === undefined ? undefined : [...paths],
    diff,
    input,
    reason,
    truncated: truncated === true ? true : undefined,
  });
}
