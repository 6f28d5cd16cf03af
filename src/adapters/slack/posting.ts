import { z } from "zod";
import type { InboundMessage, Translation } from "../../core/threads/thread-adapter.ts";
import type { Bot } from "./bot-identity.ts";
import type { Hearing } from "./hearing.ts";
import { provenanceOf } from "./provenance.ts";
import { authorSubject, permalinkOf, threadKeyOf } from "./thread-key.ts";
import { mentions, startsWithAnother, wordsOf } from "./words.ts";

const posting = z.object({
  type: z.string().optional(),
  subtype: z.string().optional(),
  ts: z.string(),
  thread_ts: z.string().optional(),
  user: z.string().optional(),
  bot_id: z.string().nullish(),
  text: z.string().nullish(),
  edited: z.object({ ts: z.string() }).optional(),
});
const place = z.object({ channel: z.string(), channel_type: z.string().optional() });
const newPosting = posting.extend(place.shape);
const changedPosting = place.extend({
  subtype: z.literal("message_changed"),
  event_ts: z.string().optional(),
  message: posting,
  previous_message: z.object({ text: z.string().nullish() }).optional(),
});

type Posting = z.infer<typeof posting>;
type Place = z.infer<typeof place>;

/** What one posting did, and by which version of it: what two events that tell of the same share. */
interface ActionRequest {
  readonly action: "posted" | "edited";
  readonly version: string;
}

/** Subtypes in which a person says something. All others are notes of Slack: joins, topics, deletions. */
const SPOKEN_SUBTYPES: ReadonlySet<string | undefined> = new Set([
  undefined,
  "file_share",
  "me_message",
  "thread_broadcast",
]);

// Slackbot is no bot by its profile, nor has its messages a `bot_id`.
const SLACKBOT = "USLACKBOT";

/** What an `app_mention` or `message` event means. The two of one posting mean the same, whichever comes first. */
export function translatePosting(event: unknown, hearing: Hearing): Translation {
  const changed = changedPosting.safeParse(event);
  if (changed.success) return translateEdit(changed.data, hearing);
  const parsed = newPosting.safeParse(event);
  if (!parsed.success) return ignored("A message without what every message has.");
  const { data: said } = parsed;
  // Slack sends app_mention again for every edit, also for one that changes a typo. What was there before the edit
  // stands in its message_changed event alone: https://github.com/slackapi/bolt-js/issues/960
  if (said.type === "app_mention" && said.edited)
    return ignored("An edit; its message_changed event decides.");
  return translateSaid(said, said, { action: "posted", version: said.ts }, hearing);
}

function translateEdit(edit: z.infer<typeof changedPosting>, hearing: Hearing): Translation {
  const { message, previous_message: previous } = edit;
  const { userId } = hearing.bot;
  const isNewlyAddressed = mentions(message.text ?? "", userId) && !mentions(previous?.text ?? "", userId);
  if (!isNewlyAddressed) return ignored("An edit that does not newly mention the bot.");
  const version = message.edited?.ts ?? edit.event_ts ?? message.ts;
  return translateSaid(message, edit, { action: "edited", version }, hearing);
}

function translateSaid(said: Posting, where: Place, action: ActionRequest, hearing: Hearing): Translation {
  if (!SPOKEN_SUBTYPES.has(said.subtype)) return ignored(`Nobody spoke: ${said.subtype}.`);
  const bot = botOf(said, hearing.bot);
  if (bot !== undefined || said.user === undefined) return ignored(`A message of ${bot ?? "nobody"}.`);
  const text = said.text ?? "";
  const addressed = addressedBy(text, said, where, hearing.bot);
  if (addressed === undefined) return ignored("A message in the channel that does not mention the bot.");
  if (addressed === "reply" && startsWithAnother(text, hearing.bot.userId)) {
    return ignored("A reply that addresses somebody else.");
  }
  return {
    kind: "message",
    message: inboundMessage({ ...said, user: said.user }, { addressed, where, action }, hearing),
  };
}

function addressedBy(
  text: string,
  said: Posting,
  where: Place,
  bot: Bot,
): InboundMessage["addressed"] | undefined {
  // app_mention has no channel_type; the ids of direct conversations begin with D.
  if (where.channel_type === "im" || where.channel.startsWith("D")) return "direct";
  if (mentions(text, bot.userId)) return "mention";
  return said.thread_ts === undefined ? undefined : "reply";
}

/** The bot that posted, by id: names are free to choose. */
function botOf({ bot_id: botId, user }: Posting, bot: Bot): string | undefined {
  if (user === bot.userId || (botId && botId === bot.botId)) return "the bot itself";
  if (user === SLACKBOT) return "Slackbot";
  return botId ? `another app (${botId})` : undefined;
}

function inboundMessage(
  said: Posting & { readonly user: string },
  {
    addressed,
    where,
    action,
  }: { addressed: InboundMessage["addressed"]; where: Place; action: ActionRequest },
  { bot, eventId }: Hearing,
): InboundMessage {
  const { teamId, workspaceUrl } = bot;
  const location = { teamId, channel: where.channel, ts: said.ts, threadTs: said.thread_ts };
  const permalink = permalinkOf(location, workspaceUrl);
  const content = said.text ?? "";
  return {
    adapter: "slack",
    installation: teamId,
    key: threadKeyOf(location),
    place: where.channel,
    meaning: `slack:${teamId}/${where.channel}/${said.ts}:${action.action}:${action.version}`,
    addressed,
    author: { subject: authorSubject(teamId, said.user) },
    text: wordsOf(content, bot.userId),
    messageRef: said.ts,
    ...(permalink === undefined ? {} : { permalink }),
    provenance: provenanceOf(location, { userId: said.user, content, eventId, ...action }),
  };
}

function ignored(reason: string): Translation {
  return { kind: "ignored", reason };
}
