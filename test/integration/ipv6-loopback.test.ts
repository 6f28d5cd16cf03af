import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeTemporaryFolder } from "../support/data-dir.ts";
import { startService } from "../support/service.ts";
import { createTestDatabase } from "../support/test-database.ts";

const hasIpv6 = Object.values(networkInterfaces()).some((own) =>
  own?.some(({ address }) => address === "::1"),
);

test.skipIf(!hasIpv6)("a service that listens on IPv6 logs its address in URL syntax", async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());

  const service = await startService(join(await makeTemporaryFolder(), "data"), {
    DATABASE_URL: database.url,
    ERRAND_HOST: "::1",
    ERRAND_SANDBOX: "local",
    ERRAND_SECRET_KEY: "a secret key for a service on IPv6",
    ERRAND_ADMIN_KEY: "a key for a service that is on IPv6",
  });
  onTestFinished(async () => void (await service.end("SIGKILL")));

  expect(service.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
  expect((await fetch(`${service.url}/signin`)).status).toBe(200);
});
