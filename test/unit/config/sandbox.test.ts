import { describe, expect, test } from "vitest";
import { readConfig } from "../../../src/config/config.ts";
import { MEBIBYTE } from "../../../src/core/byte-units.ts";

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
