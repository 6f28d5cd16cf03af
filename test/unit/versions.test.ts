import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const PROJECT = resolve(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(PROJECT, path), "utf8");
const MANIFESTS = [".", "cli", "clients/typescript", "packages/embedded-postgres", "web"];
const { version } = JSON.parse(read("package.json")) as { readonly version: string };

test.each(MANIFESTS)(
  "the package in %s and what it needs of this repository have the one version",
  (folder) => {
    const manifest = JSON.parse(read(`${folder}/package.json`));
    const locked = JSON.parse(read("package-lock.json")).packages[folder === "." ? "" : folder];
    const own = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).filter(([name]) =>
      name.startsWith("@errand/"),
    );

    expect([manifest.version, locked.version]).toEqual([version, version]);
    expect(own.map(([, needed]) => needed)).toEqual(own.map(() => version));
    expect(locked.engines).toEqual(manifest.engines);
  },
);

test.each([
  ["the Python client", "clients/python/src/errand/_version.py", /^__version__ = "(.*)"$/m],
  ["the TypeScript client", "clients/typescript/src/version.ts", /^export const VERSION = "(.*)";$/m],
  ["the README of the command line", "cli/README.md", /errand-cli-(.*)\.tgz/],
  ["the README of the TypeScript client", "clients/typescript/README.md", /errand-client-(.*)\.tgz/],
  ["the first section of the changelog", "CHANGELOG.md", /^## (\S+)$/m],
])("%s names this version", (_name, path, pattern) => {
  expect(pattern.exec(read(path))?.[1]).toBe(version);
});

test("npm on an older Node says nothing of the Node that the service brings with it", () => {
  const { engines } = JSON.parse(read("package.json"));

  expect(engines).toEqual({ node: "^20.17.0 || >=22.9.0" });
  expect(read(".npmrc")).toMatch(/^loglevel=error$/m);
});
