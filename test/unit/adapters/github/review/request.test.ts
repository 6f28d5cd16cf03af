import { describe, expect, test } from "vitest";
import { asksForReview } from "../../../../../src/adapters/github/review/request.ts";

describe("words that ask for a review and nothing else", () => {
  test.each([
    "review",
    "Review!",
    "review this",
    "review this, look at the locking",
    "please review the pull request again",
    "review the changes for security holes",
    "re-review",
    "review: is the cache bounded?",
    "model=gpt-5 review this",
    "review\nLook at the locking and fix nothing.",
  ])("%j does", (text) => {
    expect(asksForReview(text)).toBe(true);
  });

  test.each([
    "",
    "reviewers disagree, decide",
    "review comments are wrong, fix them",
    "review and fix the tests",
    "review the README and correct it",
    "fix what the review says",
    "Reviewed, now merge main",
    "the review",
    "fix it\nreview",
  ])("%j does not", (text) => {
    expect(asksForReview(text)).toBe(false);
  });

  test("a long line takes no long time", () => {
    expect(asksForReview(`review ${"the pr ".repeat(20_000)}x`)).toBe(false);
  });
});
