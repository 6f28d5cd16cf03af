import {
  type ProvenAccount,
  type SignInAttempt,
  type SignInProvider,
  unproven,
} from "../core/ports/sign-in-provider.ts";

const TIMEOUT_MS = 10_000;
const ERROR_LENGTH_MAX = 100;

type Parameters = Readonly<Record<string, string>>;

interface TokenRequest {
  readonly method: "POST";
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly redirect: "error";
  readonly signal: AbortSignal;
}

/** What is particular to the sign-in of one platform. */
interface OauthPlatform extends Pick<SignInProvider, "icon" | "method" | "name"> {
  readonly client: { readonly clientId: string; readonly clientSecret: string };
  /** Where the person confirms the sign-in. */
  readonly pageUrl: URL;
  pageParameters(attempt: SignInAttempt): Promise<Parameters> | Parameters;
  /** Where the code is exchanged. */
  readonly tokenUrl: URL;
  tokenParameters(attempt: SignInAttempt): Parameters;
  readonly tokenName: "access_token" | "id_token";
  accountOf(token: string, attempt: SignInAttempt): Promise<ProvenAccount>;
  fetch(url: URL, request: TokenRequest): Promise<{ json(): Promise<unknown> }>;
}

/** Signs in by the authorization code of OAuth. The token is used for this sign-in only and never stored. */
export function oauthSignIn(platform: OauthPlatform): SignInProvider {
  const { icon, method, name } = platform;
  return {
    method,
    name,
    icon,
    async authorizationUrl(attempt) {
      const { redirectUri: redirect_uri, state } = attempt;
      const url = new URL(platform.pageUrl);
      const parameters = await platform.pageParameters(attempt);
      const client_id = platform.client.clientId;
      url.search = new URLSearchParams({ client_id, redirect_uri, state, ...parameters }).toString();
      return url;
    },
    async prove({ searchParams }, attempt) {
      const code = searchParams.get("code");
      if (searchParams.get("state") !== attempt.state || code === null) {
        throw unproven(`${name} did not confirm this sign-in.`);
      }
      const token = await exchange(platform, code, attempt).catch((cause: unknown) => {
        throw unproven(`${name} did not exchange the code of this sign-in.`, cause);
      });
      return platform.accountOf(token, attempt);
    },
  };
}

/** The platforms answer a wrong code with 200 and an error. */
async function exchange(
  { client, fetch, tokenName, tokenParameters, tokenUrl }: OauthPlatform,
  code: string,
  attempt: SignInAttempt,
): Promise<string> {
  const { clientId: client_id, clientSecret: client_secret } = client;
  const { redirectUri: redirect_uri } = attempt;
  const form = { client_id, client_secret, code, redirect_uri, ...tokenParameters(attempt) };
  const response = await fetch(tokenUrl, {
    method: "POST",
    headers: { accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(form).toString(),
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const { error, [tokenName]: token } = Object(await response.json());
  if (typeof token !== "string" || token === "") {
    throw new Error(`The answer has no ${tokenName}. Its error: ${String(error).slice(0, ERROR_LENGTH_MAX)}`);
  }
  return token;
}
