import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import {
  APIConnectionError,
  type APIError,
  BadRequestError,
  type DeviceCodeResponse,
  type Errand,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from "@errand/client";
import { openInBrowser } from "./ask.ts";
import type { Cli } from "./cli.ts";
import { CliError, EXIT } from "./failure.ts";
import { oneLine } from "./output.ts";

/** As the server adds to the interval with each `slow_down` (RFC 8628). */
const SLOW_DOWN_SECONDS = 5;
const NAME_LENGTH = 60;
const AGAIN = "Run: errand login";

/** Gets a key for a person who signs in with a browser, on this or another machine. */
export async function keyFromBrowser(cli: Cli, url: string): Promise<string> {
  const client = cli.clientOf(url, null);
  const code = await createCode(client);
  const page = pageOf(code.verification_uri);
  cli.output.line(`Open this page in a browser: ${page}`);
  cli.output.line(`Enter this code there:       ${cli.output.style("bold", oneLine(code.user_code))}`);
  // A browser on another machine than the one of the person would help nobody.
  if (process.env.SSH_CONNECTION === undefined) {
    await openInBrowser(page).catch(() => undefined);
  }
  cli.output.note("Waiting for your answer in the browser …");
  return pollForKey(client, code);
}

async function createCode(client: Errand): Promise<DeviceCodeResponse> {
  try {
    return await client.deviceCodes.create({
      client_name: oneLine(`errand on ${hostname()}`).slice(0, NAME_LENGTH),
    });
  } catch (error) {
    if (error instanceof NotFoundError) {
      throw new CliError("This server has no sign-in by browser.", "Use a key: errand login --with-token");
    }
    throw error;
  }
}

/** The address goes to the browser of the system, which would open files and start programs too. */
function pageOf(address: string): string {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new CliError("The server named no page for the sign-in.", "Use a key: errand login --with-token");
  }
  return url.href;
}

/** Asks for the key until there is one, the person refuses, or the code expires. */
async function pollForKey(
  client: Errand,
  { device_code: deviceCode, expires_in: expiresIn, interval }: DeviceCodeResponse,
): Promise<string> {
  const end = performance.now() + expiresIn * 1_000;
  let seconds = interval;
  while (performance.now() < end) {
    await sleep(seconds * 1_000);
    const result = await client.deviceCodes.token(deviceCode).catch(refusalOf);
    if (typeof result !== "string") {
      return result.key;
    }
    if (result === "slow_down") {
      seconds += SLOW_DOWN_SECONDS;
    }
  }
  throw expired();
}

/** Why there is no key yet. Throws if there will be none. */
function refusalOf(error: unknown): "authorization_pending" | "slow_down" {
  if (error instanceof BadRequestError) {
    switch (error.problem.reason) {
      case "authorization_pending":
      case "slow_down":
        return error.problem.reason;
      case "access_denied":
        throw new CliError("The sign-in was refused in the browser.", AGAIN, EXIT.notAllowed);
      case "expired_token":
        throw expired();
    }
  }
  if (isTemporary(error)) {
    return "slow_down";
  }
  throw error;
}

function isTemporary(error: unknown): error is APIError | APIConnectionError {
  return (
    error instanceof APIConnectionError ||
    error instanceof RateLimitError ||
    error instanceof InternalServerError
  );
}

function expired(): CliError {
  return new CliError("The code has expired.", AGAIN, EXIT.timedOut);
}
