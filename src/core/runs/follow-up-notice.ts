import type { Viewer } from "../model/people/principal.ts";
import type { Notice } from "../model/threads/notice.ts";
import type { FollowUpInput } from "./decide-follow-up.ts";
import type { TransactionExtras } from "./transaction-extras.ts";

/** Threads show only the beginning of a follow-up. */
const SHOWN_LENGTH = 500;

/** Shows a follow-up to people who read the run's threads elsewhere. */
export function followUpNotice(
  viewer: Viewer,
  { message }: Pick<FollowUpInput, "message">,
  { from, signInId }: Pick<TransactionExtras, "from" | "signInId">,
): Notice {
  if (viewer.invitation !== undefined) {
    return changeNotice({ displayName: "A guest" }, "asked over a share link", message);
  }
  const place = signInId === undefined ? "over the API" : "on the web";
  return changeNotice(viewer, `asked ${from?.integration ? `in ${from.integration}` : place}`, message);
}

export function changeNotice(
  { displayName = "A user" }: Pick<Viewer, "displayName">,
  did: string,
  message: string,
): Notice {
  const words = Array.from(message);
  const cut = words.length > SHOWN_LENGTH ? `${words.slice(0, SHOWN_LENGTH).join("")}…` : message;
  return { kind: "message", purpose: "reply", text: `${displayName} ${did}: ${cut}` };
}
