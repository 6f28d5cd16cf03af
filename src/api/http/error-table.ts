import type { ErrorCode } from "../../core/basics/errors.ts";

interface ErrorRow {
  readonly status: number;
  readonly title: string;
  /** How to fix the problem, unless the thrown error has its own remedy. */
  readonly remedy: string;
}

/** The HTTP status, title and remedy of each error code. The core decides whether a retry may help. */
export const ERROR_TABLE: Readonly<Record<ErrorCode, ErrorRow>> = {
  invalid_request: {
    status: 400,
    title: "Invalid request",
    remedy: "Correct what `issues` or `detail` names and send the request again.",
  },
  integration_not_configured: {
    status: 400,
    title: "Integration not configured",
    remedy: "Ask the operator of this server to configure the integration.",
  },
  authentication_required: {
    status: 401,
    title: "Authentication required",
    remedy: "Send the header Authorization: Bearer <key>, with a key that is neither expired nor revoked.",
  },
  external_authentication_required: {
    status: 401,
    title: "External authentication required",
    remedy: "Renew the credentials of the external service that refused them.",
  },
  not_authorized: {
    status: 403,
    title: "Not authorized",
    remedy: "Use a key with the required rights, or ask an administrator of your team for one.",
  },
  insufficient_credits: {
    status: 403,
    title: "Insufficient credits",
    remedy: "Top up the account at the model's provider, or choose another model.",
  },
  budget_exceeded: {
    status: 403,
    title: "Budget exceeded",
    remedy: "Raise the budget, or request less work at once.",
  },
  feature_not_available: {
    status: 403,
    title: "Feature not available",
    remedy: "Omit the feature, or ask an administrator to allow it.",
  },
  integration_disabled: {
    status: 403,
    title: "Integration disabled",
    remedy: "Ask an administrator to enable the integration.",
  },
  content_policy_violation: {
    status: 403,
    title: "Content policy violation",
    remedy: "Change the request, because it violates a policy.",
  },
  resource_not_found: {
    status: 404,
    title: "Not found",
    remedy: "Check the address and the id, and that the principal of your key can see the resource.",
  },
  conflict: {
    status: 409,
    title: "Conflict",
    remedy: "Read the current state, and send the request again if it is still needed.",
  },
  operation_not_supported: {
    status: 422,
    title: "Operation not supported",
    remedy: "Change the request to something that this server supports.",
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
      "Send the request again with the same Idempotency-Key. If the error persists, give the trace_id to the " +
      "operator.",
  },
  environment_setup_failed: {
    status: 500,
    title: "Environment setup failed",
    remedy: "Correct the environment's repositories, image or setup commands, and start again.",
  },
};
