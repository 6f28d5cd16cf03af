import { cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { PUBLISHED, prepareRelease } from "../../scripts/prepare-release.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const FILES = [
  "package.json",
  "CHANGELOG.md",
  ...PUBLISHED.map((folder) => `${folder}/README.md`),
  ...["cli/package.json", "clients/typescript/package.json", "clients/python/pyproject.toml"],
];

let folder: string;
let version: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "errand-release-"));
  for (const file of FILES) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await cp(join(PROJECT, file), join(folder, file));
  }
  version = await prepareRelease(folder, "acme/errand");
});
afterAll(() => rm(folder, { recursive: true }));

const read = (path: string) => readFile(join(folder, path), "utf8");

test.each(PUBLISHED)("every link of the README of %s works where the package is published", async (name) => {
  const links = Array.from(
    (await read(`${name}/README.md`)).matchAll(/\]\(([^)]+)\)/g),
    ([, link]) => link ?? "",
  );
  const own = links.filter((link) => link.startsWith("https://github.com/acme/errand/"));

  expect(links.filter((link) => !/^https?:/.test(link))).toEqual([]);
  for (const link of own) {
    const path = link.replace(`https://github.com/acme/errand/blob/v${version}/`, "").replace(/#.*/, "");
    expect([path, await readFile(join(PROJECT, path), "utf8")]).toEqual([path, expect.any(String)]);
  }
  expect(own.length > 0 || name === "cli").toBe(true);
});

test.each(["cli", "clients/typescript"])(
  "%s names its repository, as its provenance requires",
  async (name) => {
    expect(JSON.parse(await read(`${name}/package.json`))).toMatchObject({
      version,
      license: "Apache-2.0",
      author: "The Errand authors",
      homepage: "https://github.com/acme/errand#readme",
      repository: { type: "git", url: "git+https://github.com/acme/errand.git", directory: name },
      bugs: "https://github.com/acme/errand/issues",
    });
  },
);

test("the Python package names its repository, and the project table is still whole", async () => {
  const project = await read("clients/python/pyproject.toml");

  expect(project).toMatch(/\[project\.urls\]\nHomepage = "https:\/\/github\.com\/acme\/errand"\n/);
  expect(project.match(/^\[/gm)?.length).toBeGreaterThan(5);
  expect(await read("release-notes.md")).toMatch(/^- /);
});

test("the workflow publishes with the identity of the workflow and no token, and only then makes the tag", async () => {
  const { jobs, permissions } = parse(await readFile(join(PROJECT, ".github/workflows/release.yml"), "utf8"));
  const steps: readonly string[] = jobs.publish.steps.map(
    (step: Readonly<Record<string, string>>) => step.run ?? step.uses,
  );

  expect(permissions).toEqual({});
  expect(jobs.publish).toMatchObject({
    needs: "check",
    permissions: { contents: "write", "id-token": "write" },
  });
  expect(JSON.stringify(jobs)).not.toMatch(/secrets\./);
  expect(steps.find((step) => step.startsWith("npm publish"))).toContain("--provenance");
  expect(steps.at(-1)).toContain("gh release create");
  expect(steps.at(-2)).toMatch(/^pypa\/gh-action-pypi-publish@/);
});
