import { z } from "zod";
import type { OidcConfig } from "../outgoing/sign-in/oidc-config.ts";
import type { VariableDoc } from "./variable-doc.ts";
import { flag, partsOf } from "./variable-types.ts";

const DOMAIN = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

const issuer = z
  .string()
  .refine(
    isIssuer,
    "must be an https address such as https://login.example.com, without a user name, password or query",
  )
  .optional();
function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && LOOPBACK.test(url.hostname));
  return isSafe && url.username === "" && url.password === "" && !/[?#]/.test(text);
}

const domains = z
  .string()
  .default("")
  .transform((text) => partsOf(text.toLowerCase()))
  .refine(
    (all) => all.every((domain) => DOMAIN.test(domain)),
    "must contain domains such as example.com, separated by commas",
  );
const GROUPS_FORM = 'must be JSON such as [{"group": "eng", "team": "Team"}]';
const groups = z
  .string()
  .default("[]")
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: "custom", message: GROUPS_FORM });
      return z.NEVER;
    }
  })
  .pipe(
    z.array(
      z.strictObject({
        group: z.string().min(1),
        team: z.string().min(1),
        role: z.enum(["member", "administrator"]).default("member"),
      }),
      GROUPS_FORM,
    ),
  );

export const signInVariables = {
  ERRAND_OIDC_ISSUER: issuer,
  ERRAND_OIDC_CLIENT_ID: z.string().optional(),
  ERRAND_OIDC_CLIENT_SECRET: z.string().optional(),
  ERRAND_OIDC_NAME: z.string().max(60, "must have at most 60 characters").default("single sign-on"),
  ERRAND_OIDC_SCOPES: z
    .string()
    .refine(
      (scopes) => scopes.split(" ").includes("openid"),
      "must contain openid, as in: openid email profile",
    )
    .default("openid email profile"),
  ERRAND_OIDC_DOMAINS: domains,
  ERRAND_OIDC_TRUST_EMAIL: flag.default(false),
  ERRAND_OIDC_GROUPS_CLAIM: z.string().default("groups"),
  ERRAND_OIDC_GROUPS: groups,
  ERRAND_SIGN_IN_HELP: z
    .string()
    .max(300, "must have at most 300 characters")
    .default("Ask an administrator of this server to invite you."),
};

export const signInVariableDocs = {
  ERRAND_OIDC_ISSUER: {
    group: "Signing in",
    default: "(off)",
    description:
      "The issuer of OpenID Connect that people sign in with. Set it together with its client id and secret. The redirect address is `<ERRAND_PUBLIC_URL>/signin/oidc/callback`.",
  },
  ERRAND_OIDC_CLIENT_ID: {
    group: "Signing in",
    default: "(off)",
    description: "The client id at the issuer.",
  },
  ERRAND_OIDC_CLIENT_SECRET: {
    group: "Signing in",
    default: "(off)",
    description: "The client secret at the issuer.",
    secret: true,
  },
  ERRAND_OIDC_NAME: {
    group: "Signing in",
    default: "single sign-on",
    description: "The name on the button of the sign-in page.",
  },
  ERRAND_OIDC_SCOPES: {
    group: "Signing in",
    default: "openid email profile",
    description:
      "The scopes to request. Some issuers send groups only with a scope of their own. With `offline_access`, most issuers let Errand check each hour whether a person may still sign in.",
  },
  ERRAND_OIDC_DOMAINS: {
    group: "Signing in",
    default: "(none)",
    description:
      "Domains, separated by commas. A person whose verified e-mail address has one of them may sign in as a member of the first team.",
  },
  ERRAND_OIDC_TRUST_EMAIL: {
    group: "Signing in",
    default: "false",
    description:
      "`true`: an e-mail address counts although the issuer does not say whether it is verified (`email_verified`). Only for an issuer of your own organization whose people cannot change their address, such as one tenant of Microsoft Entra ID. An address that the issuer calls unverified never counts.",
  },
  ERRAND_OIDC_GROUPS_CLAIM: {
    group: "Signing in",
    default: "groups",
    description:
      "The claim with the groups of a person, or the path to a member of a claim, such as `realm_access.roles`.",
  },
  ERRAND_OIDC_GROUPS: {
    group: "Signing in",
    default: "[]",
    description:
      'Groups that may sign in, as JSON: `[{"group": "eng-leads", "team": "Team", "role": "administrator"}, {"group": "eng", "team": "Team"}]`. The first entry that fits decides the team and the role, at every sign-in.',
  },
  ERRAND_SIGN_IN_HELP: {
    group: "Signing in",
    default: "Ask an administrator of this server to invite you.",
    description: "What people read who prove who they are and may not sign in.",
  },
} satisfies Record<keyof typeof signInVariables, VariableDoc>;

type SignInVariables = z.infer<z.ZodObject<typeof signInVariables>>;

export interface SignInConfig {
  /** Undefined: no issuer is configured. */
  readonly oidc: OidcConfig | undefined;
  readonly help: string;
}

export function signInConfigOf(values: SignInVariables): SignInConfig {
  const { ERRAND_OIDC_CLIENT_ID: clientId, ERRAND_OIDC_CLIENT_SECRET: clientSecret } = values;
  const { ERRAND_OIDC_ISSUER: issuer, ERRAND_SIGN_IN_HELP: help } = values;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) {
    return { oidc: undefined, help };
  }
  const settings = { issuer, clientId, clientSecret, scopes: values.ERRAND_OIDC_SCOPES };
  const oidc = {
    ...settings,
    name: values.ERRAND_OIDC_NAME,
    domains: values.ERRAND_OIDC_DOMAINS,
    trustsEmail: values.ERRAND_OIDC_TRUST_EMAIL,
    groupsClaim: values.ERRAND_OIDC_GROUPS_CLAIM,
    groups: values.ERRAND_OIDC_GROUPS,
  };
  return { oidc, help };
}

/** Issuers whose accounts belong to many organizations or to none: anyone can have an account there with any address. */
const PUBLIC_ISSUER =
  /^https:\/\/(login\.microsoftonline\.(com|us)\/(common|organizations|consumers|9188040d-6c67-4c5b-b112-36a304b66dad)(\/|$)|(accounts\.google\.com|appleid\.apple\.com|gitlab\.com|login\.salesforce\.com|www\.linkedin\.com)(\/|$))/i;

export function signInProblems(values: SignInVariables): string[] {
  const { ERRAND_OIDC_ISSUER: issuer = "", ERRAND_OIDC_TRUST_EMAIL: trustsEmail } = values;
  if (trustsEmail && PUBLIC_ISSUER.test(issuer)) {
    return [
      "ERRAND_OIDC_TRUST_EMAIL: must not be true for an issuer of many organizations, because anyone could sign in with an address of yours. Use the issuer of your own tenant.",
    ];
  }
  const needed = ["ERRAND_OIDC_ISSUER", "ERRAND_OIDC_CLIENT_ID", "ERRAND_OIDC_CLIENT_SECRET"] as const;
  const missing = needed.filter((name) => values[name] === undefined);
  if (missing.length === 0 || missing.length === needed.length) {
    return [];
  }
  return [`Sign-in with OpenID Connect is only partly configured. Also set ${missing.join(", ")}.`];
}
