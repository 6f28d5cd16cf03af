import { describe, expect, test } from "vitest";
import { startEmulatedGithub } from "../../support/emulated-github.ts";
import { GithubOpenapi, githubOpenapi } from "../../support/github/github-openapi.ts";

const DOCUMENT = {
  paths: {
    "/repos/{owner}/{repo}/issues/{issue_number}": { get: {} },
    "/repos/{owner}/{repo}/issues/{issue_number}/comments": {
      get: { parameters: [{ $ref: "#/components/parameters/per-page" }] },
      post: {
        parameters: [{ name: "issue_number", in: "path", required: true, schema: { type: "integer" } }],
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: "#/components/schemas/comment" } } },
        },
      },
    },
  },
  components: {
    parameters: { "per-page": { name: "per_page", in: "query", schema: { type: "integer" } } },
    schemas: { comment: { type: "object", required: ["body"], properties: { body: { type: "string" } } } },
  },
} as const;

const COMMENTS = "/repos/acme/widgets/issues/1/comments";

test.each([
  ["GET", COMMENTS, "?per_page=30", undefined, undefined],
  ["POST", COMMENTS, "", { body: "Hello." }, undefined],
  ["GET", "/repositories/7", "", undefined, undefined],
  ["GET", COMMENTS, "?per_page=many", undefined, "per_page must not be many"],
  ["GET", COMMENTS, "?page_size=30", undefined, "there is no parameter page_size"],
  ["GET", COMMENTS, "", { body: "Hello." }, "it has no body"],
  ["POST", COMMENTS, "", undefined, "a body is missing"],
  ["POST", COMMENTS, "", {}, "must have required property 'body'"],
  ["POST", COMMENTS, "", { body: 7 }, "must be string"],
  ["POST", COMMENTS, "", { body: "Hello.", text: "" }, "the body has no member text"],
  ["POST", "/repos/acme/widgets/issues/one/comments", "", { body: "" }, "issue_number must not be one"],
  ["DELETE", COMMENTS, "", undefined, "there is no such operation"],
])("a request %s %s%s with the body %j is checked", (method, path, search, body, expected) => {
  const violation = new GithubOpenapi(DOCUMENT).violation({ method, path, search, body });

  expect(violation ?? "").toContain(expected ?? "");
  expect(violation === undefined).toBe(expected === undefined);
});

// `.ci/run` gets the document. Then every emulated GitHub checks the requests of Errand when it stops.
describe.skipIf(!process.env.GITHUB_OPENAPI && !process.env.CI)(
  "with GitHub's document (GITHUB_OPENAPI)",
  () => {
    test("GITHUB_OPENAPI names the description of GitHub's API", () => {
      const comment = { method: "POST", path: COMMENTS, search: "" };

      expect(githubOpenapi()?.violation({ ...comment, body: { body: "Hello." } })).toBeUndefined();
      expect(githubOpenapi()?.violation({ ...comment, body: {} })).toContain(
        "must have required property 'body'",
      );
    });

    test("an emulated GitHub reports a request that GitHub does not have", async () => {
      const github = await startEmulatedGithub();
      const headers = { "user-agent": "errand" };
      await fetch(`${github.apiUrl}/repos/acme/widgets/colour`, { headers });

      await expect(github.stop()).rejects.toThrow(
        "GET /repos/acme/widgets/colour: there is no such operation",
      );
    });
  },
);
