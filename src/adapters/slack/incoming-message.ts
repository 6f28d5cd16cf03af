import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { MessageFile } from "../../core/ports/thread-adapter.ts";
import { isMarked } from "./blocks.ts";
import { contentOf, forwardedFiles } from "./message-content.ts";

/** A message that a user posted or edited, in the same shape for `app_mention` and `message` events. */
export interface IncomingMessage {
  readonly action: "posted" | "edited";
  /** The two events of one message have the same version. */
  readonly version: string;
  readonly channel: string;
  /** Missing in `app_mention` events. */
  readonly channelType: string | undefined;
  readonly ts: string;
  /** Set only on replies in a thread. */
  readonly threadTs: string | undefined;
  readonly subtype: string | undefined;
  readonly userId: string | undefined;
  readonly botId: string | undefined;
  readonly appId: string | undefined;
  /** The message has the mark of messages that a server of Errand posted, this or another one. */
  readonly isOfErrand: boolean;
  /** The author's own words in Slack's markup, as Slack signed them. */
  readonly text: string;
  /** What is attached, in Slack's markup: forwarded messages, cards of apps. Anybody's text. */
  readonly attached: readonly string[];
  readonly unread: readonly string[];
  /** Those of forwarded messages come last. */
  readonly files: readonly MessageFile[];
  /** The text that an edit replaced, if Slack says it. */
  readonly textBefore: string | undefined;
  /** False for changes that nobody wrote, such as the preview of a link. */
  readonly isTextEdited: boolean;
  /** Slack repeats `app_mention` for each edit of a message that has the mention. */
  readonly isRepeatedMention: boolean;
}

export interface DeletedMessage {
  readonly channel: string;
  readonly ts: string;
  readonly version: string;
}

const text = z.string().optional().catch(undefined);
const fileSchema = z
  .object({
    id: text,
    file_access: text,
    name: text,
    mimetype: text,
    size: z.number().optional().catch(undefined),
    mode: text,
    url_private_download: text,
  })
  .catch({});
const messageSchema = z.object({
  files: z.array(fileSchema).optional().catch(undefined),
  type: z.string().optional(),
  subtype: z.string().optional(),
  ts: z.string(),
  thread_ts: z.string().optional(),
  user: z.string().optional(),
  bot_id: z.string().nullish(),
  app_id: text,
  metadata: z.object({ event_type: text }).optional().catch(undefined),
  text: z.string().nullish(),
  blocks: z.unknown().optional(),
  attachments: z.unknown().optional(),
  edited: z.object({ ts: z.string() }).optional(),
});
const channelSchema = z.object({ channel: z.string(), channel_type: z.string().optional() });
const postedSchema = messageSchema.extend(channelSchema.shape);
const editedSchema = channelSchema.extend({
  subtype: z.literal("message_changed"),
  event_ts: z.string().optional(),
  message: messageSchema,
  previous_message: z.object({ text: z.string().nullish() }).optional().catch(undefined),
});
const deletedSchema = channelSchema.extend({
  subtype: z.literal("message_deleted"),
  deleted_ts: z.string(),
  event_ts: text,
  ts: text,
});
/** A deleted first message of a thread stays as a tombstone. */
const tombstoneSchema = channelSchema.extend({
  subtype: z.literal("message_changed"),
  event_ts: text,
  ts: text,
  message: z.object({ subtype: z.literal("tombstone"), ts: z.string() }),
});

/** Reads an event that says that a message was deleted; undefined if it says anything else. */
export function readDeletion(event: unknown): DeletedMessage | undefined {
  const deleted = deletedSchema.safeParse(event).data;
  const tombstone = tombstoneSchema.safeParse(event).data;
  const { channel, event_ts: at, ts: eventTs } = deleted ?? tombstone ?? {};
  const ts = deleted?.deleted_ts ?? tombstone?.message.ts;
  return channel === undefined || ts === undefined
    ? undefined
    : { channel, ts, version: at ?? eventTs ?? ts };
}

/** Reads an `app_mention` or `message` event; undefined if it lacks the members of a message. */
export function readIncomingMessage(event: unknown): IncomingMessage | undefined {
  const edited = editedSchema.safeParse(event);
  if (edited.success) {
    return ofEdit(edited.data);
  }
  const posted = postedSchema.safeParse(event);
  if (!posted.success) {
    return undefined;
  }
  const { data: message } = posted;
  return {
    ...commonOf(message, message),
    action: "posted",
    version: message.ts,
    textBefore: undefined,
    isTextEdited: true,
    isRepeatedMention: message.type === "app_mention" && message.edited !== undefined,
  };
}

function ofEdit(edit: z.infer<typeof editedSchema>): IncomingMessage {
  const { message, previous_message: previous } = edit;
  return {
    ...commonOf(message, edit),
    action: "edited",
    version: message.edited?.ts ?? edit.event_ts ?? message.ts,
    textBefore: previous && (previous.text ?? ""),
    isTextEdited: message.edited !== undefined && (previous === undefined || previous.text !== message.text),
    isRepeatedMention: false,
  };
}

function commonOf(message: z.infer<typeof messageSchema>, event: z.infer<typeof channelSchema>) {
  const { words: text, attached, unread } = contentOf(message);
  return {
    channel: event.channel,
    channelType: event.channel_type,
    ts: message.ts,
    threadTs: message.thread_ts,
    subtype: message.subtype,
    userId: message.user,
    botId: message.bot_id || undefined,
    appId: message.app_id,
    isOfErrand: isMarked(message),
    text,
    attached,
    unread,
    files: [...(message.files ?? []).map(fileOf), ...forwardedFiles(message).map(parseFile)],
  };
}

/** In a channel that is shared with another organization, an event has only the id of a file. */
export const FILE_BY_ID = "slack-file:";

/** Why the app gets no bytes of a file, by its `mode`: https://docs.slack.dev/reference/objects/file-object */
const UNREADABLE: Readonly<Record<string, string>> = {
  external: "it is stored outside of Slack.",
  tombstone: "it was deleted.",
  hidden_by_limit: "Slack hides it, because the workspace has too many files.",
  quip: "a canvas has no file. Paste its words.",
  canvas: "a canvas has no file. Paste its words.",
  list: "a list has no file. Paste its words.",
};

function fileOf(file: z.infer<typeof fileSchema>): MessageFile {
  const { id, file_access: access, mimetype, mode, name, size } = file;
  const problem = UNREADABLE[mode ?? ""];
  const isById = access === "check_file_info" && id !== undefined;
  const address = isById ? `${FILE_BY_ID}${id}` : file.url_private_download;
  return defined({
    name: name || "without a name",
    mimeType: mimetype,
    sizeBytes: size,
    address: problem === undefined ? address : undefined,
    problem,
  });
}

/** Reads what Slack says about a file. */
export function parseFile(file: unknown): MessageFile {
  return fileOf(fileSchema.parse(file));
}
