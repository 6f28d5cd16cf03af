import { z } from "zod";
import type { Translation } from "../../core/threads/thread-adapter.ts";
import { readButton } from "./buttons.ts";
import type { Hearing } from "./hearing.ts";
import { provenanceOf } from "./provenance.ts";
import { authorSubject, threadKeyOf } from "./thread-key.ts";

const press = z.object({
  user: z.object({ id: z.string() }),
  channel: z.object({ id: z.string() }),
  message: z.object({ ts: z.string(), thread_ts: z.string().optional() }),
  actions: z.array(z.object({ action_id: z.string(), value: z.string().default(""), action_ts: z.string() })),
});

/** What a pressed button of one of our messages means. */
export function translatePress(payload: unknown, { bot }: Hearing): Translation {
  const parsed = press.safeParse(payload);
  if (!parsed.success) return { kind: "ignored", reason: "Not a button of a message." };
  const { user, channel, message, actions } = parsed.data;
  const [action] = actions;
  if (action === undefined) return { kind: "ignored", reason: "No button was pressed." };
  const meant = readButton(action.action_id, action.value);
  if (meant === undefined) return { kind: "ignored", reason: `No button of Errand: ${action.action_id}.` };
  const location = { teamId: bot.teamId, channel: channel.id, ts: message.ts, threadTs: message.thread_ts };
  return {
    kind: "message",
    message: {
      adapter: "slack",
      installation: bot.teamId,
      key: threadKeyOf(location),
      place: channel.id,
      meaning: `slack:${bot.teamId}/${channel.id}/${message.ts}:pressed:${user.id}:${action.action_ts}`,
      addressed: "mention",
      author: { subject: authorSubject(bot.teamId, user.id) },
      text: "",
      messageRef: message.ts,
      press: meant,
      provenance: provenanceOf(location, {
        userId: user.id,
        content: action.value,
        action: "pressed",
        version: action.action_ts,
      }),
    },
  };
}
