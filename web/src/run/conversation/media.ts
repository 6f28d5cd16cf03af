import { PICTURES } from "../../parts/attachments.ts";

/** Binary content of a tool or message, such as a picture. */
export interface Media {
  readonly type: string;
  /** Base64. Undefined: the log has only its beginning. */
  readonly data: string | undefined;
  readonly sizeBytes: number;
  readonly name: string | undefined;
}

const DATA_URI = /^data:([\w.+-]+\/[\w.+-]+);base64,/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const TEXT = /^(?:text\/|application\/json)/;
/** What the server puts at the end of a text that it cut. */
const CUT = /… \[(\d+) characters cut\]$/;
/** Members that say nothing without the content beside them. */
const AROUND: ReadonlySet<string> = new Set(["annotations", "detail", "type"]);
const DEPTH_MAX = 20;

/** The address of the picture, or undefined if it is none. */
export function pictureUrl({ data, type }: Media): string | undefined {
  return data !== undefined && PICTURES.has(type) ? `data:${type};base64,${data}` : undefined;
}

/**
 * Returns the value without its binary content, and adds that to `media`. Agents put it as blocks of ACP, of MCP or of
 * a model's API, or as a data URI, anywhere into contents and results.
 */
export function takeMedia(value: unknown, media: Media[], depth = 0): unknown {
  if (typeof value === "string") {
    const [head, type = ""] = DATA_URI.exec(value) ?? [];
    return head !== undefined && add(media, type, value.slice(head.length)) ? undefined : value;
  }
  if (typeof value !== "object" || value === null || depth > DEPTH_MAX) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map((each) => takeMedia(each, media, depth + 1)).filter((each) => each !== undefined);
  }
  const members = value as Readonly<Record<string, unknown>>;
  const {
    blob,
    data = blob,
    mimeType,
    mime_type = mimeType,
    media_type = mime_type,
    name,
    uri = name,
  } = members;
  if (typeof media_type === "string" && typeof data === "string" && add(media, media_type, data, uri)) {
    return undefined;
  }
  const all = Object.entries(members).map(([key, each]) => [key, takeMedia(each, media, depth + 1)] as const);
  const rest = all.filter(([, each]) => each !== undefined);
  const isEmpty = rest.length < all.length && rest.every(([key]) => AROUND.has(key));
  return isEmpty ? undefined : Object.fromEntries(rest);
}

/** Whether the text is binary content, which is then added. */
function add(media: Media[], written: string, text: string, name?: unknown): boolean {
  const [tail = "", cut = "0"] = CUT.exec(text) ?? [];
  const data = text.slice(0, text.length - tail.length).replaceAll(/\s/g, "");
  const type = written.toLowerCase();
  if (TEXT.test(type) || !BASE64.test(data)) {
    return false;
  }
  // Some agents send the same picture as content and as result.
  if (media.every((each) => each.data !== data)) {
    media.push({
      type,
      data: tail === "" ? data : undefined,
      sizeBytes: Math.floor(((data.length + Number(cut)) * 3) / 4),
      name: typeof name === "string" ? name : undefined,
    });
  }
  return true;
}
