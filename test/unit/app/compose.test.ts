import { expect, test } from "vitest";
import { hostOf } from "../../../src/app/compose.ts";
import { readConfig } from "../../../src/config/config.ts";

test.each([
  { role: "all", host: "build-box" },
  { role: "worker", host: "build-box" },
  { role: "api", host: undefined },
])("a process of the role $role takes runs by the host name $host", ({ role, host }) => {
  const config = readConfig({
    DATABASE_URL: "postgresql://errand@db/errand",
    ERRAND_SECRET_KEY: "s".repeat(32),
    ERRAND_PUBLIC_URL: "https://e.example",
    ERRAND_ROLE: role,
    ERRAND_WORKER_HOST: "build-box",
  });

  expect(hostOf(config).host).toBe(host);
});
