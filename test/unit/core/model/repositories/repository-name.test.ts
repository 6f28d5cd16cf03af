import { expect, test } from "vitest";
import {
  isRefName,
  parseRepositoryName,
} from "../../../../../src/core/model/repositories/repository-name.ts";

test.each(["tools", "acme/tools/x", "acme/", "acme/..", "a b/c", "https://host/acme/tools"])(
  "the text %s is no repository name",
  (text) => {
    expect(parseRepositoryName(text)).toBeUndefined();
  },
);

test.each([
  "main",
  "@acme/ui-fix",
  "fix/{JIRA-1}-x",
  "wip]x",
  "@",
  "a@b",
  "größe",
  "a\u00a0b",
  "#12",
  "release/1.2",
])("a branch can have the name %s", (name) => {
  expect(isRefName(name)).toBe(true);
});

test.each([
  "",
  "-x",
  "/a",
  "a/",
  "a//b",
  ".a",
  "a/.b",
  "a.",
  "a..b",
  "a.lock",
  "a.lock/b",
  "a@{1}",
  "a b",
  "a\tb",
  "a\u007f",
  "a~1",
  "a^",
  "a:b",
  "a?",
  "a*",
  "a[b",
  "a\\b",
  "a\ud800",
  "x".repeat(251),
])("a branch cannot have the name %j", (name) => {
  expect(isRefName(name)).toBe(false);
});
