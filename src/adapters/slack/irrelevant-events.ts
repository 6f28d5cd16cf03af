import { z } from "zod";
import { isDirect } from "./addresses.ts";
import { MENTION_START } from "./mention.ts";
import { STOP_REACTION } from "./translate.ts";

const unthreadedSchema = z.object({
  subtype: z.enum(["file_share", "me_message"]).optional(),
  channel: z.string(),
  channel_type: z.enum(["channel", "group", "mpim"]),
  thread_ts: z.undefined().optional(),
  text: z.string(),
});
const changedSchema = z.object({
  message: z.object({ edited: z.undefined().optional(), subtype: z.string().optional() }),
});
const reactionSchema = z.object({ reaction: z.string() });

/**
 * True if the event can concern no bot: a message of a channel that is in no thread and mentions nobody, a change that
 * nobody wrote, or a reaction that asks for nothing. `translate` would ignore it too. Most events are such, so they are
 * not stored. An edit that adds a mention comes as an event of its own.
 */
export function isIrrelevant(event: { readonly type: string; readonly subtype?: unknown }): boolean {
  switch (event.type) {
    case "message":
      return event.subtype === "message_changed" ? isUnwritten(event) : isUnthreaded(event);
    case "reaction_added": {
      const { reaction } = reactionSchema.safeParse(event).data ?? {};
      return reaction !== undefined && reaction !== STOP_REACTION;
    }
    default:
      return false;
  }
}

function isUnthreaded(event: object): boolean {
  const { channel, text } = unthreadedSchema.safeParse(event).data ?? {};
  return channel !== undefined && !isDirect(channel) && !text?.includes(MENTION_START);
}

/** Slack itself changed the message, for example by the preview of a link. A tombstone says that it was deleted. */
function isUnwritten(event: object): boolean {
  const { message } = changedSchema.safeParse(event).data ?? {};
  return message !== undefined && message.subtype !== "tombstone";
}
