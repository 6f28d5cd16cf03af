import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { unpackAgent } from "../../../src/agents/acp/unpack-agent.ts";
import type { Unpacking } from "../../../src/agents/agent-definition.ts";
import { createLocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { makeTemporaryFolder } from "../../support/data-dir.ts";

let directory: string;
beforeEach(async () => {
  directory = await makeTemporaryFolder();
});

const unpack = (script: string) => {
  const unpacking: Unpacking = { argv: ["/bin/sh", "-c", script], envFor: (target) => ({ TARGET: target }) };
  return unpackAgent(createLocalSandbox(directory), unpacking, directory);
};

test("a program unpacks itself once, also when two runs start together", async () => {
  const both = await Promise.all([1, 2].map((run) => unpack(`echo ${run} > "$TARGET/made"`)));
  const made = () => readFile(join(directory, "unpacked/made"), "utf8");
  const before = await made();

  expect([...both, await unpack(`echo later > "$TARGET/made"`)]).toEqual([true, true, true]);
  expect(await made()).toBe(before);
  expect(await readdir(directory)).toEqual(["unpacked"]);
});

test("a program that fails to unpack itself leaves nothing, and is tried again", async () => {
  expect(await unpack(`touch "$TARGET/half"; exit 1`)).toBe(false);
  expect(await readdir(directory)).toEqual([]);

  expect(await unpack(`touch "$TARGET/whole"`)).toBe(true);
});
