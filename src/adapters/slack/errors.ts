import { WebAPIHTTPError, WebAPIPlatformError, WebAPIRateLimitedError } from "@slack/web-api";
import { AppError, type ErrorCode, Misconfigured } from "../../core/errors.ts";

const MS_PER_SECOND = 1_000;

// Failures on Slack's side: https://docs.slack.dev/reference/methods/chat.postMessage#errors. After any other
// `ok: false` the same call fails again.
const TRANSIENT = new Set(
  "fatal_error internal_error ratelimited rate_limited request_timeout service_unavailable team_added_to_org".split(
    " ",
  ),
);

const TOKEN_REFUSED = "account_inactive invalid_auth not_authed token_expired token_revoked".split(" ");
const SCOPE_MISSING = "missing_scope no_permission not_allowed_token_type".split(" ");
const MISCONFIGURED = new Set([...TOKEN_REFUSED, ...SCOPE_MISSING]);
const NOT_ALLOWED = "ekm_access_denied not_in_channel restricted_action".split(" ");
const NOT_FOUND = "channel_not_found message_not_found thread_not_found user_not_found".split(" ");

const CODES: ReadonlyMap<string, ErrorCode> = new Map<string, ErrorCode>([
  ...TOKEN_REFUSED.map((name) => [name, "external_authentication_required"] as const),
  ...[...SCOPE_MISSING, ...NOT_ALLOWED].map((name) => [name, "not_authorized"] as const),
  ...NOT_FOUND.map((name) => [name, "resource_not_found"] as const),
  ["is_archived", "operation_not_supported"],
]);

const REMEDIES: Readonly<Record<string, string>> = {
  not_in_channel: "Invite the app to the channel.",
  channel_not_found: "Invite the app to the channel.",
  missing_scope: "Reinstall the app with the scopes of the adapter's manifest.",
  invalid_auth: "Set SLACK_BOT_TOKEN to the token of an installed app.",
  token_revoked: "Reinstall the app and set its new SLACK_BOT_TOKEN.",
  account_inactive: "Reinstall the app and set its new SLACK_BOT_TOKEN.",
};

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
  const retryable = TRANSIENT.has(name);
  const code = retryable ? "resource_unavailable" : (CODES.get(name) ?? "invalid_request");
  const message = `Slack refused ${method}: ${name}.`;
  return MISCONFIGURED.has(name)
    ? new Misconfigured(code, message, { cause, ...help })
    : new AppError(code, message, { cause, retryable, ...help });
}

/** Slack's own code of a failed call, such as `message_not_found`. */
export function slackCodeOf(error: unknown): string | undefined {
  if (!(error instanceof AppError) || !(error.cause instanceof WebAPIPlatformError)) {
    return undefined;
  }
  return error.cause.data.error;
}

const BLOCKS_REFUSED = new Set([
  "invalid_blocks",
  "invalid_blocks_format",
  "msg_blocks_too_long",
  "msg_too_long",
]);

/** Slack refused how a message is built. The same words without blocks may pass. */
export function isBlocksRefused(error: unknown): boolean {
  return BLOCKS_REFUSED.has(slackCodeOf(error) ?? "");
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
