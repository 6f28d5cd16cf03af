import { createBubblewrapSandbox } from "../../src/sandboxes/bubblewrap/bubblewrap-sandbox.ts";

/** Why tests of bubblewrap are skipped here, or undefined. Where everything should be there, nothing is skipped. */
export async function reasonToSkipBubblewrap(): Promise<string | undefined> {
  const problem = await createBubblewrapSandbox().unavailable();
  if (problem !== undefined && process.env.CI === "true") {
    throw new Error(`bubblewrap must be usable where CI=true: ${problem}`);
  }
  return problem;
}
