import { WebAPIPlatformError } from "@slack/web-api";
import { describe, expect, test } from "vitest";
import { type RefusalClass, refusalClassOf, toAppError } from "../../../../src/adapters/slack/errors.ts";
import { Misconfigured } from "../../../../src/core/basics/errors.ts";

/** The documented errors of chat.*, reactions.*, conversations.*, files.* and auth.test, by what follows from them. */
const REFUSALS: Readonly<Record<RefusalClass, readonly string[]>> = {
  retry: [
    ...[
      "ratelimited",
      "rate_limited",
      "internal_error",
      "fatal_error",
      "service_unavailable",
      "request_timeout",
    ],
    ...["messaging_processing_failed", "update_failed", "external_channel_migrating", "team_added_to_org"],
  ],
  configuration: [
    ...["invalid_auth", "not_authed", "token_expired", "token_revoked", "account_inactive", "missing_scope"],
    ...["no_permission", "not_allowed_token_type", "org_login_required", "two_factor_setup_required"],
    ...["team_access_not_granted", "accesslimited", "app_access_restricted", "ekm_access_denied"],
    ...["feature_disabled", "not_agent_app", "messages_tab_disabled", "method_deprecated", "unknown_method"],
  ],
  channel: [
    ...["channel_not_found", "is_archived", "not_in_channel", "restricted_action", "thread_not_found"],
    ...["restricted_action_read_only_channel", "restricted_action_thread_locked", "cannot_reply_to_message"],
    ...["restricted_action_non_threadable_channel", "restricted_action_thread_only_channel"],
    ...["channel_type_not_supported", "posting_to_channel_denied", "channel_is_limited_access"],
    ...["user_not_in_channel", "message_limit_exceeded"],
  ],
  content: [
    ...[
      "invalid_blocks",
      "invalid_blocks_format",
      "msg_blocks_too_long",
      "msg_blocks_too_many",
      "msg_too_long",
    ],
    ...["no_text", "too_many_attachments", "invalid_metadata_format", "metadata_too_large"],
  ],
  already: ["already_reacted", "no_reaction"],
  gone: ["message_not_found", "cant_update_message", "edit_window_closed"],
  reaction: [
    "thread_locked",
    "too_many_emoji",
    "too_many_reactions",
    "not_reactable",
    "invalid_name",
    "bad_timestamp",
  ],
};

const CASES = (Object.keys(REFUSALS) as RefusalClass[]).flatMap((kind) =>
  REFUSALS[kind].map((name) => [name, kind] as const),
);

describe("a refusal by Slack", () => {
  test.each(CASES)("the refusal %s is of the class %s", (name, kind) => {
    const error = refused(name);

    expect(refusalClassOf(error)).toBe(kind);
    expect(error.message).toBe(`Slack refused chat.postMessage: ${name}.`);
    expect(error.retryable).toBe(kind === "retry" || kind === "configuration");
    expect(error instanceof Misconfigured).toBe(kind === "configuration");
  });

  test("a refusal that is not known is of no class and is not tried again", () => {
    const error = refused("brand_new_error");

    expect(refusalClassOf(error)).toBeUndefined();
    expect(error.retryable).toBe(false);
  });
});

function refused(error: string) {
  return toAppError(new WebAPIPlatformError({ ok: false, error }), "chat.postMessage");
}
