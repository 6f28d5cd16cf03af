import type { ErrorCode } from "../../core/errors.ts";

interface ErrorRow {
  readonly status: number;
  readonly title: string;
  /** What to do next, unless the thrown error has its own remedy. */
  readonly remedy: string;
}

/** HTTP status, title and remedy of each error code: the only such table. The core decides whether a retry may help. */
export const ERROR_TABLE: Readonly<Record<ErrorCode, ErrorRow>> = {
  invalid_request: {
    status: 400,
    title: "Invalid request",
    remedy: "Change what `issues` or `detail` names and send the request again.",
  },
  integration_not_configured: {
    status: 400,
    title: "Integration not configured",
    remedy: "Ask the operator of this server to set up the integration.",
  },
  authentication_required: {
    status: 401,
    title: "Authentication required",
    remedy: "Send the header Authorization: Bearer <key>, with a key that is neither expired nor revoked.",
  },
  external_authentication_required: {
    status: 401,
    title: "External authentication required",
    remedy: "Renew the credentials of the outside service that refused them.",
  },
  not_authorized: {
    status: 403,
    title: "Not authorized",
    remedy: "Use a key that may do this, or ask an administrator of your team for one.",
  },
  insufficient_credits: {
    status: 403,
    title: "Insufficient credits",
    remedy: "Top up the account at the model's provider, or choose another model.",
  },
  budget_exceeded: {
    status: 403,
    title: "Budget exceeded",
    remedy: "Raise the budget, or ask for less at once.",
  },
  feature_not_available: {
    status: 403,
    title: "Feature not available",
    remedy: "Leave the feature out, or ask an administrator to allow it.",
  },
  integration_disabled: {
    status: 403,
    title: "Integration disabled",
    remedy: "Ask an administrator to switch the integration on.",
  },
  content_policy_violation: {
    status: 403,
    title: "Content policy violation",
    remedy: "Change what is asked for: it is against a policy.",
  },
  resource_not_found: {
    status: 404,
    title: "Not found",
    remedy: "Check the address and the id, and that your key's principal may see it.",
  },
  conflict: {
    status: 409,
    title: "Conflict",
    remedy: "Look at how things stand now, and send the request again if you still want it.",
  },
  operation_not_supported: {
    status: 422,
    title: "Operation not supported",
    remedy: "Ask for it in a way that this server supports.",
  },
  resource_unavailable: {
    status: 503,
    title: "Unavailable",
    remedy: "Send the same request again after the time that Retry-After names.",
  },
  internal_error: {
    status: 500,
    title: "Internal error",
    remedy:
      "Send the request again under the same Idempotency-Key; if it stays so, give the operator the trace_id.",
  },
  environment_setup_failed: {
    status: 500,
    title: "Environment setup failed",
    remedy: "Correct the environment's repositories, image or setup commands, and start again.",
  },
  agent_process_failed: {
    status: 500,
    title: "Agent process failed",
    remedy:
      "Send a follow-up, which starts the agent anew; if it fails again, give the operator the trace_id.",
  },
  infrastructure_timeout: {
    status: 500,
    title: "Infrastructure timeout",
    remedy: "Send a follow-up, which goes on where it ended, or ask for less at once.",
  },
};
