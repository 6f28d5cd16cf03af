import { type Check, ok, warn } from "../ports/check.ts";
import type { Storage } from "../ports/stores/storage.ts";
import { BOT_LIMIT_REASON } from "../threads/inbox/bot-limit.ts";

const DAY_MS = 24 * 60 * 60_000;
/** The newest refusals of a team that are looked at. */
const READ_MAX = 200;
const SHOWN_MAX = 5;

/** Bots that asked for more runs than one bot may start in a place. */
export function botsCheck(
  { inboxList, teams }: Pick<Storage, "inboxList" | "teams">,
  now: () => Date,
): Check {
  return {
    name: "bots",
    async run() {
      const since = now().getTime() - DAY_MS;
      const reasons = new Set<string>();
      for (const { id: teamId } of await teams.list()) {
        const query = { teamId, withUnknownTeam: false, disposition: "refused", limit: READ_MAX } as const;
        for (const { reason = "", receivedAt } of await inboxList.list(query)) {
          if (receivedAt.getTime() > since && reason.startsWith(BOT_LIMIT_REASON)) {
            reasons.add(reason);
          }
        }
      }
      return reasons.size === 0
        ? ok("No bot asked for too many runs in the last day.")
        : warn(
            `Requests of bots were refused in the last day. ${[...reasons].slice(0, SHOWN_MAX).join(" ")}`,
            "Make the bot or the workflow mention Errand less often, or remove it from the policy that admits it.",
          );
    },
  };
}
