import { defined } from "../../core/basics/defined.ts";
import type { InboundMessage } from "../../core/ports/thread-adapter.ts";
import { contentHash } from "../content-hash.ts";
import type { Location } from "./addresses.ts";

/** Members of another organization read a channel that is shared with it. A thread of unknown origin counts as one. */
export function isPublic(provenance: Readonly<Record<string, unknown>> | undefined): boolean {
  return provenance === undefined || provenance.is_ext_shared_channel === true;
}

interface Act {
  readonly userId: string;
  /** As Slack signed it. */
  readonly content: string;
  readonly action: "posted" | "edited" | "pressed" | "commanded" | "submitted";
  readonly version: string;
  readonly eventId?: string | undefined;
  readonly isShared?: boolean | undefined;
}

/** Evidence of a request's origin, with the members that the API promises for all integrations. */
export function provenanceOf(
  { teamId, channel, ts, threadTs }: Location,
  { userId, content, action, version, eventId, isShared }: Act,
): InboundMessage["provenance"] {
  return {
    integration: "slack",
    installation: teamId,
    channel,
    actor: { id: userId },
    // A time stamp is unique only within its channel.
    message_ids: [`${channel}/${ts}`],
    content_hash: contentHash({ body: content }),
    action,
    version,
    ...defined({
      thread_ts: threadTs,
      event_id: eventId,
      is_ext_shared_channel: isShared === true ? true : undefined,
    }),
  };
}
