import { createServer } from "node:net";

/** A free port of 127.0.0.1, for programs that cannot listen on port 0. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || address === null) {
    throw new Error("a TCP server has an address");
  }
  return address.port;
}
