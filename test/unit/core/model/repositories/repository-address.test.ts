import { expect, test } from "vitest";
import { repositoryIn } from "../../../../../src/core/model/repositories/repository-address.ts";

const HOST = "https://github.com";
const ENTERPRISE = "https://git.corp.example:8443/scm";

test.each([
  ["acme/app", HOST],
  ["acme/app.git", HOST],
  ["https://github.com/acme/app", HOST],
  ["<https://github.com/acme/app>", HOST],
  ["<https://github.com/acme/app|github.com/acme/app>", HOST],
  ["http://github.com/acme/app/", HOST],
  ["HTTPS://GitHub.com/acme/app", HOST],
  ["https://www.github.com/acme/app", HOST],
  ["github.com/acme/app", HOST],
  ["github.com/acme/app.git", HOST],
  ["https://github.com/acme/app.git", HOST],
  ["https://github.com/acme/app/pull/3", HOST],
  ["https://github.com/acme/app/pull/3/files#diff", HOST],
  ["https://github.com/acme/app/tree/feature/x", HOST],
  ["https://github.com/acme/app?tab=readme", HOST],
  ["git@github.com:acme/app.git", HOST],
  ["ssh://git@github.com/acme/app.git", HOST],
  ["https://git.corp.example:8443/scm/acme/app", ENTERPRISE],
])("%s names acme/app at %s", (text, gitUrl) => {
  expect(repositoryIn(text, gitUrl)).toBe("acme/app");
});

test.each([
  ["https://gitlab.com/acme/app", HOST, "gitlab.com"],
  ["gitlab.com/acme/app", HOST, "gitlab.com"],
  ["git@gitlab.com:acme/app.git", HOST, "gitlab.com"],
  ["https://github.com@evil.example/acme/app", HOST, "evil.example"],
  ["https://github.com.evil.example/acme/app", HOST, "github.com.evil.example"],
  ["https://evil.example/github.com/acme/app", HOST, "evil.example"],
  ["https://evil.example\\@github.com/acme/app", HOST, "evil.example"],
  ["https://github.com:444/acme/app", HOST, "github.com:444"],
  ["https://github.com/acme/app", ENTERPRISE, "github.com"],
  ["https://git.corp.example/scm/acme/app", ENTERPRISE, "git.corp.example"],
  ["https://git.corp.example:8443/other/acme/app", ENTERPRISE, "git.corp.example:8443"],
  ["https://github.com/acme/app", "file:///srv/git", "github.com"],
])("%s is not a repository of %s", (text, gitUrl, host) => {
  expect(() => repositoryIn(text, gitUrl)).toThrow(
    expect.objectContaining({
      code: "invalid_request",
      message: expect.stringContaining(`is an address at ${host}.`),
      options: { remedy: expect.stringContaining("repo=owner/name") },
    }),
  );
});

test.each([
  ["acme", "acme"],
  ["acme/app/x", "acme/app/x"],
  ["https://github.com/acme", "acme/"],
  ["https://github.com/", "/"],
])("what %s names is refused as no owner and name", (text, name) => {
  expect(repositoryIn(text, HOST)).toBe(name);
});
