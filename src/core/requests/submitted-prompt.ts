import type { FollowUp } from "../model/runs/follow-up.ts";
import type { Run } from "../model/runs/run.ts";
import type { FollowUpStore } from "../ports/stores/follow-up-store.ts";

/** More than this are never given to a first turn together. */
const FOLLOW_UPS_MAX = 100;

/** The prompt, and the follow-ups that came before the agent first had it, with blank lines between. */
export async function findSubmittedPrompt(
  followUps: Pick<FollowUpStore, "list">,
  { earlyFollowUps, id, prompt, startedAt }: Pick<Run, "earlyFollowUps" | "id" | "prompt" | "startedAt">,
): Promise<string> {
  if (earlyFollowUps !== true) {
    return prompt;
  }
  const isEarly = ({ createdAt, isAnswer, withdrawnAt }: FollowUp) =>
    withdrawnAt === undefined && isAnswer !== true && createdAt <= (startedAt ?? createdAt);
  const early = (await followUps.list(id, 0, FOLLOW_UPS_MAX)).filter(isEarly);
  return [prompt, ...early.map(({ message }) => message)].filter((text) => text !== "").join("\n\n");
}
