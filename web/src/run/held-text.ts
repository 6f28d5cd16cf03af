import type { Thread } from "@errand/client";
import { clockTime } from "../parts/format.ts";

/** Why a thread does not show yet what the page of its run shows. */
export function heldText(platform: string, { kind, until }: NonNullable<Thread["held"]>): string {
  const what = kind === "answer" || kind === "question" ? kind : "next message";
  return `${platform} takes no more messages of this app until ${clockTime(until)}; the ${what} follows then.`;
}
