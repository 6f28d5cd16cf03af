import { describe, expect, test } from "vitest";
import { frameworkError } from "../../../../src/api/http/error-answers.ts";
import { problemOf, retryHeaders, StatusError, statusOf } from "../../../../src/api/http/errors.ts";
import { AppError, ERROR_CODES, type ErrorCode, endStateOf } from "../../../../src/core/basics/errors.ts";

const CONTEXT = { publicUrl: "https://errand.example", instance: "/x", traceId: "trace-1" };

/** The error codes as in docs/api.md: HTTP status, whether a retry may help, and the end state of a run. */
const CONTRACT: Readonly<Record<ErrorCode, readonly [number, boolean, "FAILED" | "ERROR"]>> = {
  invalid_request: [400, false, "FAILED"],
  authentication_required: [401, false, "ERROR"],
  external_authentication_required: [401, false, "FAILED"],
  not_authorized: [403, false, "FAILED"],
  insufficient_credits: [403, false, "FAILED"],
  budget_exceeded: [403, false, "FAILED"],
  feature_not_available: [403, false, "FAILED"],
  integration_disabled: [403, false, "FAILED"],
  content_policy_violation: [403, false, "FAILED"],
  integration_not_configured: [400, false, "FAILED"],
  resource_not_found: [404, false, "FAILED"],
  conflict: [409, false, "FAILED"],
  operation_not_supported: [422, false, "FAILED"],
  resource_unavailable: [503, true, "ERROR"],
  internal_error: [500, true, "ERROR"],
  environment_setup_failed: [500, false, "FAILED"],
};

test("there are 16 codes, which strict clients know as a closed list", () => {
  expect([...ERROR_CODES].sort()).toEqual(Object.keys(CONTRACT).sort());
  expect(ERROR_CODES).toHaveLength(16);
});

describe.each(ERROR_CODES)("the time to wait %s", (code) => {
  const [status, retryable, end] = CONTRACT[code];
  const error = new AppError(code, "words of the place that refused");
  const problem = problemOf(error, CONTEXT);

  test("an error code has its documented status, retry advice and end state of a run", () => {
    expect([statusOf(error), problem.status]).toEqual([status, status]);
    expect([problem.retryable, retryHeaders(error)["x-should-retry"]]).toEqual([
      retryable,
      String(retryable),
    ]);
    expect(endStateOf(code)).toBe(end);
  });

  test("an error response contains type, instance and remedy", () => {
    expect(problem).toMatchObject({
      type: `https://errand.example/problems/${code}`,
      code,
      title: expect.stringMatching(/^[A-Z][a-z ]+$/),
      error: expect.stringContaining(problem.title),
      instance: "/x",
      trace_id: "trace-1",
      remedy: expect.stringMatching(/^[A-Z].{20,}\.$/),
    });
  });

  test("the caller gets the message of an error only below status 500", () => {
    expect(problem.detail).toBe(status < 500 ? error.message : undefined);
    expect(problem.error.includes(error.message)).toBe(status < 500);
  });
});

test("a thrown error can have its own remedy", () => {
  const error = new AppError("invalid_request", "no", { remedy: "Do that instead." });

  expect(problemOf(error, CONTEXT).remedy).toBe("Do that instead.");
});

test("a thrown error can name the provider, the integration and URLs", () => {
  const error = new AppError("integration_not_configured", "no", {
    authUrl: "https://login.example/",
    provider: "openai",
    integrationName: "slack",
    setupUrl: "https://errand.example/setup",
  });

  expect(problemOf(error, CONTEXT)).toMatchObject({
    auth_url: "https://login.example/",
    provider: "openai",
    integration_name: "slack",
    setup_url: "https://errand.example/setup",
  });
});

test("an error of the server names nothing of the inside, whatever was thrown", () => {
  const options = {
    remedy: "Restart db-1.",
    provider: "openai",
    integrationName: "slack",
    setupUrl: "https://db-1/",
  };
  const issues = [{ path: "a", message: "b" }];

  for (const error of [
    new AppError("internal_error", "db-1 is away", { ...options, issues }),
    new StatusError(503, "resource_unavailable", "db-1 is away", options),
  ]) {
    const { trace_id, ...problem } = problemOf(error, CONTEXT);

    expect(trace_id).toBe("trace-1");
    expect(JSON.stringify(problem)).not.toMatch(/db-1|openai|slack/);
    expect(problem).not.toHaveProperty("issues");
  }
});

test("unknown members of an error are absent", () => {
  const problem = problemOf(new AppError("integration_not_configured", "no"), CONTEXT);

  for (const name of ["auth_url", "provider", "integration_name", "setup_url"]) {
    expect(problem).not.toHaveProperty(name);
  }
});

describe("retry headers", () => {
  test.each<[string, AppError, string | undefined, string | undefined]>([
    ["is a second where nobody knows better", new AppError("resource_unavailable", "x"), "1", "1000"],
    [
      "is what was asked for",
      new AppError("conflict", "x", { retryable: true, retryAfterMs: 200 }),
      "1",
      "200",
    ],
    [
      "is said for too many requests",
      new StatusError(429, "resource_unavailable", "x", { retryAfterMs: 1_001 }),
      "2",
      "1001",
    ],
    [
      "is not said where a repeat is useless",
      new AppError("invalid_request", "x", { retryAfterMs: 200 }),
      undefined,
      undefined,
    ],
    ["is left to the caller of a bug", new AppError("internal_error", "x"), undefined, undefined],
  ])("the time to wait %s", (_what, error, seconds, milliseconds) => {
    const headers = retryHeaders(error);

    expect([headers["retry-after"], headers["retry-after-ms"]]).toEqual([seconds, milliseconds]);
  });
});

describe("errors of the framework", () => {
  const refused = (code: string, statusCode: number) =>
    frameworkError(Object.assign(new Error("secret-input"), { code, statusCode }), 4_096);

  test.each([
    ["FST_ERR_CTP_BODY_TOO_LARGE", 413, 413, "4096 bytes"],
    ["FST_ERR_CTP_INVALID_MEDIA_TYPE", 415, 415, "content type"],
    ["FST_ERR_CTP_INVALID_JSON_BODY", 400, 400, "not valid JSON"],
    ["FST_ERR_MAX_PARAM_LENGTH", 414, 404, "nothing at this address"],
    ["FST_ERR_BAD_URL", 400, 400, "malformed"],
    ["FST_ERR_SOMETHING_NEW", 418, 418, "cannot be read"],
  ])("as %s has a message of the server", (code, given, status, words) => {
    const error = refused(code, given);

    expect(error && statusOf(error)).toBe(status);
    expect(error?.message).toContain(words);
    expect(error?.message).not.toContain("secret-input");
    expect(error?.options.remedy).toMatch(/\.$/);
  });

  test("a framework error with a 5xx status is an internal error", () => {
    expect(refused("FST_ERR_SEND_INSIDE_ONERR", 500)).toBeUndefined();
  });
});
