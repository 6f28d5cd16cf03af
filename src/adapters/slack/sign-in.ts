import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { parseJson } from "../../core/basics/parse-json.ts";
import { type ProvenAccount, type SignInProvider, unproven } from "../../core/ports/sign-in-provider.ts";
import { oauthSignIn } from "../oauth-sign-in.ts";
import { authorSubject } from "./addresses.ts";
import { authorize } from "./authorize.ts";
import { type ClientDeps, methodUrl } from "./client.ts";
import type { SlackConfig } from "./config.ts";
import type { Workspaces } from "./workspaces.ts";

const claims = z.object({
  aud: z.string(),
  exp: z.number(),
  nonce: z.string(),
  name: z.string().optional(),
  email: z.string().optional(),
  email_verified: z.boolean().optional(),
  "https://slack.com/team_id": z.string(),
  "https://slack.com/user_id": z.string(),
});
type Claims = z.infer<typeof claims>;

interface SignInDeps extends Pick<ClientDeps, "fetch"> {
  readonly workspaces: Pick<Workspaces, "find" | "only">;
}

/** Signs in with an account of the workspace, with the client id and secret of the app ("Sign in with Slack"). */
export function slackSignIn(
  { apiUrl, oauth }: Pick<SlackConfig, "apiUrl"> & { readonly oauth: NonNullable<SlackConfig["oauth"]> },
  { fetch = globalThis.fetch, workspaces }: SignInDeps,
): SignInProvider {
  return oauthSignIn({
    method: "slack",
    name: "Slack",
    icon: "M6.5 2 5 14M11 2 9.5 14M2.5 5.5h12M1.5 10.5h12",
    client: oauth,
    pageUrl: new URL("/openid/connect/authorize", apiUrl),
    pageParameters: async ({ nonce }) => {
      const team = (await (await workspaces.only())?.bot())?.teamId;
      return { response_type: "code", scope: "openid profile email", nonce, ...defined({ team }) };
    },
    tokenUrl: methodUrl(apiUrl, "openid.connect.token"),
    tokenParameters: () => ({ grant_type: "authorization_code" }),
    tokenName: "id_token",
    accountOf: (token, { nonce }) => accountOf(readToken(token, oauth.clientId, nonce), workspaces),
    fetch,
  });
}

/**
 * The token came from Slack itself over TLS, in the response to the client's secret. So its signature proves nothing
 * more, and OpenID Connect lets the client leave it out (Core, 3.1.3.7).
 */
function readToken(token: string, clientId: string, nonce: string): Claims {
  const payload = token.split(".")[1] ?? "";
  const read = claims.safeParse(parseJson(Buffer.from(payload, "base64url").toString()));
  if (!read.success) {
    throw unproven("Slack's token of this sign-in could not be read.");
  }
  const { aud, exp, nonce: receivedNonce } = read.data;
  if (aud !== clientId || receivedNonce !== nonce || exp * 1_000 < Date.now()) {
    throw unproven("Slack's token is not of this sign-in.");
  }
  return read.data;
}

/** Asks Slack now what the account is in its workspace. Guests and workspaces without an installation are no members. */
async function accountOf(found: Claims, workspaces: SignInDeps["workspaces"]): Promise<ProvenAccount> {
  const { email, email_verified: isVerified, name, ...ids } = found;
  const teamId = ids["https://slack.com/team_id"];
  const subject = authorSubject(teamId, ids["https://slack.com/user_id"]);
  const workspace = await workspaces.find({ teamId });
  const authorization =
    workspace && (await authorize(workspace.client, { author: { subject }, installation: teamId }));
  const member = authorization?.allowed === true && authorization.roles?.includes("member") === true;
  return {
    subject,
    ...defined({
      displayName: name,
      email: isVerified === true && email !== undefined ? email : undefined,
      aliases: authorization?.allowed === true ? authorization.author.aliases : undefined,
    }),
    memberships: member ? [{ adapter: "slack", installation: teamId, isConfigured: true }] : [],
  };
}
