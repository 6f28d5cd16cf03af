import type { PubSub } from "../../src/core/ports/pubsub.ts";

/** A pub/sub that delivers nothing. */
export const SILENT_PUBSUB: PubSub = { publish: () => undefined, subscribe: () => () => undefined };
