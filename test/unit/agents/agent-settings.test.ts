import { describe, expect, test } from "vitest";
import { parseCommand } from "../../../src/agents/agent-settings.ts";

describe("the command of a custom agent", () => {
  test.each<[string, readonly string[]]>([
    ["goose acp", ["goose", "acp"]],
    ["  /opt/agent   --acp\t-v ", ["/opt/agent", "--acp", "-v"]],
    [`/opt/a --name 'two words' --x="a \\"b\\""`, ["/opt/a", "--name", "two words", '--x=a "b"']],
    ["/opt/my\\ agent ''", ["/opt/my agent", ""]],
    ['["/opt/agent", "two words"]', ["/opt/agent", "two words"]],
  ])("the command of a custom agent is read: %s", (text, words) => {
    expect(parseCommand(text)).toEqual(words);
  });

  test.each(["", "  ", "[]", "[1]", "['a']", "it's", 'say "x', "ends\\"])(
    "the command of a custom agent is refused: %s",
    (text) => {
      expect(parseCommand(text)).toBeUndefined();
    },
  );
});
