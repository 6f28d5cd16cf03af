import { WebAPIHTTPError, WebAPIPlatformError, WebAPIRateLimitedError } from "@slack/web-api";
import { AppError, type ErrorCode, Misconfigured } from "../../core/basics/errors.ts";
import { keysOf } from "../../core/basics/keys-of.ts";

const MS_PER_SECOND = 1_000;

/**
 * What follows from a refusal. `retry`: try later. `configuration`: an operator must repair it. `channel`: the channel
 * accepts no message of the bot. `content`: the content must change. `already`: nothing has to change. `gone`: the message
 * no longer exists. `reaction`: the message accepts no reaction.
 */
export type RefusalClass =
  | "retry"
  | "configuration"
  | "channel"
  | "content"
  | "already"
  | "gone"
  | "reaction";

/** The errors of the methods that the adapter calls: https://docs.slack.dev/reference/methods */
const CLASSES: Readonly<Record<RefusalClass, string>> = {
  retry: `ratelimited rate_limited internal_error fatal_error service_unavailable request_timeout
    messaging_processing_failed update_failed external_channel_migrating team_added_to_org`,
  configuration: `invalid_auth not_authed token_expired token_revoked account_inactive missing_scope no_permission
    not_allowed_token_type org_login_required two_factor_setup_required team_access_not_granted accesslimited
    app_access_restricted ekm_access_denied feature_disabled not_agent_app messages_tab_disabled invalid_client_id
    bad_client_secret method_deprecated unknown_method`,
  channel: `channel_not_found is_archived not_in_channel restricted_action restricted_action_read_only_channel
    restricted_action_thread_locked restricted_action_non_threadable_channel restricted_action_thread_only_channel
    thread_not_found cannot_reply_to_message channel_type_not_supported posting_to_channel_denied
    channel_is_limited_access user_not_in_channel message_limit_exceeded`,
  content: `invalid_blocks invalid_blocks_format msg_blocks_too_long msg_blocks_too_many msg_too_long no_text
    too_many_attachments invalid_chunks invalid_metadata_format invalid_metadata_schema metadata_too_large
    markdown_text_conflict view_too_large block_mismatch`,
  already: "already_reacted no_reaction already_archived",
  gone: "message_not_found cant_update_message edit_window_closed",
  reaction: `thread_locked too_many_emoji too_many_reactions not_reactable invalid_name bad_timestamp no_access
    no_item_specified`,
};

const CLASS_OF: ReadonlyMap<string, RefusalClass> = new Map(
  keysOf(CLASSES).flatMap((refusal) => CLASSES[refusal].split(/\s+/).map((name) => [name, refusal] as const)),
);

const CODE_OF_CLASS: Readonly<Record<RefusalClass, ErrorCode>> = {
  retry: "resource_unavailable",
  configuration: "not_authorized",
  channel: "operation_not_supported",
  content: "invalid_request",
  already: "invalid_request",
  gone: "resource_not_found",
  reaction: "invalid_request",
};

const TOKEN_REFUSED = "account_inactive invalid_auth not_authed token_expired token_revoked".split(" ");
const NOT_ALLOWED = "not_in_channel restricted_action".split(" ");
const NOT_FOUND = "channel_not_found thread_not_found user_not_found".split(" ");

const CODES: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ...TOKEN_REFUSED.map((name) => [name, "external_authentication_required"] as const),
  ...NOT_ALLOWED.map((name) => [name, "not_authorized"] as const),
  ...NOT_FOUND.map((name) => [name, "resource_not_found"] as const),
]);

const REMEDIES: Readonly<Record<string, string>> = {
  not_in_channel: "Invite the app to the channel.",
  channel_not_found: "Invite the app to the channel.",
  missing_scope: "Reinstall the app with the scopes of the adapter's manifest.",
  not_authed: "Set SLACK_BOT_TOKEN to the token of an installed app.",
  invalid_auth: "Set SLACK_BOT_TOKEN to the token of an installed app.",
  token_revoked: "Reinstall the app and set its new SLACK_BOT_TOKEN.",
  account_inactive: "Reinstall the app and set its new SLACK_BOT_TOKEN.",
  token_expired: "Set SLACK_BOT_TOKEN to a token without rotation.",
  is_archived: "Unarchive the channel, or ask in another one.",
  restricted_action: "Allow the app to post in the channel.",
};

/** What an operator can do about Slack's code of a failed call. */
export function remedyOf(code: string): string | undefined {
  return REMEDIES[code];
}

/** Wraps what the Web API's client threw for a call of `method`. */
export function toAppError(error: unknown, method: string): AppError {
  if (error instanceof WebAPIPlatformError) {
    return refusal(method, error);
  }
  if (error instanceof WebAPIRateLimitedError) {
    const retryAfterMs = error.retryAfter * MS_PER_SECOND;
    return failure(`Slack asks to wait before another ${method}.`, {
      cause: error,
      retryable: true,
      retryAfterMs,
    });
  }
  if (error instanceof WebAPIHTTPError) {
    const message = `Slack answered ${method} with HTTP ${error.statusCode}.`;
    return failure(message, { cause: error, retryable: error.statusCode >= 500 });
  }
  return failure(`Slack gave no answer to ${method}.`, { cause: error, retryable: true });
}

function refusal(method: string, cause: WebAPIPlatformError): AppError {
  const name = cause.data.error;
  const remedy = REMEDIES[name];
  const help = remedy === undefined ? {} : { remedy };
  const kind = CLASS_OF.get(name);
  const code = CODES.get(name) ?? (kind === undefined ? "invalid_request" : CODE_OF_CLASS[kind]);
  const message = `Slack refused ${method}: ${name}.`;
  return kind === "configuration"
    ? new Misconfigured(code, message, { cause, ...help })
    : new AppError(code, message, { cause, retryable: kind === "retry", ...help });
}

/** Slack's own code of a failed call, such as `message_not_found`. */
export function slackCodeOf(error: unknown): string | undefined {
  if (!(error instanceof AppError) || !(error.cause instanceof WebAPIPlatformError)) {
    return undefined;
  }
  return error.cause.data.error;
}

/** Undefined: no refusal, or one for another cause. After it the same call fails again. */
export function refusalClassOf(error: unknown): RefusalClass | undefined {
  return CLASS_OF.get(slackCodeOf(error) ?? "");
}

/** For `catch`: a refusal of these classes is expected and gives undefined. Any other failure is thrown again. */
export function ignoreRefusals(...classes: readonly RefusalClass[]): (error: unknown) => undefined {
  return (error) => {
    const found = refusalClassOf(error);
    if (found === undefined || !classes.includes(found)) {
      throw error;
    }
  };
}

/** For `catch`: the failure with this code is expected and gives undefined. Any other failure is thrown again. */
export function ignoreCode(code: string): (error: unknown) => undefined {
  return (error) => {
    if (slackCodeOf(error) !== code) {
      throw error;
    }
  };
}

function failure(message: string, options: ConstructorParameters<typeof AppError>[2]): AppError {
  return new AppError("resource_unavailable", message, options);
}
