import { expect, test } from "vitest";
import { movedError, toAppError } from "../../../../src/adapters/github/errors.ts";

/** An error as Octokit throws it. */
function refusal(status: number, message = "no", headers: Record<string, string> = {}): Error {
  return Object.assign(new Error(message), { status, response: { status, headers, data: {} } });
}

test.each([
  [401, "Bad credentials", {}, "authentication_required", true],
  [403, "Repository was archived so is read-only.", {}, "not_authorized", false],
  [403, "This installation has been suspended", {}, "not_authorized", false],
  [403, "Unable to create comment because issue is locked.", {}, "not_authorized", false],
  [404, "Not Found", {}, "resource_not_found", false],
  [410, "This issue was deleted", {}, "resource_not_found", false],
  [422, "Validation Failed", {}, "invalid_request", false],
  [500, "", {}, "resource_unavailable", true],
  [502, "", {}, "resource_unavailable", true],
])(
  "GitHub's status %i with the text %s becomes the right error code",
  (status, message, headers, code, retryable) => {
    expect(toAppError(refusal(status, message, headers), "GET /x")).toMatchObject({ code, retryable });
  },
);

test.each([
  [429, "Too many requests", { "retry-after": "30" }, 30_000],
  [403, "You have exceeded a secondary rate limit.", { "retry-after": "7" }, 7_000],
  [403, "You have exceeded a secondary rate limit.", {}, 60_000],
  [503, "Service unavailable", { "retry-after": "5" }, 5_000],
])("the error for %i %s contains the time to wait", (status, message, headers, retryAfterMs) => {
  const error = toAppError(refusal(status, message, headers), "GET /x");

  expect(error.retryable).toBe(true);
  expect(error.options.retryAfterMs).toBe(retryAfterMs);
});

test("an exhausted hourly limit is waited for", () => {
  const reset = String(Math.floor(Date.now() / 1000) + 120);

  const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset };
  const error = toAppError(refusal(403, "API rate limit exceeded", headers), "GET /x");

  expect(error.retryable).toBe(true);
  expect(error.options.retryAfterMs).toBeGreaterThan(100_000);
  expect(error.options.retryAfterMs).toBeLessThanOrEqual(120_000);
});

test("a call without an answer is retried", () => {
  expect(toAppError(new TypeError("fetch failed"), "GET /x")).toMatchObject({
    code: "resource_unavailable",
    retryable: true,
  });
});

test("a transferred issue is permanent, a temporary redirect is not", () => {
  expect(movedError(301, "GET /x").retryable).toBe(false);
  expect(movedError(307, "GET /x").retryable).toBe(true);
});
