import type { FastifyRequest } from "fastify";
import { AppError } from "../../core/basics/errors.ts";
import type { KeyHolder } from "../../core/model/people/api-key.ts";
import type { Principal } from "../../core/model/people/principal.ts";
import {
  PersonNeeded,
  type ProvenAccount,
  type SignInAttempt,
  type SignInProvider,
} from "../../core/ports/sign-in-provider.ts";
import { type Admission, admitAccount } from "../../core/team/people/admit-account.ts";
import type { ApiDeps } from "../api-deps.ts";
import { newSignIn, visitorContext } from "./new-sign-in.ts";

/** `needsPerson`: the system would have to ask the person something, or the person cancelled. */
export interface Unproven {
  readonly needsPerson: boolean;
  /** What the person reads. */
  readonly text: string;
}

export interface CompletedAttempt {
  readonly provider: SignInProvider;
  readonly account: ProvenAccount;
  /** Known only to the server and the browser that began. */
  readonly state: string;
  /** Whose sign-in a silent one renews. */
  readonly former?: KeyHolder | undefined;
  readonly isSilent: boolean;
}

/** `stranger`: the account may not sign in. `other_person`: a silent attempt proved another person, or none signed in. */
export type Refusal = "stranger" | "other_person" | "used";

export interface NewSession {
  readonly token: string;
  readonly leftNoAdministrator: boolean;
}

export async function proveAccount(
  { log }: Pick<ApiDeps, "log">,
  provider: SignInProvider,
  callback: URL,
  attempt: SignInAttempt,
): Promise<ProvenAccount | Unproven> {
  try {
    return await provider.prove(callback, attempt);
  } catch (error) {
    if (!(error instanceof AppError)) {
      throw error;
    }
    log.warn({ method: provider.method, reason: reasonOf(error) }, "sign-in.unproven");
    const needsPerson = error instanceof PersonNeeded;
    const cancelled = `The sign-in was cancelled, or ${provider.name} refused it.`;
    return { needsPerson, text: needsPerson ? cancelled : error.message };
  }
}

/** Signs the browser of the request in. */
export async function signInAs(
  deps: ApiDeps,
  request: FastifyRequest,
  attempt: CompletedAttempt,
): Promise<NewSession | Refusal> {
  const { account, former, isSilent } = attempt;
  const admission = await admit(deps, request, attempt);
  if (admission === undefined) {
    deps.log.info({ subject: account.subject, gaps: account.gaps }, "sign-in.refused");
    return "stranger";
  }
  const { leftNoAdministrator, principal } = admission;
  if (leftNoAdministrator) {
    deps.log.warn({ teamId: principal.teamId }, "team.without_administrator");
  }
  // Nobody becomes another person without having asked for it, and an ended sign-in stays ended.
  if (isSilent && former?.principal.id !== principal.id) {
    return "other_person";
  }
  const token = await store(deps, request, principal, attempt);
  return typeof token === "string" ? { token, leftNoAdministrator } : token.refusal;
}

/** Stores the sign-in, and ends the one that it replaces. */
async function store(
  deps: ApiDeps,
  request: FastifyRequest,
  principal: Principal,
  { account: { renewal }, former, provider: { method }, state }: CompletedAttempt,
): Promise<string | { readonly refusal: Refusal }> {
  const [signIn, { clock, hashKey, secrets, storage }] = [newSignIn(deps, request), deps];
  const seal = renewal === undefined ? {} : { sealRenewal: (owner: string) => secrets.seal(renewal, owner) };
  try {
    return await storage.atomically(
      async (stores) => {
        // The principal may have been disabled meanwhile.
        const [current] = await stores.people.getMany([principal.id]);
        if (current === undefined || current.disabled) {
          return { refusal: "stranger" } as const;
        }
        if (former?.signIn !== undefined) {
          const { id: formerId, principalId, teamId } = former.signIn;
          await stores.signIns.requireOpen(formerId);
          await stores.signIns.end({ teamId, principalId, ids: [formerId] }, clock.now());
        }
        return signIn(stores, current, { method, attemptHash: hashKey(state), ...seal });
      },
      visitorContext(request, principal),
    );
  } catch (error) {
    if (error instanceof AppError && error.code === "authentication_required") {
      return { refusal: "used" };
    }
    throw error;
  }
}

/** The account may become a principal here. No person has done that, so the audit entries name the provider. */
function admit(
  { clock, storage }: ApiDeps,
  { id: requestId, ip: address }: FastifyRequest,
  { account, provider: { method } }: CompletedAttempt,
): Promise<Admission | undefined> {
  const actor = { uid: `sign-in:${method}`, type: "system", address } as const;
  return storage.atomically((stores) => admitAccount(stores, account, clock.now()), { actor, requestId });
}

/** Only the messages: the errors of the libraries also contain responses, with tokens and what they say about people. */
export function reasonOf(error: unknown): string {
  return error instanceof Error
    ? [error.message, ...(error.cause === undefined ? [] : [reasonOf(error.cause)])].join(": ")
    : "unknown";
}
