import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from "openid-client";

/** The codes of RFC 6749 and OpenID Connect. Other texts may contain anything. */
const CODE = /^[a-z_.-]{1,60}$/i;

/** The error code in the issuer's answer. */
export function errorCodeOf(error: unknown): string | undefined {
  if (error instanceof UserInfoFailed) {
    return errorCodeOf(error.cause);
  }
  if (error instanceof ResponseBodyError || error instanceof AuthorizationResponseError) {
    return CODE.test(error.error) ? error.error : "an unreadable error";
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    return error.cause
      .map(({ parameters }) => parameters.error)
      .find((code) => code !== undefined && CODE.test(code));
  }
  return undefined;
}

/** The client id or its secret is wrong. */
export class ClientRefused extends Error {
  constructor() {
    super(
      "The issuer refuses the client id or its secret, by client_secret_basic and by client_secret_post.",
    );
  }
}

/** The issuer confirmed the person, and its user info could not be read. */
export class UserInfoFailed extends Error {
  constructor(cause: unknown) {
    super("The user info of the issuer could not be read", { cause });
  }
}

/** Whether the issuer answered about another person than it was asked about. */
export function namesAnother(error: unknown): boolean {
  return error instanceof ClientError && error.code === "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED";
}

/** What the person reads. It contains nothing that the issuer says in its own words. */
export function textFor(error: unknown): string {
  if (error instanceof ClientRefused) {
    return "The issuer refuses the client id or the client secret of this server.";
  }
  if (error instanceof UserInfoFailed) {
    return "The issuer confirmed you, but did not say enough about you: its user info could not be read.";
  }
  if (error instanceof ClientError && error.code === "OAUTH_JWT_TIMESTAMP_CHECK_FAILED") {
    return "The clocks of the issuer and of this server differ by more than a minute.";
  }
  return error instanceof TypeError || (error instanceof ClientError && error.code === "OAUTH_TIMEOUT")
    ? "The issuer does not answer at the moment."
    : "The issuer did not confirm this sign-in.";
}

/** Whether the issuer refuses the client and not the person. */
export function refusesClient(error: unknown): boolean {
  return (
    errorCodeOf(error) === "invalid_client" ||
    (error instanceof WWWAuthenticateChallengeError && error.status === 401)
  );
}

/** For the log: messages and codes only, because the errors of the library also contain responses with tokens. */
export function reasonOf(error: unknown): string {
  const code = errorCodeOf(error);
  if (code !== undefined) {
    return `The issuer answered ${code}.`;
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    return `The issuer answered with the status ${error.status}.`;
  }
  if (!(error instanceof Error)) {
    return "unknown";
  }
  const isOurs = error instanceof UserInfoFailed || error instanceof ClientError;
  const cause = isOurs || error instanceof TypeError ? error.cause : undefined;
  return cause instanceof Error ? `${error.message}: ${reasonOf(cause)}` : error.message;
}
