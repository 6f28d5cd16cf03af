import { describe, expect, test } from "vitest";
import { sourceOf } from "../../../../src/api/http/request-source.ts";

describe("the source of a request", () => {
  test.each([
    [{}, "WEB_APP"],
    [{ "x-run-source": "CLI" }, "WEB_APP"],
    [{ cookie: "errand_session=x" }, "WEB_APP"],
    [{ authorization: "Bearer x" }, "API"],
    [{ authorization: "Bearer x", cookie: "errand_session=x" }, "API"],
    [{ authorization: "Bearer x", "x-run-source": "cli" }, "CLI"],
    [{ authorization: "Bearer x", "x-run-source": "SLACK" }, "API"],
    [{ authorization: "Bearer x", "x-run-source": "WEB_APP" }, "API"],
  ])("a request with the headers %j comes from %s", (headers, source) => {
    expect(sourceOf({ headers })).toBe(source);
  });
});
