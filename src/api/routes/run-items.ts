import type { FastifyRequest } from "fastify";
import type { RunId } from "../../core/basics/ids.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import type { SignInMethod } from "../../core/model/people/sign-in.ts";
import type { RequestOrigin } from "../../core/model/policies/request-origin.ts";
import type { ListedRun, Run } from "../../core/model/runs/run.ts";
import { type Deciders, waitsForDecision } from "../../core/requests/deciders.ts";
import { findResult } from "../../core/requests/run-result.ts";
import { findSubmittedPrompt } from "../../core/requests/submitted-prompt.ts";
import { type WaitingFor, waitingFor, withPlace } from "../../core/upkeep/waiting-for.ts";
import type { ApiDeps } from "../api-deps.ts";
import { signInMethodOf, viewerOf } from "../auth/authentication.ts";
import { sourceOf } from "../http/request-source.ts";
import { type RunItem, type RunItemContext, runItemOf } from "../schemas/run-item.ts";

type RunItemDeps = Pick<
  ApiDeps,
  "capacity" | "clock" | "principals" | "pullRequests" | "runs" | "standing" | "storage"
>;
type ContextOf = (run: ListedRun) => RunItemContext;

/** Who reads, and from where. */
export interface Reader {
  readonly viewer: Viewer;
  readonly from: RequestOrigin;
  readonly signInMethod?: SignInMethod | undefined;
}

export function readerOf(request: FastifyRequest): Reader {
  const signInMethod = signInMethodOf(request);
  return { viewer: viewerOf(request), from: { source: sourceOf(request) }, signInMethod };
}

/** Converts the runs of a list to the format of the API, without the results, which can be long. */
export async function runItemsOf(
  deps: RunItemDeps,
  runs: readonly ListedRun[],
  reader: Reader,
): Promise<RunItem[]> {
  const contextOf = await contextsOf(deps, runs, reader);
  return runs.map((run) => runItemOf(run, { ...contextOf(run), isList: true }));
}

/** One run is looked at, so the platform is asked about its pull request. A list would ask about all of its runs. */
export async function runItem(deps: RunItemDeps, run: Run, reader: Reader): Promise<RunItem> {
  deps.pullRequests.refresh(run);
  const [contextOf, result, submittedPrompt] = await Promise.all([
    contextsOf(deps, [run], reader),
    findResult(deps.storage.runs, run),
    findSubmittedPrompt(deps.storage.followUps, run),
  ]);
  const context = contextOf(run);
  const deciders = await decidersHere(deps, run, reader, context.deciders);
  const waitingFor = await withPosition(deps, run, context.waitingFor);
  return runItemOf(run, { ...context, deciders, result, submittedPrompt, waitingFor });
}

async function withPosition(
  { storage }: RunItemDeps,
  { id, lease, state }: Run,
  waiting: WaitingFor | undefined,
): Promise<WaitingFor | undefined> {
  if (waiting === undefined || state !== "QUEUED" || lease !== undefined) {
    return waiting;
  }
  const position = await storage.claims.positionOf(id);
  return position === undefined ? waiting : withPlace(waiting, position);
}

/** A person may approve here what that person may approve in a thread of the run. The platform is asked about one run only. */
async function decidersHere(
  { principals, runs, standing }: RunItemDeps,
  run: Run,
  { signInMethod, viewer }: Reader,
  known: Deciders | undefined,
): Promise<Deciders | undefined> {
  if (known === undefined || known.mayDecide || run.permission !== undefined) {
    return known;
  }
  for (const from of await standing.find(run.id, viewer, signInMethod).catch(() => [])) {
    const decidersOf = await runs.deciders(viewer, from, (teamId) => principals.listTeam(teamId));
    const there = await decidersOf(run);
    if (there.mayDecide) {
      return there;
    }
  }
  return known;
}

/** Reads the principals, the artifacts and the capacity for all runs at once. */
async function contextsOf(
  deps: RunItemDeps,
  shown: readonly ListedRun[],
  reader: Reader,
): Promise<ContextOf> {
  const { capacity, clock, principals, runs, storage } = deps;
  const ids = shown.flatMap(({ creatorId, executorId = creatorId }) => [creatorId, executorId]);
  const people = await principals.getMany(new Set(ids));
  const idsWithArtifacts = shown
    .filter(({ artifactTypes }) => artifactTypes !== undefined)
    .map(({ id }) => id);
  const artifactsByRun = Map.groupBy(await storage.files.artifactsOf(idsWithArtifacts), ({ runId }) => runId);
  const isQueued = shown.some(({ state }) => state === "QUEUED");
  const availabilityOf = isQueued ? await capacity.look() : () => undefined;
  const decidersByRun = await readDeciders(deps, shown, reader);
  const now = clock.now();
  return (run) => ({
    creator: people.get(run.creatorId),
    executor: people.get(run.executorId ?? run.creatorId),
    waitingFor: waitingFor(run, availabilityOf(run), now),
    deciders: decidersByRun.get(run.id),
    sessionLink: runs.sessionLink(run),
    artifacts: artifactsByRun.get(run.id) ?? [],
    now,
  });
}

/** Guests are not told what their run waits for. */
async function readDeciders(
  { principals, runs }: RunItemDeps,
  shown: readonly ListedRun[],
  { from, viewer }: Reader,
): Promise<ReadonlyMap<RunId, Deciders>> {
  const waiting = shown.filter(waitsForDecision);
  if (waiting.length === 0 || viewer.onlyRunId !== undefined) {
    return new Map();
  }
  const decidersOf = await runs.deciders(viewer, from, (teamId) => principals.listTeam(teamId));
  return new Map(await Promise.all(waiting.map(async (run) => [run.id, await decidersOf(run)] as const)));
}
