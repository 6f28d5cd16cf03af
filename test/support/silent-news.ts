import type { News } from "../../src/core/ports/news.ts";

/** Nobody hears of anything. */
export const SILENT_NEWS: News = { tell: () => undefined, on: () => () => undefined };
