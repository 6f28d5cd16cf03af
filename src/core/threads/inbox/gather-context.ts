import { cleaned } from "../../basics/clean-text.ts";
import { withTimeout } from "../../basics/clock.ts";
import { defined } from "../../basics/defined.ts";
import { AppError, plainMessage } from "../../basics/errors.ts";
import type { GatheredContext } from "../../ports/thread-adapter.ts";
import type { InboxDeps, MessageContext } from "./message-context.ts";
import { parseCommand } from "./parse-command.ts";

/** The author waits meanwhile. */
const GATHER_TIMEOUT_MS = 30_000;

/** Lets the adapter read the text around a message. A failure is named to the agent and does not stop the work. */
export async function gatherContext(
  { adapter, inboxId, message, effect, thread }: MessageContext,
  { clock, log }: Pick<InboxDeps, "clock" | "log">,
): Promise<GatheredContext> {
  const command = parseCommand(message);
  const isWork = message.buttonAction === undefined && (command.kind === "new" || command.kind === "work");
  if (!isWork) {
    return {};
  }
  const isFollowUp = command.kind === "work" && thread.runId !== undefined;
  const isEdit = effect === undefined ? undefined : true;
  const own = isEdit ? [] : (message.unread ?? []);
  try {
    const reading = adapter.gather?.(message, { isFollowUp, ...defined({ isEdit }) }) ?? Promise.resolve({});
    const read: GatheredContext = await withTimeout(reading, GATHER_TIMEOUT_MS, {
      clock,
      onTimeout: failSlowly,
    });
    const { files = [], names, ...texts } = read;
    const unread = [...own, ...(texts.unread ?? [])];
    return { ...cleaned({ ...texts, unread }, (text) => text), ...defined({ names }), files };
  } catch (error) {
    log.warn("inbox.context_not_gathered", { inboxId, adapter: adapter.name, error });
    const why = error instanceof AppError ? ` ${plainMessage(error)}` : "";
    return { unread: own, gaps: [`I could not read the text around this message.${why}`] };
  }
}

/** The text around a message as the agent receives it, with what is missing in it. */
export function contextText(own: string | undefined, gathered: GatheredContext) {
  const { context, gaps = [], unread = [] } = gathered;
  const lines = [...unread, ...gaps].map((gap) => `- ${gap}`);
  const notRead = lines.length === 0 ? undefined : ["Not read:", ...lines].join("\n");
  const parts = [own, context, notRead].filter((part) => part !== undefined && part !== "");
  return parts.length === 0 ? undefined : withNames(parts.join("\n\n"), gathered);
}

/** The text with the names of people and channels in place of their ids. Options were read from it before. */
export function withNames(text: string, { names = new Map() }: GatheredContext): string {
  return names.size === 0 ? text : text.replace(/[@#][\w^]+/g, (mention) => names.get(mention) ?? mention);
}

function failSlowly(): never {
  throw new AppError("resource_unavailable", `It took longer than ${GATHER_TIMEOUT_MS / 1_000} seconds.`, {
    retryable: true,
  });
}
