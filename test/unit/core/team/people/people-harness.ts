import { randomUUID } from "node:crypto";
import type { TeamId } from "../../../../../src/core/basics/ids.ts";
import {
  type ApiKey,
  holderOfKey,
  type KeyHolder,
  type KnownKey,
  type Scope,
  viewerWith,
} from "../../../../../src/core/model/people/api-key.ts";
import type { Principal, Viewer } from "../../../../../src/core/model/people/principal.ts";
import { FIRST_TEAM } from "../../../../../src/core/model/people/team.ts";
import type { Storage } from "../../../../../src/core/ports/stores/storage.ts";
import { KeyService } from "../../../../../src/core/team/keys/key-service.ts";
import { ShareLinkService } from "../../../../../src/core/team/keys/share-link-service.ts";
import { IdentityService } from "../../../../../src/core/team/people/identity-service.ts";
import { InstallationService } from "../../../../../src/core/team/people/installation-service.ts";
import { PrincipalService } from "../../../../../src/core/team/people/principal-service.ts";
import { TeamService } from "../../../../../src/core/team/people/team-service.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { InMemoryPubSub } from "../../../../support/memory/in-memory-pubsub.ts";
import { createInMemoryStorage } from "../../../../support/memory/storage/in-memory-storage.ts";
import { aPrincipal } from "../../../../support/run-builders.ts";

/** The holder of a key, not of a sign-in. */
export type HolderOfKey = KeyHolder & KnownKey;

/** The services for people on an in-memory storage. */
export class PeopleHarness {
  readonly clock = new ManualClock();
  readonly storage: Storage = createInMemoryStorage({
    clock: this.clock,
    pubsub: new InMemoryPubSub(),
    sendJobs: () => undefined,
  });
  readonly keys = new KeyService({
    storage: this.storage,
    clock: this.clock,
    makeKey: () => {
      const secret = randomUUID();
      return { secret, hash: hashOf(secret), hint: secret.slice(0, 3) };
    },
  });
  readonly principals = new PrincipalService(this);
  readonly teams = new TeamService(this);
  readonly identities = new IdentityService(this);
  readonly installations = new InstallationService(this.storage);
  readonly shareLinks = new ShareLinkService(this);

  async revoke({ id }: ApiKey, teamId: TeamId = FIRST_TEAM): Promise<void> {
    await this.storage.keys.change(teamId, id, (key) => ({ ...key, revokedAt: this.clock.now() }));
  }

  async team(): Promise<TeamId> {
    const id = randomUUID() as TeamId;
    await this.storage.teams.put({ id, name: id, createdAt: this.clock.now(), sharing: "off" });
    return id;
  }

  async principal(changes: Partial<Principal> = {}): Promise<Principal> {
    const principal = aPrincipal({ teamId: FIRST_TEAM, ...changes });
    await this.storage.people.put(principal);
    return principal;
  }

  /** Returns a holder of a key with these scopes. With `admin` among them, the holder is an administrator. */
  async holder(scopes: readonly Scope[], changes: Partial<Principal> = {}): Promise<HolderOfKey> {
    const principal = await this.principal({ administrator: scopes.includes("admin"), ...changes });
    const whose = { principalId: principal.id, createdBy: principal.id, createdAt: this.clock.now() };
    const key = { id: randomUUID(), name: "own", hint: "own", scopes, ...whose };
    await this.storage.keys.add(key, randomUUID());
    return { ...holderOfKey({ key, principal }), key };
  }

  async viewer(scopes: readonly Scope[], changes: Partial<Principal> = {}): Promise<Viewer> {
    return viewerWith(await this.holder(scopes, changes));
  }

  /** Returns the holder if the storage accepts the secret. */
  async find(secret: string): Promise<HolderOfKey | undefined> {
    const known = await this.storage.keys.findByHash(hashOf(secret));
    return known && { ...holderOfKey(known), key: known.key };
  }
}

function hashOf(secret: string): string {
  return `hash of ${secret}`;
}
