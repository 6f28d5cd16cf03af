import { expect, test } from "vitest";
import { MovedError, toAppError } from "../../../../src/adapters/github/errors.ts";
import { Misconfigured, plainMessage } from "../../../../src/core/basics/errors.ts";

/** An error as Octokit throws it. */
function refusal(status: number, message = "no", headers: Record<string, string> = {}): Error {
  return Object.assign(new Error(message), { status, response: { status, headers, data: {} } });
}

test.each([
  [401, "Bad credentials", "authentication_required", /private key/],
  [403, "Repository was archived so is read-only.", "not_authorized", /^Unarchive/],
  [403, "This installation has been suspended", "not_authorized", /resumes the App/],
  [403, "Unable to create comment because issue is locked.", "not_authorized", /^Unlock/],
  [403, "User is blocked", "not_authorized", /unblocks the App/],
  [
    403,
    "An owner has limited the ability to comment to prior contributors",
    "not_authorized",
    /limit of interactions/,
  ],
  [403, "Resource not accessible by integration", "not_authorized", /^Add the permission/],
  [403, "You are not allowed to do that.", "not_authorized", undefined],
  [404, "Not Found", "resource_not_found", /is installed/],
  [408, "Timeout", "resource_unavailable", undefined],
  [409, "Conflict", "resource_unavailable", undefined],
  [409, "Git Repository is empty.", "invalid_request", undefined],
  [410, "This issue was deleted", "resource_not_found", /was deleted/],
  [422, "Validation Failed", "invalid_request", undefined],
  [451, "Repository access blocked", "not_authorized", /legal reasons/],
  [500, "", "resource_unavailable", undefined],
  [502, "", "resource_unavailable", undefined],
])(
  "GitHub's status %i with the text %s gets its code, its remedy and its chance",
  (status, text, code, remedy) => {
    const error = toAppError(refusal(status, text), "GET /x");

    const isTemporary = code === "resource_unavailable" || status === 401;
    expect(error).toMatchObject({ code, retryable: isTemporary });
    expect(error.message).toBe(`GitHub answered ${status} to GET /x: ${text}`);
    expect(error.options.remedy ?? "").toMatch(remedy ?? /^$/);
  },
);

test("people read what GitHub said without the call and its addresses", () => {
  const data = { message: "Not Found", documentation_url: "https://docs.github.test/x" };
  const message = "Not Found - https://docs.github.test/x";
  const error = Object.assign(new Error(message), {
    status: 404,
    response: { status: 404, headers: {}, data },
  });

  expect(plainMessage(toAppError(error, "GET /repos/{owner}"))).toBe("GitHub answered 404: Not Found");
  expect(plainMessage(toAppError(refusal(502), "GET /x"))).toBe("GitHub answered 502.");
  expect(plainMessage(toAppError(new TypeError("fetch failed"), "GET /x"))).toBe(
    "GitHub could not be reached.",
  );
});

test("the remedy for a missing permission names what GitHub would accept", () => {
  const headers = { "x-accepted-github-permissions": "issues=write,metadata=read; pull_requests=write" };
  const error = toAppError(refusal(403, "Resource not accessible by integration", headers), "GET /x");

  expect(error.options.remedy).toBe(
    "Add the permission issues: write and metadata: read, or pull_requests: write in the App's settings. " +
      "Then the owner of the account accepts it.",
  );
});

test("a refusal of the App's key waits for an operator", () => {
  expect(toAppError(refusal(401), "GET /x")).toBeInstanceOf(Misconfigured);
});

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
  expect(new MovedError(301, "GET /x").retryable).toBe(false);
  expect(new MovedError(307, "GET /x").retryable).toBe(true);
});
