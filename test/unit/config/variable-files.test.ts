import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../../../src/config/config.ts";
import { variableDocs } from "../../../src/config/variable-docs.ts";
import { withFiles } from "../../../src/config/variable-files.ts";

const SECRETS = Object.entries(variableDocs).flatMap(([name, { secret }]) => (secret === true ? [name] : []));
const KEY = "a-secret-key-that-has-32-characters-or-more";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "errand-files-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function fileOf(content: string): Promise<string> {
  const file = join(folder, `${Math.random()}`);
  await writeFile(file, content);
  return file;
}

test.each(SECRETS)("%s can be read from a file, without the line break at its end", async (name) => {
  const file = await fileOf("first line\nlast line\r\n");

  const { env, problems } = withFiles({ [`${name}_FILE`]: file, OTHER: "x" }, SECRETS);

  expect([env, problems]).toEqual([{ [name]: "first line\nlast line", OTHER: "x" }, []]);
});

test("a value from a file is used and redacted like one of a variable", async () => {
  const config = readConfig({
    ERRAND_SECRET_KEY_FILE: await fileOf(`${KEY}\n`),
    DATABASE_URL_FILE: await fileOf("postgresql://errand:pass-of-database@localhost/errand\n"),
    ERRAND_ADMIN_KEY_FILE: await fileOf("the-key-of-an-administrator"),
  });

  expect(config).toMatchObject({
    secretKey: KEY,
    databaseUrl: "postgresql://errand:pass-of-database@localhost/errand",
    apiKey: "the-key-of-an-administrator",
  });
  expect(config.secrets).toEqual(
    expect.arrayContaining([KEY, "pass-of-database", "the-key-of-an-administrator"]),
  );
});

test.each<[string, () => Promise<Record<string, string>>, string]>([
  ["a file that does not exist", async () => ({ ERRAND_SECRET_KEY_FILE: "/nowhere/key" }), "ENOENT"],
  ["a folder", async () => ({ ERRAND_SECRET_KEY_FILE: folder }), "EISDIR"],
  ["an empty file", async () => ({ ERRAND_SECRET_KEY_FILE: await fileOf("\n\n") }), "it is empty"],
  ["a file without an end", async () => ({ ERRAND_SECRET_KEY_FILE: "/dev/zero" }), "it has more than 64 KiB"],
  [
    "a variable beside its file",
    async () => ({ ERRAND_SECRET_KEY: KEY, ERRAND_SECRET_KEY_FILE: await fileOf(KEY) }),
    "are both set: remove one of them",
  ],
  [
    "a file of a variable that is no secret",
    async () => ({ ERRAND_PORT_FILE: await fileOf("8787") }),
    "ERRAND_PORT_FILE is unknown",
  ],
])("%s is refused at the start, by name and without its content", async (_what, environment, problem) => {
  const given = await environment();

  const reading = () => readConfig(given);

  expect(reading).toThrow(problem);
  expect(reading).toThrow(Object.keys(given).at(-1));
  expect(reading).not.toThrow(KEY);
});

test("an empty variable beside its file counts as not set", async () => {
  const { secretKey } = readConfig({ ERRAND_SECRET_KEY: "", ERRAND_SECRET_KEY_FILE: await fileOf(KEY) });

  expect(secretKey).toBe(KEY);
});
