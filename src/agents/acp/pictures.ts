import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { type AgentPicture, PICTURE_BYTES_MAX, pictureTypeOf } from "../../core/model/workspaces/picture.ts";

const TITLES_MAX = 100;

const image = z.object({ type: z.literal("image"), data: z.string() });
const part = z.object({ type: z.literal("content"), content: image });
/** Most updates are chunks of text, so their form is accepted too: a refusal costs more than a reading. */
const update = z.discriminatedUnion("sessionUpdate", [
  z.object({
    sessionUpdate: z.literal("agent_message_chunk"),
    content: z.object({ type: z.string(), data: z.unknown() }),
  }),
  z.object({
    sessionUpdate: z.enum(["tool_call", "tool_call_update"]),
    toolCallId: z.string(),
    title: z.string().nullish().catch(undefined),
    content: z.array(z.unknown()).nullish().catch(undefined),
  }),
]);
const NONE: FoundPictures = { pictures: [], tooLarge: [] };

export interface FoundPictures {
  readonly pictures: readonly AgentPicture[];
  /** The descriptions of those that are too large. */
  readonly tooLarge: readonly string[];
}

/** Finds the pictures in the updates of one session of ACP: what tools return, and what the agent shows itself. */
export class PictureFinder {
  /** The titles of the newest tool calls, because later updates of a call do not repeat its title. */
  readonly #titles = new Map<string, string>();

  find(sent: unknown): FoundPictures {
    const { data } = update.safeParse(sent);
    if (data === undefined) {
      return NONE;
    }
    if (data.sessionUpdate === "agent_message_chunk") {
      const shown = data.content.type === "image" ? image.safeParse(data.content).data : undefined;
      return shown === undefined ? NONE : found([shown.data], undefined);
    }
    const { content, title, toolCallId } = data;
    this.#note(toolCallId, title);
    const images = (content ?? []).flatMap((each) => part.safeParse(each).data?.content.data ?? []);
    return found(images, this.#titles.get(toolCallId));
  }

  #note(toolCallId: string, title: string | null | undefined): void {
    if (title === undefined || title === null || title === "") {
      return;
    }
    this.#titles.delete(toolCallId);
    this.#titles.set(toolCallId, title);
    const [oldest] = this.#titles.keys();
    if (oldest !== undefined && this.#titles.size > TITLES_MAX) {
      this.#titles.delete(oldest);
    }
  }
}

/** Bytes that are no picture are left out. The log of the run shows what the agent sent. */
function found(images: readonly string[], description: string | undefined): FoundPictures {
  const isTooLarge = (data: string) => Buffer.byteLength(data, "base64") > PICTURE_BYTES_MAX;
  const pictures = images.flatMap((data) => {
    const bytes = isTooLarge(data) ? new Uint8Array() : Buffer.from(data, "base64");
    const mimeType = pictureTypeOf(bytes);
    return mimeType === undefined ? [] : [{ mimeType, bytes, ...defined({ description }) }];
  });
  return { pictures, tooLarge: images.filter(isTooLarge).map(() => description ?? "a message") };
}
