import { z } from "zod";
import type { RunId } from "../core/basics/ids.ts";
import { type CheckCounts, PULL_REQUEST_STATES } from "../core/model/repositories/pull-request-status.ts";
import type { ReviewFinding } from "../core/model/runs/review.ts";
import { RUN_STATES } from "../core/model/runs/states.ts";
import {
  type AnswerPart,
  type AskedQuestion,
  type CardApproval,
  type CardPullRequestStatus,
  type CardQuestion,
  type CardWorkspace,
  type LandedWork,
  type Notice,
  type RunCard,
  type RunCheck,
  type ShownReview,
  TURN_OUTCOMES,
  type UnpushedWork,
} from "../core/model/threads/notice.ts";
import {
  count,
  type MembersOf,
  OTHER_MEMBERS,
  PERMISSION_OPTIONS,
  PLAN_STEPS,
  text,
  texts,
} from "./json-columns.ts";

const flag = z.exactOptional(z.boolean());
const runId = z.custom<RunId>((value) => typeof value === "string");

/** The schema of the JSON column with a notice, loose like those in `json-columns.ts`. */
export const NOTICE: z.ZodType<Notice> = z.discriminatedUnion("kind", [
  z.looseObject({ kind: z.literal("seen"), messageRef: z.string() }),
  z.looseObject({
    kind: z.literal("ended"),
    messageRef: z.string(),
    end: z.enum(TURN_OUTCOMES),
    isIncomplete: flag,
    isThanks: flag,
  }),
  z.looseObject({
    kind: z.literal("card"),
    card: z.looseObject({
      runId,
      title: z.string(),
      state: z.enum(RUN_STATES),
      shortfall: text,
      turn: z.number(),
      sessionLink: z.string(),
      message: text,
      workspace: z.exactOptional(
        z.looseObject({
          environment: text,
          repositories: texts,
          reason: text,
          changes: z.exactOptional(z.enum(["draft", "ready"])),
          environmentsLink: text,
        } satisfies MembersOf<CardWorkspace>),
      ),
      plan: z.exactOptional(PLAN_STEPS),
      step: text,
      elapsedSeconds: count,
      pullRequest: text,
      pullRequestStatus: z.exactOptional(
        z.looseObject({
          state: z.enum(PULL_REQUEST_STATES),
          checks: z.looseObject({
            total: z.number(),
            passed: z.number(),
            failed: z.number(),
          } satisfies MembersOf<CheckCounts>),
        } satisfies MembersOf<CardPullRequestStatus>),
      ),
      costUsd: count,
      question: z.exactOptional(
        z.looseObject({
          permissionId: z.string(),
          title: z.string(),
          text,
          options: PERMISSION_OPTIONS,
          isOnlyOnPage: z.exactOptional(z.boolean()),
        } satisfies MembersOf<CardQuestion>),
      ),
      isPaused: flag,
      approval: z.exactOptional(
        z.looseObject({
          isFollowUp: z.boolean(),
          text,
          inputsHash: text,
        } satisfies MembersOf<CardApproval>),
      ),
    } satisfies MembersOf<RunCard>),
  }),
  z.looseObject({
    kind: z.literal("check"),
    check: z.looseObject({
      runId,
      state: z.enum(RUN_STATES),
      shortfall: text,
      message: text,
      sessionLink: z.string(),
      isUnapproved: flag,
      isPaused: flag,
      findings: count,
      canRepair: flag,
    } satisfies MembersOf<RunCheck>),
  }),
  z.looseObject({
    kind: z.literal("choice"),
    requestId: z.string(),
    text: z.string(),
    options: z.array(z.looseObject({ id: z.string(), name: z.string() })),
  }),
  z.looseObject({
    kind: z.literal("message"),
    purpose: z.enum(["answer", "outcome", "question", "reply"]),
    text: z.string(),
    sessionLink: text,
    requester: z.exactOptional(OTHER_MEMBERS),
    inReplyTo: text,
    parts: z.exactOptional(
      z.array(
        z.looseObject({
          inReplyTo: z.string(),
          text,
          doneIn: z.exactOptional(texts),
        } satisfies MembersOf<AnswerPart>),
      ),
    ),
    unpushed: z.exactOptional(
      z.looseObject({ words: z.string(), patch: text, base: text } satisfies MembersOf<UnpushedWork>),
    ),
    landed: z.exactOptional(
      z.array(
        z.looseObject({
          repository: z.string(),
          pullRequest: text,
          isDraft: flag,
          files: z.number(),
          additions: z.number(),
          deletions: z.number(),
          isTruncated: flag,
        } satisfies MembersOf<LandedWork>),
      ),
    ),
    review: z.exactOptional(
      z.looseObject({
        commit: text,
        isAsked: flag,
        findings: z.array(
          z.looseObject({
            id: z.string(),
            path: z.string(),
            line: count,
            startLine: count,
            title: z.string(),
            body: z.string(),
            suggestion: text,
          } satisfies MembersOf<ReviewFinding>),
        ),
      } satisfies MembersOf<ShownReview>),
    ),
    offersPullRequest: z.exactOptional(runId),
    offersFiles: z.exactOptional(z.looseObject({ runId, turn: z.number() })),
    takesRating: z.exactOptional(z.looseObject({ runId, turn: z.number() })),
    attached: z.exactOptional(
      z.looseObject({
        runId,
        turn: z.number(),
        files: z.array(z.looseObject({ name: z.string(), sizeBytes: z.number(), blobId: z.string() })),
      }),
    ),
    asks: z.exactOptional(
      z.looseObject({
        runId,
        permissionId: z.string(),
        options: PERMISSION_OPTIONS,
      } satisfies MembersOf<AskedQuestion>),
    ),
    onlyFor: text,
  }),
]);
