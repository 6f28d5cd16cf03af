/** The types of the TEXT and UUID columns that `prisma/schema.prisma` names: the generated client declares them. */
export type { LeaseToken, PrincipalId, RunId, TeamId, ThreadKey } from "../core/basics/ids.ts";
export type { Scope } from "../core/model/people/api-key.ts";
export type { DeviceCodeStatus } from "../core/model/people/device-code.ts";
export type { OwnerId } from "../core/model/people/ownership.ts";
export type { PrincipalType } from "../core/model/people/principal.ts";
export type { ShareAccess } from "../core/model/people/share-link.ts";
export type { SignInMethod } from "../core/model/people/sign-in.ts";
export type { Sharing } from "../core/model/people/team.ts";
export type { PolicyEffect, RefusalSign } from "../core/model/policies/policy.ts";
export type { FollowUpDelivery } from "../core/model/runs/follow-up.ts";
export type { RunMode } from "../core/model/runs/run.ts";
export type { RunSource } from "../core/model/runs/sources.ts";
export type { RunState } from "../core/model/runs/states.ts";
export type { Verbosity } from "../core/model/threads/thread.ts";
export type {
  WebhookDeliveryState,
  WebhookEventType,
  WebhookMessageType,
} from "../core/model/webhooks/webhook.ts";
export type { ArtifactType } from "../core/model/workspaces/artifact.ts";
export type { InputKind } from "../core/model/workspaces/input-file.ts";
export type { Disposition } from "../core/ports/stores/inbox-store.ts";
export type { Reservation } from "../core/threads/outbox/pace.ts";
