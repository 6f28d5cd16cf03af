import type { Digest } from "../basics/crypto.ts";
import { AppError } from "../basics/errors.ts";
import type { PrincipalId, RunId } from "../basics/ids.ts";
import type { Viewer } from "../model/people/principal.ts";
import { requireAllowed, requiredApproval, stricter } from "../model/policies/evaluate-policies.ts";
import type { FollowUp } from "../model/runs/follow-up.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { Storage } from "../ports/stores/storage.ts";
import {
  changeNotice,
  decideRewrite,
  decideWithdrawal,
  type FollowUpTarget,
  followUpNotice,
} from "../runs/change-follow-up.ts";
import { messageWithComments, messageWithPlaces } from "../runs/comment-text.ts";
import {
  actionOf,
  actionOfDelivery,
  decideFollowUp,
  type FollowUpEffect,
  type ReceivedFollowUp,
  requireAgent,
  withDigests,
} from "../runs/decide-follow-up.ts";
import { addExtras, type FollowUpResult, type TransactionExtras } from "../runs/transaction-extras.ts";
import type { PolicyEvaluator } from "../team/policies/run-rules.ts";
import { OVER_THE_API, type RunChanger } from "./run-changer.ts";

export interface FollowUpServiceDeps {
  readonly blobs: Pick<BlobStore, "sha256">;
  readonly digest: Digest;
  readonly storage: Pick<Storage, "followUps">;
}

/** A follow-up as a caller sends it. */
export interface SentFollowUp extends ReceivedFollowUp {
  /** The drafts that its comments were. They are deleted with the same change. */
  readonly draftIds?: readonly string[];
}

/** What callers can do with the messages to a run after its first one. */
export class FollowUpService {
  readonly #deps: FollowUpServiceDeps;
  readonly #changer: RunChanger;

  constructor(deps: FollowUpServiceDeps, changer: RunChanger) {
    this.#deps = deps;
    this.#changer = changer;
  }

  async send(
    id: RunId,
    viewer: Viewer,
    received: SentFollowUp,
    extras: TransactionExtras = {},
  ): Promise<FollowUpResult> {
    const { draftIds = [], ...input } = received;
    const { comments = [] } = input;
    const { invitation, onlyRunId } = viewer;
    if (onlyRunId !== undefined && invitation?.mayFollowUp !== true) {
      throw new AppError("not_authorized", "This share link is only for viewing.");
    }
    let effect: FollowUpEffect = {};
    const { from = OVER_THE_API } = extras;
    const message = messageWithComments(input.message, comments);
    const followUp = await withDigests({ ...input, message }, this.#deps.blobs);
    const evaluators = [await this.#changer.evaluator(viewer, from)];
    if (invitation !== undefined) {
      // A guest may do no more than the creator of the link as an ordinary member.
      evaluators.push(await this.#changer.evaluator({ ...invitation.by, administrator: false }, from));
    }
    const verdictOn: PolicyEvaluator = (action, run) =>
      evaluators.map((evaluate) => evaluate(action, run)).reduce((one, other) => stricter(one, other));
    const tools = await this.#changer.approvalToolsFor(id, viewer, verdictOn);
    const run = await this.#changer.change(id, viewer, (edit) => {
      if (invitation !== undefined) {
        edit.attach({ shareLinkId: viewer.id });
      }
      requireAgent(edit.run);
      const verdict = verdictOn(actionOf(edit.run, followUp), edit.run);
      requireAllowed(verdict);
      const rules = { ...tools, required: requiredApproval(verdict) };
      effect = decideFollowUp(edit, { source: from.source, ...followUp }, rules);
      if (input.private !== true) {
        const shown = { message: messageWithPlaces(input.message, comments) };
        edit.notices.postElsewhere(followUpNotice(viewer, shown, extras), from.integration);
      }
      edit.attach({ sentDrafts: draftIds.length === 0 ? undefined : { authorId: viewer.id, ids: draftIds } });
      addExtras(edit, extras, effect);
    });
    return { run, ...effect };
  }

  /** The messages to a run, also withdrawn ones, in order. */
  async list(
    id: RunId,
    viewer: Viewer,
    { after, limit }: { readonly after: number; readonly limit: number },
  ): Promise<readonly FollowUp[]> {
    await this.#changer.get({ id }, viewer);
    return this.#deps.storage.followUps.list(id, after, limit);
  }

  /** Allowed to the author and to administrators, while no turn has taken the follow-up. */
  async rewrite(
    target: FollowUpTarget,
    viewer: Viewer,
    message: string,
    extras: TransactionExtras = {},
  ): Promise<FollowUpResult> {
    await this.authorOf(target, viewer);
    const evaluate = await this.#changer.evaluator(viewer, extras.from);
    const tools = await this.#changer.approvalToolsFor(target.runId, viewer, evaluate);
    let effect: Omit<FollowUpResult, "run"> = {};
    const run = await this.#changer.change(target.runId, viewer, (edit) => {
      const before = edit.waiting.find(({ id }) => id === target.followUpId);
      const verdict = evaluate(actionOfDelivery(before?.delivery), edit.run);
      requireAllowed(verdict);
      const rewrite = { message, editedBy: viewer.id, required: requiredApproval(verdict) };
      if (before !== undefined) {
        extras.checkBefore?.(before);
      }
      const followUp = decideRewrite(edit, target.followUpId, rewrite, tools);
      if (extras.from?.integration === undefined && !followUp.private) {
        edit.notices.post(changeNotice(viewer, "changed a message that waits", message));
      }
      effect = { followUpId: followUp.id, followUp };
      addExtras(edit, extras, effect);
    });
    return { run, ...effect };
  }

  /** Allowed like `rewrite`. The agent never receives the follow-up. */
  async withdraw(
    target: FollowUpTarget,
    viewer: Viewer,
    extras: TransactionExtras = {},
  ): Promise<FollowUpResult> {
    await this.authorOf(target, viewer);
    const run = await this.#changer.change(target.runId, viewer, (edit) => {
      const before = edit.waiting.find(({ id }) => id === target.followUpId);
      if (before !== undefined) {
        extras.checkBefore?.(before);
      }
      const followUp = decideWithdrawal(edit, target.followUpId, viewer.id);
      if (extras.from?.integration === undefined && !followUp.private) {
        edit.notices.post(changeNotice(viewer, "withdrew a message that waited", followUp.message));
      }
      addExtras(edit, extras);
    });
    return { run };
  }

  /**
   * An answer to a question is stored as a follow-up too, but it is no message of its own.
   */
  async get({ runId, followUpId }: FollowUpTarget, viewer: Viewer): Promise<FollowUp> {
    await this.#changer.get({ id: runId }, viewer);
    const followUp = await this.#deps.storage.followUps.find(runId, followUpId);
    if (followUp === undefined || followUp.isAnswer === true) {
      throw new AppError("resource_not_found", "There is no such follow-up.");
    }
    return followUp;
  }

  /** The author of a follow-up that the viewer may change. */
  async authorOf(target: FollowUpTarget, viewer: Viewer): Promise<PrincipalId> {
    const followUp = await this.get(target, viewer);
    if (followUp.authorId !== viewer.id && !viewer.administrator) {
      throw new AppError("not_authorized", "Only its author and administrators may change a follow-up.");
    }
    return followUp.authorId;
  }
}
