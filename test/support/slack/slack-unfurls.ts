import { asRecord, isRecord, type JsonRecord } from "../json.ts";
import { slackLimitError } from "./slack-limits.ts";

/** The preview of a link under a message. */
export interface SlackUnfurl {
  readonly url: string;
  readonly blocks: readonly JsonRecord[];
  /** Its Work Object. */
  readonly entity: JsonRecord | undefined;
}

/** The previews of a workspace, by message: https://docs.slack.dev/reference/methods/chat.unfurl */
export class SlackUnfurls {
  /** Whether the app has Work Objects switched on. */
  hasWorkObjects = true;
  readonly ofMessages = new Map<string, readonly SlackUnfurl[]>();

  /** The error that Slack answers; undefined: the previews are shown. */
  add(
    { channel, metadata, ts, unfurls }: Record<string, string>,
    workspace: {
      readonly scopes: readonly string[];
      textOf(channel: string, ts: string): string | undefined;
    },
  ): string | undefined {
    if (!workspace.scopes.includes("links:write")) {
      return "missing_scope";
    }
    const text = workspace.textOf(channel ?? "", ts ?? "");
    if (text === undefined) {
      return "cannot_find_message";
    }
    const blocksOf = asRecord(JSON.parse(unfurls ?? "{}"));
    const entities = entitiesIn(metadata);
    const urls = [...Object.keys(blocksOf), ...entities.map(({ app_unfurl_url: url }) => String(url))];
    if (urls.length === 0) {
      return "missing_unfurls";
    }
    if (!urls.every((url) => text.includes(url))) {
      return "cannot_unfurl_url";
    }
    if (entities.length > 0 && !(this.hasWorkObjects && entities.every(isEntity))) {
      return "invalid_metadata_schema";
    }
    const shown = Object.entries(blocksOf).map(([url, attachment]) => ({
      url,
      blocks: asRecord(attachment).blocks as readonly JsonRecord[],
      entity: entities.find(({ app_unfurl_url: own }) => own === url),
    }));
    if (shown.some(({ blocks }) => slackLimitError("chat.postMessage", "", blocks) !== undefined)) {
      return "invalid_blocks";
    }
    this.ofMessages.set(ts ?? "", shown);
    return undefined;
  }
}

function entitiesIn(metadata: string | undefined): readonly JsonRecord[] {
  const { entities = [] } = asRecord(JSON.parse(metadata ?? "{}"));
  return Array.isArray(entities) ? entities.map(asRecord) : [];
}

const ENTITY_TYPES = ["content_item", "file", "incident", "item", "task"].map(
  (name) => `slack#/entities/${name}`,
);

/** https://docs.slack.dev/messaging/work-objects-implementation */
function isEntity({
  entity_payload: payload,
  entity_type: type,
  external_ref: ref,
  url,
}: JsonRecord): boolean {
  if (!isRecord(payload) || !isRecord(ref) || !isRecord(payload.attributes)) {
    return false;
  }
  const { custom_fields: fields = [] } = payload;
  const { title } = payload.attributes;
  const hasTitle = isRecord(title) && isText(title.text);
  const areFields =
    Array.isArray(fields) &&
    fields.every((field) => isRecord(field) && isText(field.key) && isText(field.value));
  return ENTITY_TYPES.includes(String(type)) && isText(ref.id) && isText(url) && hasTitle && areFields;
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value.length > 0;
}
