import { access, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { readConfig } from "../../src/config/config.ts";

const PROJECT = resolve(import.meta.dirname, "../..");

const serviceSchema = z.object({
  image: z.string(),
  build: z.string().optional(),
  environment: z.record(z.string(), z.string()),
  volumes: z.array(z.string()),
  ports: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  stop_grace_period: z.string().optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
});
const composeSchema = z.object({
  services: z.record(z.string(), serviceSchema),
  volumes: z.record(z.string(), z.null()),
});

const composeFile = composeSchema.parse(parse(await read("docker-compose.yml"), { merge: true }));
const dockerfile = await read("Dockerfile");
const services = Object.entries(composeFile.services);
const own = services.filter(([, { build }]) => build !== undefined);

function read(file: string): Promise<string> {
  return readFile(join(PROJECT, file), "utf8");
}

/** The value that Compose passes if the operator set the variables of `set` only. */
function substituted(value: string, set: Readonly<Record<string, string>>): string {
  const pattern = /\$\{(\w+)(?::([-?])((?:[^{}]|\$\{[^{}]*\})*))?\}/g;
  return value.replace(pattern, (_all, name: string, kind = "-", word = "") => {
    const known = set[name] || (kind === "-" ? substituted(word, set) : undefined);
    expect(known, `${name} is required`).toBeDefined();
    return known ?? "";
  });
}

test("each variable is passed under its own name", () => {
  const renamed = own.flatMap(([, { environment }]) =>
    Object.entries(environment).filter(
      ([name, value]) => /^\$\{/.test(value) && !value.startsWith(`\${${name}:`),
    ),
  );

  expect(renamed).toEqual([]);
});

test("with the three required variables alone, both processes of the compose file have a valid configuration", () => {
  const required = {
    POSTGRES_PASSWORD: "a".repeat(32),
    ERRAND_SECRET_KEY: "b".repeat(64),
    ERRAND_ADMIN_KEY: "c".repeat(48),
  };
  const inImage = Object.fromEntries(
    Array.from(dockerfile.matchAll(/(ERRAND_\w+)=(\S+)/g), ([, name = "", value = ""]) => [name, value]),
  );

  const configs = own.map(([, { environment }]) =>
    readConfig({
      ...inImage,
      ...Object.fromEntries(
        Object.entries(environment).map(([name, value]) => [name, substituted(value, required)]),
      ),
    }),
  );

  expect(configs.map(({ role }) => role)).toEqual(["api", "worker"]);
});

test("each volume is declared, and Errand's are where the image keeps its data", () => {
  const mounted = services.flatMap(([, { volumes }]) => volumes.map((volume) => volume.split(":")));

  expect(mounted.map(([name]) => name).toSorted()).toEqual(Object.keys(composeFile.volumes).toSorted());
  expect(own.map(([name, { volumes }]) => [name, volumes])).toEqual([
    ["api", ["api:/data"]],
    ["worker", ["worker:/data"]],
  ]);
  expect(dockerfile).toContain("VOLUME /data");
  expect(dockerfile).toContain("ERRAND_DATA_DIR=/data");
});

test("a service waits only for services that have a health check, and all have one", () => {
  const waits = services.flatMap(([, { depends_on: others }]) => Object.entries(others));

  expect(waits.map(([, { condition }]) => condition)).toEqual(waits.map(() => "service_healthy"));
  expect(waits.filter(([name]) => composeFile.services[name]?.healthcheck === undefined)).toEqual([]);
  expect(dockerfile).toMatch(/^HEALTHCHECK .*\\\n +CMD .*\/healthz/m);
});

test("the API is published on this machine alone, on the port of the image", () => {
  const published = services.flatMap(([name, { ports }]) => ports.map((port) => [name, port]));
  const [, port] = /ERRAND_PORT=(\d+)/.exec(dockerfile) ?? [];

  expect(published).toEqual([["api", `127.0.0.1:${port}:${port}`]]);
});

test("only the worker has security options, and their profile exists and refuses unknown system calls", async () => {
  const options = services.flatMap(([name, { security_opt: each }]) => each.map((option) => [name, option]));
  const profiles = options.flatMap(([, option = ""]) => /^seccomp=(.*)$/.exec(option)?.[1] ?? []);

  expect(new Set(options.map(([name]) => name))).toEqual(new Set(["worker"]));
  expect(profiles).toHaveLength(1);
  const profile = JSON.parse(await read(profiles[0] ?? ""));
  expect(profile.defaultAction).toBe("SCMP_ACT_ERRNO");
});

test("each file that the image copies exists, and its context includes it", async () => {
  const included = (await read(".dockerignore"))
    .split("\n")
    .flatMap((line) => /^!(.+)$/.exec(line)?.[1] ?? []);
  const copied = Array.from(dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm), ([, files = ""]) =>
    files.split(" "),
  ).flat();

  expect(copied.length).toBeGreaterThan(0);
  expect(copied.filter((file) => !included.some((path) => isWithin(file, path)))).toEqual([]);
  await Promise.all(copied.map((file) => access(join(PROJECT, file))));
});

function isWithin(file: string, path: string): boolean {
  return `${file.replace(/^\.\//, "")}/`.startsWith(`${path}/`);
}
