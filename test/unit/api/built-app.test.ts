import { expect, test } from "vitest";
import packageJson from "../../../package.json" with { type: "json" };
import { problemOfApp } from "../../../src/api/pages/built-app.ts";

const meta = (version: string) => `<meta name="errand-version" content="${version}">`;

test.each([
  ["no pages", undefined, "The pages are not built."],
  ["the pages of an earlier version", "<title>Errand</title>", "The pages are those of an earlier version"],
  ["the pages of another version", meta("0.0.9"), "The pages are those of 0.0.9"],
])("%s are a problem with a remedy", (_what, html, message) => {
  const problem = problemOfApp(html);

  expect(problem?.message).toContain(message);
  expect(problem?.remedy).toContain("npm ci without --omit=dev");
});

test("the pages of this version are no problem", () => {
  expect(problemOfApp(meta(packageJson.version))).toBeUndefined();
});
