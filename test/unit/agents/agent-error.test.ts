import { RequestError } from "@agentclientprotocol/sdk/unstable";
import { describe, expect, test } from "vitest";
import { toAppError } from "../../../src/agents/acp/agent-error.ts";

describe("toAppError", () => {
  test.each([
    [
      "the protocol's own code for logging in",
      new RequestError(-32000, "Authentication required"),
      "external_authentication_required",
      false,
    ],
    [
      "a refused key as the code",
      new RequestError(401, "Unauthorized"),
      "external_authentication_required",
      false,
    ],
    [
      "a refused key in the data",
      new RequestError(-32603, "Internal error", { statusCode: 403 }),
      "external_authentication_required",
      false,
    ],
    ["too many requests as the code", new RequestError(429, "slow down"), "resource_unavailable", true],
    [
      "too many requests by name",
      new RequestError(-32603, "Internal error", { errorKind: "rate_limit" }),
      "resource_unavailable",
      true,
    ],
    [
      "a broken upstream in the message",
      new RequestError(-32603, "upstream answered with status 503"),
      "resource_unavailable",
      true,
    ],
    [
      "no credit left",
      new RequestError(-32603, "Internal error", { code: "insufficient_quota", status: 429 }),
      "insufficient_credits",
      false,
    ],
    ["payment required", new RequestError(402, "pay first"), "insufficient_credits", false],
    ["anything else", new RequestError(-32603, "it broke after 500 lines"), "internal_error", true],
  ])("the error of an agent is translated: %s", (_what, error, code, retryable) => {
    expect(toAppError(error)).toMatchObject({ code, retryable, cause: error });
  });

  test("the translated error keeps the agent's message and its detail", () => {
    const error = toAppError(new RequestError(-32603, "Internal error", { details: "no such model" }));

    expect(error.message).toBe("Internal error: no such model");
  });

  test("the message of a translated error is cut when it is a whole page", () => {
    expect(toAppError(new RequestError(-32603, "x".repeat(100_000))).message).toHaveLength(2_000);
  });
});
