import { expect, test } from "vitest";
import { createGuardedConnector } from "../../../src/outgoing/guarded-connector.ts";

const TARGET = { hostname: "some.example", host: "some.example:80", protocol: "http:", port: "80" };

test("an error in the address check is passed to the caller of the connection", async () => {
  const connect = createGuardedConnector({
    destinations: {
      admits: () => {
        throw new Error("too many open files");
      },
    },
    connectMs: 1_000,
    resolve: async () => [{ address: "127.0.0.1", family: 4 }],
  });

  const failure = await new Promise((resolve) => connect(TARGET, (...[error]) => resolve(error)));

  expect(failure).toMatchObject({ message: "too many open files" });
});
