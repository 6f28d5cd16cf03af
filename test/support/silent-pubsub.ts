import type { PubSub } from "../../src/core/ports/pubsub.ts";

/** Nobody hears of anything. */
export const SILENT_PUBSUB: PubSub = { publish: () => undefined, subscribe: () => () => undefined };
