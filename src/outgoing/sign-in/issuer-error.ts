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
  const cause = error instanceof ClientError || error instanceof TypeError ? error.cause : undefined;
  return cause instanceof Error ? `${error.message}: ${reasonOf(cause)}` : error.message;
}
