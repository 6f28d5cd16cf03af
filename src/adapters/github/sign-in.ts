import { createHash } from "node:crypto";
import { z } from "zod";
import type { Log } from "../../core/basics/log.ts";
import {
  type ProvenAccount,
  type SignInAttempt,
  type SignInProvider,
  unproven,
} from "../../core/ports/sign-in-provider.ts";
import { GithubTokenClient } from "./client.ts";
import type { GithubConfig } from "./config.ts";

const TIMEOUT_MS = 10_000;
const PAGE_SIZE = 100;
/** Only accounts with more repositories in one installation than any person works on reach it. */
const PAGES_MAX = 20;

const tokenAnswer = z.object({ access_token: z.string().min(1) });
const userAnswer = z.object({ id: z.number(), login: z.string(), name: z.string().nullish() });
const installationsAnswer = z.object({
  installations: z.array(z.object({ id: z.number(), suspended_at: z.string().nullish() })),
});
const repositoriesAnswer = z.object({
  repositories: z.array(
    z.object({
      archived: z.boolean().optional(),
      permissions: z.object({ push: z.boolean().optional() }).optional(),
    }),
  ),
});

interface SignInDeps {
  readonly log: Log;
  readonly fetch?: typeof globalThis.fetch;
}

/** Signs in with an account of GitHub, with the client id and secret of the App. */
export function githubSignIn(
  { apiUrl, oauth }: Pick<GithubConfig, "apiUrl"> & { readonly oauth: NonNullable<GithubConfig["oauth"]> },
  deps: SignInDeps,
): SignInProvider {
  const { clientId, clientSecret } = oauth;
  const webUrl = webUrlOf(apiUrl);
  return {
    method: "github",
    name: "GitHub",
    icon: "M4.5 5v6M3 3.5a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0M3 12.5a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0M10 5.5a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0M11.5 7c0 2.5-3 2.5-6 4.5",
    async authorizationUrl({ redirectUri, state, verifier }) {
      const url = new URL("/login/oauth/authorize", webUrl);
      url.search = new URLSearchParams({
        client_id: clientId,
        redirect_uri: redirectUri,
        state,
        code_challenge: createHash("sha256").update(verifier).digest("base64url"),
        code_challenge_method: "S256",
        allow_signup: "false",
      }).toString();
      return url;
    },
    async prove({ searchParams }, attempt) {
      const code = searchParams.get("code");
      if (searchParams.get("state") !== attempt.state || code === null) {
        throw unproven("GitHub did not confirm this sign-in.");
      }
      const exchange = { client_id: clientId, client_secret: clientSecret, code };
      const token = await tokenFor(new URL("/login/oauth/access_token", webUrl), exchange, attempt, deps);
      return accountOf(new GithubTokenClient(apiUrl, token, deps));
    },
  };
}

/** The pages of an Enterprise Server are on the host of its API, others on the host without `api.` */
function webUrlOf(apiUrl: string): URL {
  const { origin, pathname } = new URL(apiUrl);
  return new URL(pathname.startsWith("/api/") ? origin : origin.replace("://api.", "://"));
}

/** GitHub answers a wrong code with 200 and an error. The token is used for this sign-in only and never stored. */
async function tokenFor(
  url: URL,
  exchange: Readonly<Record<string, string>>,
  { redirectUri, verifier }: SignInAttempt,
  { fetch = globalThis.fetch }: SignInDeps,
): Promise<string> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { accept: "application/json" },
      body: new URLSearchParams({ ...exchange, redirect_uri: redirectUri, code_verifier: verifier }),
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return tokenAnswer.parse(await response.json()).access_token;
  } catch (cause) {
    throw unproven("GitHub did not exchange the code of this sign-in.", cause);
  }
}

async function accountOf(client: GithubTokenClient): Promise<ProvenAccount> {
  const { id, login, name } = await client.call({ route: "GET /user", answer: userAnswer });
  const installations = await writableInstallations(client);
  return {
    // A login can change hands, the id cannot.
    subject: `github:${id}`,
    displayName: name ?? login,
    memberships: installations.map((installation) => ({ adapter: "github", installation })),
  };
}

/** The installations of the App with a repository that the person may push to. GitHub says so for this very token. */
async function writableInstallations(client: GithubTokenClient): Promise<readonly string[]> {
  const call = { route: "GET /user/installations", parameters: { per_page: PAGE_SIZE } };
  const { installations } = await client.call({ ...call, answer: installationsAnswer });
  const found: string[] = [];
  for (const { id, suspended_at: suspendedAt } of installations) {
    if (!suspendedAt && (await mayWrite(client, id))) {
      found.push(String(id));
    }
  }
  return found;
}

async function mayWrite(client: GithubTokenClient, installation: number): Promise<boolean> {
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const { repositories } = await client.call({
      route: "GET /user/installations/{installation_id}/repositories",
      parameters: { installation_id: installation, per_page: PAGE_SIZE, page },
      answer: repositoriesAnswer,
    });
    if (repositories.some(({ archived, permissions }) => archived !== true && permissions?.push === true)) {
      return true;
    }
    if (repositories.length < PAGE_SIZE) {
      return false;
    }
  }
  return false;
}
