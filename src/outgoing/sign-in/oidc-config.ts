/** An issuer of OpenID Connect, and which of its people may sign in. */
export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Separated by spaces. */
  readonly scopes: string;
  /** The name on the button. */
  readonly name: string;
  /** The domains whose verified addresses may sign in, in small letters. */
  readonly domains: readonly string[];
  /** The name of a claim, or the path to a member of one. */
  readonly groupsClaim: string;
  /** An address counts although the issuer does not say whether it is verified. */
  readonly trustsEmail: boolean;
  /** The first entry of a group that the person has decides the team and the role. */
  readonly groups: readonly OidcGroup[];
}

interface OidcGroup {
  readonly group: string;
  /** The uid or name of the team. */
  readonly team: string;
  readonly role: "member" | "administrator";
}
