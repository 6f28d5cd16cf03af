import { expect, test } from "vitest";
import { hasMention, visibleMarkdown, withoutMention } from "../../../../src/adapters/github/mention.ts";
import { processorTime } from "../../../support/processor-time.ts";

test.each([
  ["@errand fix it", "fix it"],
  ["@ERRAND, fix it", "fix it"],
  ["@errand: fix it", "fix it"],
  ["please @errand fix it", "please fix it"],
  ["(@errand) fix it", "() fix it"],
  ["@errand[bot] fix it", "fix it"],
  ["@err\u200Band fix it", "fix it"],
  ["thanks @errand.", "thanks ."],
  ["> what he said\n\n@errand do that", "> what he said\n\ndo that"],
  ["`@errand` is our bot; @errand fix it", "`@errand` is our bot; fix it"],
  ["```\n@errand\n```\n@errand run this", "```\n@errand\n```\nrun this"],
  ["a stray ` here\n\n@errand fix the ` character", "a stray ` here\n\nfix the ` character"],
  ["a stray ` here\n@errand fix the `` characters", "a stray ` here\nfix the `` characters"],
  ["请@errand修复", "请修复"],
  ["@errandさん、直して", "さん、直して"],
  ["@errand야 고쳐줘", "야 고쳐줘"],
  ["こんにちは@errand", "こんにちは"],
  ["ขอ@errandแก้", "ขอแก้"],
  ["@errand，请修复", "，请修复"],
  ["<code>x</code> @errand fix it", "<code>x</code> fix it"],
  ["<pre>\nx\n</pre>\n@errand fix it", "<pre>\nx\n</pre>\nfix it"],
  ["a \\` and @errand fix the `", "a \\` and fix the `"],
  ["- one\n\n    @errand in a list", "- one\n\n    in a list"],
  ["- ```\n  code\n  ```\n\n    @errand in a list", "- ```\n  code\n  ```\n\n    in a list"],
  ["text\n    @errand in a lazy line", "text\n    in a lazy line"],
  ["/errand fix it", "fix it"],
  ["Thanks.\n/errand fix it", "Thanks.\nfix it"],
  ["/errand", ""],
  ["@errand explain `<!-- x -->`", "explain `<!-- x -->`"],
  [
    "On 2 Mar 2026, at 10:12, Bob wrote:\n> @errand no\n\n@errand stop",
    "On 2 Mar 2026, at 10:12, Bob wrote:\n> @errand no\n\nstop",
  ],
  ["From: 1.2\nTo: 1.3\n@errand upgrade", "From: 1.2\nTo: 1.3\nupgrade"],
  ["@errand stop\n\nFrom: x\nSent: y\n\n@errand go", "stop\n\nFrom: x\nSent: y\n\n@errand go"],
])("%j mentions the bot", (markdown, rest) => {
  expect(hasMention(markdown, "errand")).toBe(true);
  expect(withoutMention(markdown, "errand")).toBe(rest);
});

test.each([
  ["nothing"],
  ["see docs/errand"],
  ["please /errand fix it"],
  ["/errands fix it"],
  ["/errand/readme.md"],
  ["> /errand fix it"],
  ["Thanks!\n\nFrom: x\nSent: Monday\n\n@errand fix it"],
  ["Thanks!\n\nAm 02.03.2026 um 10:12 schrieb Bob:\n\n@errand fix it"],
  ["Thanks!\n\nOn 2 Mar 2026, at 10:12, Bob\n<b@x.org> wrote:\n\n/errand fix it"],
  ["Thanks!\n\n-----Original Message-----\n@errand fix it"],
  ["```\n/errand fix it\n```"],
  ["text\n\n    /errand in code"],
  ["<!-- /errand fix it -->"],
  ["mail@errand"],
  ["@errand-other fix it"],
  ["@errand_other fix it"],
  ["@errands fix it"],
  ["@errand/team fix it"],
  ["@errand.dev is a site"],
  ["https://example.org/@errand"],
  ["@@errand"],
  ["`@errand fix it`"],
  ["`` a ` @errand ``"],
  ["```\n@errand fix it\n```"],
  ["~~~\n@errand fix it"],
  ["  ```sh\n  @errand fix it\n  ```"],
  ["> @errand fix it"],
  ["  > @errand fix it"],
  ["text\n\n    @errand in code"],
  ["<!-- @errand fix it -->"],
  ["a code span `over\n@errand two lines`"],
  ["a code span ``over ` two\n@errand lines``"],
  ["<code>@errand fix it</code>"],
  ["<pre>\n\n@errand fix it\n</pre>"],
  ["<pre lang='sh'>@errand fix it"],
  ["josé@errand.dev"],
  ["名前@errand.dev"],
  ["a@errand"],
  ["я@errand"],
  ["α@errand"],
  ["npm i @errand/client"],
  ["@errand.dev"],
  ["<!-- @errand fix it"],
])("%j does not mention the bot", (markdown) => {
  expect(hasMention(markdown, "errand")).toBe(false);
});

test.each([
  ["a<!-- hidden -->b", "ab"],
  ["a<!-- hidden", "a"],
  ["a<!-->b", "ab"],
  ["`\n<!-- hidden ` -->b", "`\nb"],
  ["```html\n<!-- shown -->\n```", "```html\n<!-- shown -->\n```"],
  ["`<!-- shown -->`", "`<!-- shown -->`"],
  ["a\u200B\u2060\uFEFF\u00ADb\u{E0041}c", "abc"],
  ["خ\u200Cو", "خ\u200Cو"],
  ["a\u200Cb", "ab"],
  ["❤\uFE0F", "❤\uFE0F"],
  ["a\uFE0F\uFE0F\uFE00b", "a\uFE0Fb"],
  ["a\r\nb\u0000\u0007", "a\nb"],
])("the visible text of %j is %j", (markdown, visible) => {
  expect(visibleMarkdown(markdown)).toBe(visible);
});

test("a body of unclosed openings is scanned in linear time", () => {
  const usedMs = processorTime();

  for (const hostile of [
    "<!--",
    "`",
    "`\n",
    "` `` ``` ",
    "<code>",
    "<pre ",
    "```\n",
    "> ",
    "@errand",
    "~~~",
    "` ``",
    "\u200C",
  ]) {
    withoutMention(hostile.repeat(65_536 / hostile.length), "errand");
  }

  expect(usedMs()).toBeLessThan(5_000);
});
