import { presentAddressOf } from "../core/model/repositories/repository-name.ts";
import { GitFailure } from "./git-command.ts";
import type { Transport } from "./transport-settings.ts";

interface ReachOptions {
  readonly signal: AbortSignal;
  /** The value of the header `Authorization` at this address; undefined: none. */
  authorize(url: string): Promise<string | undefined>;
}

const REDIRECTED = /requested URL returned error: 30[1278]/i;

/** Talks to the host of a repository. After a rename, talks to it at the address to which the host redirects. */
export async function reachRepository<T>(
  url: string,
  { authorize, signal }: ReachOptions,
  talk: (transport: Transport) => Promise<T>,
): Promise<T> {
  const transport = { url, authorization: await authorize(url) };
  try {
    return await talk(transport);
  } catch (error) {
    const isRedirected = error instanceof GitFailure && REDIRECTED.test(error.message);
    const present = isRedirected ? await findPresentAddress(transport, signal) : undefined;
    if (present === undefined) {
      throw error;
    }
    return talk({ url: present, authorization: await authorize(present) });
  }
}

/** Git does not tell the address. */
async function findPresentAddress(
  { authorization, url }: Transport,
  signal: AbortSignal,
): Promise<string | undefined> {
  const headers = authorization === undefined ? {} : { authorization };
  const address = `${url}/info/refs?service=git-upload-pack`;
  try {
    const answer = await fetch(address, { headers, redirect: "manual", signal });
    await answer.body?.cancel();
    const location = answer.headers.get("location") ?? undefined;
    return presentAddressOf(url, { status: answer.status, location });
  } catch {
    // The failure of git is reported.
    return undefined;
  }
}
