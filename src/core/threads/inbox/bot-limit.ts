import type { Disposition } from "../../ports/stores/inbox-store.ts";
import { type AuthorizedContext, type InboxDeps, resultOf } from "./message-context.ts";
import { complete } from "./message-results.ts";

const RUNS_MAX = 10;
const WINDOW_MS = 60 * 60_000;
/** More runs are not looked at. A bot has as many in a few busy places. */
const READ_MAX = 200;

/** What the inbox and the doctor say about a bot that asks too often. */
export const BOT_LIMIT_REASON = `More than ${RUNS_MAX} runs an hour`;

/**
 * Refuses a bot that has started too many runs in its place, without a post: two programs could answer each other for
 * ever. The events of a bot in a place are handled one at a time, so that the count is exact. Undefined: it may start one.
 */
export async function refuseOverBotLimit(
  context: AuthorizedContext,
  deps: InboxDeps,
): Promise<Disposition | undefined> {
  const { author, message } = context;
  const { botId } = message.author;
  if (botId === undefined) {
    return undefined;
  }
  const createdAfter = new Date(deps.clock.now().getTime() - WINDOW_MS);
  const { runs } = await deps.storage.runs.list({
    viewer: author,
    filters: { creatorId: author.id, createdAfter },
    sort: "created_at",
    order: "desc",
    limit: READ_MAX,
  });
  const here = runs.filter(({ provenance }) => provenance.bot_place === message.place);
  if (here.length < RUNS_MAX && runs.length < READ_MAX) {
    return undefined;
  }
  const reason = `${BOT_LIMIT_REASON} of the bot ${botId} in ${message.place ?? message.key}.`;
  deps.log.warn("inbox.bot.limited", { inboxId: context.inboxId, botId, place: message.place });
  return complete({ ...resultOf(context), disposition: "refused", reason }, deps);
}
