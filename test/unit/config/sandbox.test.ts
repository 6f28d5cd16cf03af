import { describe, expect, test } from "vitest";
import { readConfig } from "../../../src/config/config.ts";
import { MEBIBYTE } from "../../../src/core/basics/byte-units.ts";

describe("the limits of a sandbox", () => {
  test("the limits of a sandbox are converted to the units in their names", () => {
    const { limits } = readConfig({
      ERRAND_SANDBOX_MEMORY_MIB: "512",
      ERRAND_SANDBOX_CPUS: "0.5",
      ERRAND_SANDBOX_PROCESSES: "100",
      ERRAND_SANDBOX_FILE_MIB: "8",
    }).sandbox;

    expect(limits).toEqual({
      memoryBytes: 512 * MEBIBYTE,
      cpus: 0.5,
      processes: 100,
      fileBytes: 8 * MEBIBYTE,
    });
  });

  test("the limits of a sandbox have the documented defaults", () => {
    expect(readConfig({}).sandbox.limits).toEqual({
      memoryBytes: 4096 * MEBIBYTE,
      cpus: 2,
      processes: 1024,
      fileBytes: 4096 * MEBIBYTE,
    });
  });

  test.each([
    ["ERRAND_SANDBOX_MEMORY_MIB", "10"],
    ["ERRAND_SANDBOX_CPUS", "0"],
    ["ERRAND_SANDBOX_PROCESSES", "many"],
    ["ERRAND_SANDBOX_FILE_MIB", "0.5"],
  ])("the sandbox limit %s=%s is refused", (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(name);
  });
});

describe("the rules for images", () => {
  const rulesOf = (env: Record<string, string>) => readConfig(env).sandbox.docker.images;

  test("the registries are docker.io and that of the default image, unless they are set", () => {
    expect(rulesOf({}).registries).toEqual(["docker.io"]);
    expect(rulesOf({ ERRAND_DOCKER_IMAGE: "registry.corp:5000/base:1" }).registries).toEqual([
      ...["docker.io", "registry.corp:5000"],
    ]);
    expect(rulesOf({ ERRAND_IMAGE_REGISTRIES: "GHCR.io/acme, 10.0.0.7:5000" }).registries).toEqual([
      ...["ghcr.io/acme", "10.0.0.7:5000"],
    ]);
  });

  test("the limits of images have the documented units and defaults", () => {
    expect(rulesOf({})).toMatchObject({ pullMs: 600_000, maxBytes: 20 * 2 ** 30, unusedMs: 14 * 86_400_000 });
  });

  test.each([
    ["ERRAND_DOCKER_IMAGE", "-v/:/host"],
    ["ERRAND_DOCKER_IMAGE", "host/../.."],
    ["ERRAND_IMAGE_REGISTRIES", "https://ghcr.io"],
    ["ERRAND_IMAGE_REGISTRIES", "ghcr.io,,quay.io"],
    ["ERRAND_IMAGE_REGISTRIES", "*"],
    ["ERRAND_IMAGE_PULL_MINUTES", "0"],
    ["ERRAND_IMAGE_GIB", "no"],
    ["ERRAND_IMAGE_DAYS", "0"],
  ])("%s=%s is refused", (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(name);
  });
});

describe("the docker program", () => {
  test("the docker program gets only the variables that lead to its daemon", () => {
    const { docker } = readConfig({
      ERRAND_DOCKER: "podman",
      DOCKER_HOST: "unix:///run/docker.sock",
      DOCKER_CONFIG: "/home/errand/.docker",
      XDG_RUNTIME_DIR: "/run/user/1000",
      HOME: "/home/errand",
      PATH: "/usr/bin",
      OPENAI_API_KEY: "key-of-a-model",
      NODE_OPTIONS: "--inspect",
      LD_PRELOAD: "/x.so",
    }).sandbox;

    expect(docker).toMatchObject({ program: "podman", image: expect.stringContaining("buildpack-deps") });
    expect(Object.keys(docker.environment).toSorted()).toEqual(
      ["DOCKER_CONFIG", "DOCKER_HOST", "HOME", "PATH", "XDG_RUNTIME_DIR"].toSorted(),
    );
  });
});
