import type { Translation } from "../../core/threads/thread-adapter.ts";
import type { Bot } from "./bot-identity.ts";

/** How a listener says what an event means. */
export type TranslationContext = { readonly settle: (translation: Translation) => void };

/** Who was addressed, and through which event. */
export interface Hearing {
  readonly bot: Bot;
  readonly eventId: string | undefined;
}
