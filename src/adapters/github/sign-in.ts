import { createHash } from "node:crypto";
import { z } from "zod";
import type { Log } from "../../core/basics/log.ts";
import type { ProvenAccount, SignInProvider } from "../../core/ports/sign-in-provider.ts";
import { oauthSignIn } from "../oauth-sign-in.ts";
import { GithubTokenClient } from "./client.ts";
import { type GithubConfig, webUrlOf } from "./config.ts";

const PAGE_SIZE = 100;
/** Only accounts with more repositories in one installation than any person works on reach it. */
const PAGES_MAX = 20;

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
  const webUrl = webUrlOf(apiUrl);
  return oauthSignIn({
    method: "github",
    name: "GitHub",
    icon: "M4.5 5v6M3 3.5a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0M3 12.5a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0M10 5.5a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0M11.5 7c0 2.5-3 2.5-6 4.5",
    client: oauth,
    pageUrl: new URL("/login/oauth/authorize", webUrl),
    pageParameters: ({ verifier }) => ({
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      allow_signup: "false",
    }),
    tokenUrl: new URL("/login/oauth/access_token", webUrl),
    tokenParameters: ({ verifier }) => ({ code_verifier: verifier }),
    tokenName: "access_token",
    accountOf: (token) => accountOf(new GithubTokenClient(apiUrl, token, deps)),
    fetch: deps.fetch ?? globalThis.fetch,
  });
}

async function accountOf(client: GithubTokenClient): Promise<ProvenAccount> {
  const { id, login, name } = await client.call({ route: "GET /user", parameters: {}, answer: userAnswer });
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
  const parameters = { per_page: PAGE_SIZE };
  const route = "GET /user/installations";
  const { installations } = await client.call({ route, parameters, answer: installationsAnswer });
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
