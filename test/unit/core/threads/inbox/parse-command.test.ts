import { expect, test } from "vitest";
import { type Command, helpText, parseCommand } from "../../../../../src/core/threads/inbox/parse-command.ts";
import { processorTime } from "../../../../support/processor-time.ts";

const WORK: Command = { kind: "work" };
const created = (prompt: string): Command => ({ kind: "new", prompt });

test.each<[string, Command]>([
  ["stop", { kind: "stop" }],
  [" Cancel! ", { kind: "stop" }],
  ["abort.", { kind: "stop" }],
  ["stop the server", WORK],
  ["don't stop", WORK],
  ["status", { kind: "status" }],
  ["Status?", { kind: "status" }],
  ["status of the build", WORK],
  ["help", { kind: "help" }],
  ["", { kind: "help" }],
  [" \n", { kind: "help" }],
  ["?", { kind: "help" }],
  ["help me with the parser", WORK],
  ["new fix the lexer", created("fix the lexer")],
  ["New: fix\nthe lexer", created("fix\nthe lexer")],
  ["new run, fix it", created("fix it")],
  ["newer tests, please", WORK],
  ["new", { kind: "help" }],
  ["New run:", { kind: "help" }],
  ["add a new test", WORK],
])("the command in %j is read", (text, command) => {
  expect(parseCommand({ text })).toEqual(command);
});

test.each<[string, Command]>([
  ["retry", WORK],
  ["status", WORK],
  ["mute", WORK],
  ["help", WORK],
  ["stop", { kind: "stop" }],
  ["(aside) look", { kind: "aside" }],
  ["new fix it", created("fix it")],
])("a message with a file and the text %j is read", (text, command) => {
  expect(parseCommand({ text, files: [{ name: "log.txt" }] })).toEqual(command);
});

test("long texts are parsed quickly", () => {
  const usedMs = processorTime();

  for (const word of ["stop", "status", "help", "new", "new run"]) {
    parseCommand({ text: `${word}${" ".repeat(100_000)}x` });
  }

  expect(usedMs()).toBeLessThan(5_000);
});

test("the help text shows how to address the bot", () => {
  expect(helpText("@errand")).toContain("`@errand stop`");
});
