import { z } from "zod";
import { MENTION_START } from "./mention.ts";
import { isDirect } from "./thread-key.ts";
import { STOP_SIGN } from "./translate.ts";

const unthreadedSchema = z.object({
  subtype: z.undefined().optional(),
  channel: z.string(),
  channel_type: z.enum(["channel", "group", "mpim"]),
  thread_ts: z.undefined().optional(),
  text: z.string(),
});
const reactionSchema = z.object({ reaction: z.string() });

/**
 * True if the event can concern no bot: a plain message of a channel that is in no thread and mentions nobody, or a
 * reaction that asks for nothing. `translate` would ignore it too. Most events are such, so they are not stored. An
 * edit that adds a mention comes as an event of its own.
 */
export function concernsNobody(event: { readonly type: string }): boolean {
  switch (event.type) {
    case "message": {
      const { channel, text } = unthreadedSchema.safeParse(event).data ?? {};
      return channel !== undefined && !isDirect(channel) && !text?.includes(MENTION_START);
    }
    case "reaction_added": {
      const { reaction } = reactionSchema.safeParse(event).data ?? {};
      return reaction !== undefined && reaction !== STOP_SIGN;
    }
    default:
      return false;
  }
}
