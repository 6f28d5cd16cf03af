import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../../..");

test("the image and the benchmark start the service as `npm start` does", async () => {
  const read = (file: string): Promise<string> => readFile(join(ROOT, file), "utf8");
  const { scripts } = JSON.parse(await read("package.json"));
  const [shell, ...command] = scripts.start.split(" ");
  const [flag] = command.slice(1, -1);

  expect([shell, command.at(-1)]).toEqual(["exec", "src/main.js"]);
  const [, inImage = "[]"] = /^CMD (\[.*\])$/m.exec(await read("Dockerfile")) ?? [];
  expect(JSON.parse(inImage)).toEqual(command);
  expect(await read("bench/setup/service.ts")).toContain(
    `parameters: ["${flag}", join(PROJECT, "src/main.js")]`,
  );
});
