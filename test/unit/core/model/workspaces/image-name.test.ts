import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isListed,
  parseImageName,
  parseRegistry,
} from "../../../../../src/core/model/workspaces/image-name.ts";
import { imageNames, nearlyImageNames } from "../../../../support/image-names.ts";

const HEX = "0123456789abcdef".repeat(4);

describe("names of images", () => {
  test("every name of the grammar is read, with its registry and its path", () => {
    fc.assert(
      fc.property(imageNames, ({ domain, name, path }) => {
        const parsed = parseImageName(name);

        expect(parsed?.registry).toBe(domain ?? "docker.io");
        expect(parsed?.path).toBe(domain === undefined && !path.includes("/") ? `library/${path}` : path);
      }),
      { numRuns: 500 },
    );
  });

  test("what is read from a changed name contains only the characters of names, and no path leads upwards", () => {
    fc.assert(
      fc.property(nearlyImageNames, (text) => {
        const parsed = parseImageName(text);
        fc.pre(parsed !== undefined);

        expect(text).toMatch(/^[a-zA-Z0-9[][a-zA-Z0-9._:/@[\]-]*$/);
        expect(parsed?.path.split("/")).not.toContain("..");
        expect(parsed?.registry).not.toMatch(/[/@]/);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ["node", "docker.io", "library/node"],
    ["node:24", "docker.io", "library/node"],
    ["acme/app", "docker.io", "acme/app"],
    ["docker.io/node", "docker.io", "library/node"],
    ["index.docker.io/library/node", "docker.io", "library/node"],
    ["GHCR.io/acme/app:1", "ghcr.io", "acme/app"],
    ["registry:5000/app", "registry:5000", "app"],
    ["ghcr.io:443/app", "ghcr.io:443", "app"],
    ["localhost/app", "localhost", "app"],
    ["ghcr.io", "docker.io", "library/ghcr.io"],
    ["[::1]:5000/app", "[::1]:5000", "app"],
    [`app@sha256:${HEX}`, "docker.io", "library/app"],
    [`ghcr.io/app:1@sha256:${HEX}`, "ghcr.io", "app"],
    ["2130706433/app", "docker.io", "2130706433/app"],
  ])("%j is in the registry %s, at %s", (name, registry, path) => {
    expect(parseImageName(name)).toEqual({ registry, path });
  });

  test.each([
    ...[
      "",
      " ",
      "-",
      "--help",
      "-v",
      "--platform=x/y",
      "host/../..",
      "host.example/../../v2",
      "../x",
      "./x",
      "/x",
      "x/",
    ],
    ...["a//b", "a b", "a\nb", "node\0", "Node", "ghcr.io/Acme/app", "ghcr.io/", "ghcr.io:5000/"],
    ...["http://ghcr.io/app", "user@ghcr.io/app", "ghcr.io/app?x=1", "ghcr.io/app#x", "ghcr.io/%2e%2e/x"],
    ...[
      "ghcr.io:port/app",
      "ghcr.io:/app",
      "ghcr.io:1:2/app",
      "-x.example/app",
      "x-.example/app",
      "x..example/app",
    ],
    ...["node:", "node:-1", "node:a b", `node:${"t".repeat(129)}`, "node@sha256:00", `node@md5:${HEX}`],
    ...[
      `app@sha256:${HEX}@sha256:${HEX}`,
      "a___b",
      "a.-b",
      "a_",
      ".a",
      "ünïcode",
      "[::1/app",
      "[::g]/app",
      "ex\u200dample/a",
    ],
    ...[`${"a/".repeat(127)}ab`, `${"a".repeat(256)}`, "a".repeat(100_000), `${"a-".repeat(50_000)}.x/a`],
  ])("%j is no name of an image", (text) => {
    expect(parseImageName(text)).toBeUndefined();
  });
});

describe("the list of registries", () => {
  const listed = ["docker.io", "ghcr.io/acme", "registry.example.com:5000"];

  test.each([
    ...["node", "acme/app:1", "index.docker.io/library/node", "ghcr.io/acme/app", "GHCR.IO/acme/app/x"],
    ...["registry.example.com:5000/x"],
  ])("%s is in the list", (name) => {
    const parsed = parseImageName(name);

    expect(parsed && isListed(parsed, listed)).toBe(true);
  });

  test.each([
    ...["ghcr.io/other/app", "ghcr.io/acme-evil/app", "ghcr.io/app", "ghcr.io:443/acme/app", "quay.io/x"],
    ...[
      "registry.example.com/x",
      "registry.example.com:5001/x",
      "docker.io.evil.example/x",
      "evil-docker.io/x",
    ],
    ...[
      "docker.io:80/x",
      "registry-1.docker.io/x",
      "ghcrxio.example/acme/x",
      "localhost/x",
      "localhost:5000/x",
    ],
    ...[
      "127.0.0.1/x",
      "127.1/x",
      "0x7f.0.0.1/x",
      "0177.0.0.1/x",
      "169.254.169.254/latest",
      "[::1]/x",
      "[::ffff:7f00:1]:80/x",
    ],
    ...["10.0.0.7:8080/x", "Host:22/x", "metadata.google.internal/x", "registry:5000/x", "DOCKER/x"],
  ])("%s is not in the list", (name) => {
    const parsed = parseImageName(name);

    expect(parsed).toBeDefined();
    expect(parsed && isListed(parsed, listed)).toBe(false);
  });

  test.each([
    ["ghcr.io", "ghcr.io"],
    ["GHCR.io/acme", "ghcr.io/acme"],
    ["index.docker.io", "docker.io"],
    ["127.0.0.1:5000", "127.0.0.1:5000"],
    ["[::1]:5000", "[::1]:5000"],
    ["registry:5000/a/b", "registry:5000/a/b"],
  ])("the registry %s can be listed", (text, registry) => {
    expect(parseRegistry(text)).toBe(registry);
  });

  test.each([
    "",
    "*",
    "registry",
    "https://ghcr.io",
    "ghcr.io/",
    "ghcr.io/acme/",
    "ghcr.io/Acme",
    "-x.example",
    "a b.c",
    "*.io",
  ])("%j is no registry", (text) => {
    expect(parseRegistry(text)).toBeUndefined();
  });
});
