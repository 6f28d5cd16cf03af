import type { ApiClient } from "../api-client.ts";
import { APIConnectionError, InternalServerError, RateLimitError } from "../errors.ts";
import { readStream, requestOptionsOf, type StreamOptions } from "../events/read-stream.ts";
import { RunStream } from "../events/run-stream.ts";
import type {
  ApprovalRequest,
  ArtifactItem,
  CancelRunsResponse,
  Conversation,
  CreateRunsResponse,
  CreateShareLinkRequest,
  DraftComment,
  GetRunConversationQuery,
  GetRunEventsQuery,
  GetRunQuery,
  HandoffAttachments,
  HarnessUsage,
  IssuedShareLink,
  LineComment,
  ListDraftCommentsResponse,
  ListRunFollowupsQuery,
  ListRunFollowupsResponse,
  ListRunsQuery,
  ListRunsResponse,
  ListRunWebhookDeliveriesQuery,
  ListShareLinksResponse,
  ListWebhookDeliveriesResponse,
  PermissionAnswerRequest,
  RunAgentRequest,
  RunAgentResponse,
  RunChanges,
  RunEvent,
  RunEventPage,
  RunFilter,
  RunFollowup,
  RunFollowupRequest,
  RunFollowupResponse,
  RunItem,
  RunOfBatch,
  RunReference,
  RunState,
  RunStateResponse,
  RunTimeline,
  RunUpdate,
  ShareLink,
  StreamReset,
  Success,
  UpdateRunFollowupRequest,
  WebhookDelivery,
} from "../generated/types.ts";
import { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions, withQuery } from "../http/request.ts";

/** Which live events of a run are read. */
export interface RunEventsQuery {
  /** The `seq` of the last event that you have. Default: 0, so that all events are read. */
  readonly after?: number | undefined;
  /** Begins with the last events, at most this many (500). Not together with `after`. */
  readonly tail?: number | undefined;
  /**
   * Whether the stream continues after the end of the run, because a follow-up may continue it. Such a stream ends only
   * by its `signal`.
   *
   * @default false
   */
  readonly follow?: boolean | undefined;
}

export interface WaitOptions extends StreamOptions {
  /**
   * Whether the wait also ends when the run is BLOCKED, because it waits for a person.
   *
   * @default false
   */
  readonly untilBlocked?: boolean | undefined;
}

/** The longest that a server waits. */
const WAIT_SECONDS = 50;
const WAIT_TIMEOUT_MS = 60_000;
/** A server that answers earlier about a run that works has not waited. */
const WAITED_MS = 1_000;

/** The stream of events is opened again and again after such errors. */
function undefinedIfTemporary(error: unknown): undefined {
  const isTemporary =
    error instanceof APIConnectionError ||
    error instanceof InternalServerError ||
    error instanceof RateLimitError;
  if (!isTemporary) {
    throw error;
  }
}

const ENDED: ReadonlySet<RunState> = new Set(["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"]);

/** Runs: what agents are asked to do. */
export class Runs {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /**
   * Starts a run.
   *
   * @example
   * const { run_id } = await client.runs.create({ prompt: "Mend the build", config: { repository: "acme/site" } });
   */
  create(body: RunAgentRequest, options?: RequestOptions): ApiPromise<RunAgentResponse> {
    return this.#client.post("/agent/runs", { ...options, body });
  }

  /**
   * Starts up to 50 runs. The results are in the order of the runs, and each has the new run or its own `error`.
   *
   * @example
   * const { results } = await client.runs.createMany([{ prompt: "Mend the build" }, { prompt: "Update the guide" }]);
   */
  createMany(runs: readonly RunOfBatch[], options?: RequestOptions): ApiPromise<CreateRunsResponse> {
    return this.#client.post("/agent/runs/batch", { ...options, body: { runs } });
  }

  /**
   * Gets a run.
   *
   * @example
   * // Answered when the run has ended or waits for a person, after 30 s at the latest.
   * const { state } = await client.runs.retrieve(run_id, { wait: 30 });
   */
  retrieve(
    runId: string,
    { fields, wait, ...options }: GetRunQuery & RequestOptions = {},
  ): ApiPromise<RunItem> {
    return this.#client.get(path`/agent/runs/${runId}`, withQuery({ fields, wait }, options));
  }

  /**
   * Lists runs, the last changed first.
   *
   * @example
   * for await (const run of client.runs.list({ state: ["FAILED", "ERROR"], created_after: "2026-03-01T00:00:00Z" })) {
   *   console.log(run.title, run.status_message?.message);
   * }
   */
  list(query: ListRunsQuery = {}, options?: RequestOptions): ListPromise<ListRunsResponse, RunItem> {
    return this.#client.list("/agent/runs", (page: ListRunsResponse) => page.runs, withQuery(query, options));
  }

  /** Finds the newest run that a message, an issue or a pull request started, or that made it. */
  findByReference(url: string, options?: RequestOptions): ApiPromise<RunReference> {
    return this.#client.get("/agent/run-by-external-reference", withQuery({ url }, options));
  }

  /** Changes the title or the metadata of a run. The metadata is replaced as a whole. */
  update(runId: string, body: RunUpdate, options?: RequestOptions): ApiPromise<RunItem> {
    return this.#client.patch(path`/agent/runs/${runId}`, { ...options, body });
  }

  /** Deletes an ended run with everything that it left: events, files, deliveries. */
  delete(runId: string, options?: RequestOptions): ApiPromise<void> {
    return this.#client.delete(path`/agent/runs/${runId}`, options);
  }

  /** Sends a message to the agent. An ended run continues with it. An open question may be answered by it. */
  followUp(
    runId: string,
    body: RunFollowupRequest,
    options?: RequestOptions,
  ): ApiPromise<RunFollowupResponse> {
    return this.#client.post(path`/agent/runs/${runId}/followups`, { ...options, body });
  }

  /** Lists the follow-ups of a run, the oldest first. */
  followUps(
    runId: string,
    query: ListRunFollowupsQuery = {},
    options?: RequestOptions,
  ): ListPromise<ListRunFollowupsResponse, RunFollowup> {
    const entriesOf = (page: ListRunFollowupsResponse) => page.followups;
    return this.#client.list(path`/agent/runs/${runId}/followups`, entriesOf, withQuery(query, options));
  }

  /** Gets a follow-up. */
  retrieveFollowUp(runId: string, followUpId: string, options?: RequestOptions): ApiPromise<RunFollowup> {
    return this.#client.get(path`/agent/runs/${runId}/followups/${followUpId}`, options);
  }

  /** Changes the text of a follow-up that the agent has not received yet. */
  updateFollowUp(
    runId: string,
    followUpId: string,
    body: UpdateRunFollowupRequest,
    options?: RequestOptions,
  ): ApiPromise<RunFollowup> {
    return this.#client.patch(path`/agent/runs/${runId}/followups/${followUpId}`, { ...options, body });
  }

  /** Withdraws a follow-up that the agent has not received yet. */
  withdrawFollowUp(runId: string, followUpId: string, options?: RequestOptions): ApiPromise<void> {
    return this.#client.delete(path`/agent/runs/${runId}/followups/${followUpId}`, options);
  }

  /** Ends the current turn, but not the run: it waits for the next follow-up. */
  interrupt(runId: string, options?: RequestOptions): ApiPromise<Record<string, never>> {
    return this.#client.post(path`/agent/runs/${runId}/interrupt`, options);
  }

  /** Cancels a run that has not ended. The result is its id. */
  cancel(runId: string, options?: RequestOptions): ApiPromise<string> {
    return this.#client.post(path`/agent/runs/${runId}/cancel`, options);
  }

  /** Cancels up to 100 runs. The result says for each what happened. */
  cancelMany(runIds: readonly string[], options?: RequestOptions): ApiPromise<CancelRunsResponse> {
    return this.#client.post("/agent/runs/cancel", { ...options, body: { run_ids: runIds } });
  }

  /**
   * Cancels the runs that a filter matches and that have not ended. If their number differs by more than a tenth from
   * `expected`, nothing is cancelled and a `ConflictError` says the number.
   *
   * @example
   * await client.runs.cancelMatching({ state: ["QUEUED"], metadata: { ticket: "OPS-17" } }, 12);
   */
  cancelMatching(
    filter: RunFilter,
    expected: number,
    options?: RequestOptions,
  ): ApiPromise<CancelRunsResponse> {
    return this.#client.post("/agent/runs/cancel", { ...options, body: { filter, expected } });
  }

  /** Starts a new run with the prompt and the resolved configuration of this one. */
  retry(runId: string, options?: RequestOptions): ApiPromise<RunAgentResponse> {
    return this.#client.post(path`/agent/runs/${runId}/retry`, options);
  }

  /**
   * Yields the events of a run live, from the first one to the end of the run. A broken connection is opened again,
   * and no event is lost or repeated. If the server no longer knows the position, an event with the `kind` `reset` is
   * yielded, and then all events from the first one.
   *
   * @example for await (const event of client.runs.events(id)) { if (event.kind === "agent.message") {
   * console.log(event.text); } }
   */
  events(
    runId: string,
    { after, tail, follow }: RunEventsQuery = {},
    options: StreamOptions = {},
  ): AsyncGenerator<RunEvent | StreamReset, void, undefined> {
    return readStream(this.#client, {
      path: path`/agent/runs/${runId}/events`,
      options: { ...options, query: { after, tail, follow, ...options.query } },
      isComplete: (event: RunEvent | StreamReset) => (follow === true ? false : endsRun(event)),
      askIfOver: async () =>
        follow !== true && ENDED.has((await this.retrieve(runId, requestOptionsOf(options))).state),
    });
  }

  /** Gets a page of the stored events of a run. At most one of `after`, `before` and `tail` is allowed. */
  storedEvents(
    runId: string,
    query: Omit<GetRunEventsQuery, "follow"> = {},
    options?: RequestOptions,
  ): ApiPromise<RunEventPage> {
    return this.#client.get(path`/agent/runs/${runId}/events`, withQuery(query, options));
  }

  /**
   * Reads the events of a run live and calls listeners for what the agent writes, its tool calls, its questions and the
   * states of the run.
   */
  stream(runId: string, query: RunEventsQuery = {}, options: StreamOptions = {}): RunStream {
    return new RunStream({
      open: (stop) => {
        const signal = options.signal ? AbortSignal.any([options.signal, stop]) : stop;
        return this.events(runId, query, { ...options, signal });
      },
      retrieve: () => this.retrieve(runId, requestOptionsOf(options)),
    });
  }

  /**
   * Waits until the run has ended, and returns it. The server answers as soon as it has. With a server that cannot wait,
   * and while the run is BLOCKED, this follows the events of the run. To limit the wait, pass `signal: AbortSignal.timeout(…)`.
   */
  async waitForCompletion(
    runId: string,
    { untilBlocked = false, ...options }: WaitOptions = {},
  ): Promise<RunItem> {
    const common = requestOptionsOf(options);
    // Read first, so that no change between the two requests is missed.
    const { next_after } = await this.storedEvents(runId, { tail: 1 }, common);
    const isDone = (state: RunState) => ENDED.has(state) || (untilBlocked && state === "BLOCKED");
    const run = await this.#waited(runId, isDone, common);
    if (run !== undefined) {
      return run;
    }
    for await (const event of this.events(runId, { after: next_after }, options)) {
      if (event.kind === "run.state" && isDone(event.to)) {
        break;
      }
    }
    return this.retrieve(runId, common);
  }

  /** Asks the server to wait. Undefined: it does not, or not for this, or it cannot be reached now. */
  async #waited(
    runId: string,
    isDone: (state: RunState) => boolean,
    options: RequestOptions,
  ): Promise<RunItem | undefined> {
    const { clock } = this.#client.sender;
    const wait = { wait: WAIT_SECONDS, timeoutMs: WAIT_TIMEOUT_MS, maxRetries: 0 };
    for (;;) {
      const began = clock.now();
      const run = await this.retrieve(runId, { ...options, ...wait }).catch(undefinedIfTemporary);
      if (run === undefined || isDone(run.state)) {
        return run;
      }
      if (run.state === "BLOCKED" || clock.now() - began < WAITED_MS) {
        return undefined;
      }
    }
  }

  /** Gets what was said and done in the run, as steps with messages. */
  conversation(
    runId: string,
    query: GetRunConversationQuery = {},
    options?: RequestOptions,
  ): ApiPromise<Conversation> {
    return this.#client.get(path`/agent/runs/${runId}/conversation`, withQuery(query, options));
  }

  /** Gets the main events of the run, in the format of other clients of this API. */
  timeline(runId: string, options?: RequestOptions): ApiPromise<RunTimeline> {
    return this.#client.get(path`/agent/runs/${runId}/timeline`, options);
  }

  /** Gets the tokens that Claude Code or Codex reported, in the format of other clients of this API. */
  harnessUsage(runId: string, options?: RequestOptions): ApiPromise<HarnessUsage> {
    return this.#client.get(path`/agent/runs/${runId}/harness-usage`, options);
  }

  /** Downloads the event log of the run: one JSON object per line. */
  transcript(runId: string, options?: RequestOptions): Promise<Response> {
    return this.#client.get(path`/agent/runs/${runId}/transcript`, options).asResponse();
  }

  /** Gets the repositories and files that the last turn changed. */
  changes(runId: string, options?: RequestOptions): ApiPromise<RunChanges> {
    return this.#client.get(path`/agent/runs/${runId}/changes`, options);
  }

  /** Gets the artifacts of the run, the oldest first. */
  artifacts(runId: string, options?: RequestOptions): ApiPromise<readonly ArtifactItem[]> {
    const request = { ...options, method: "GET", path: path`/agent/runs/${runId}` } as const;
    return new ApiPromise(
      (readsBody) => this.#client.sender.send(request, readsBody),
      ({ body }) => (body as RunItem).artifacts ?? [],
    );
  }

  /** Lists the patch and the files that the last ended turn left for those who continue its work. */
  handoffAttachments(runId: string, options?: RequestOptions): ApiPromise<HandoffAttachments> {
    return this.#client.get(path`/agent/runs/${runId}/handoff/attachments`, options);
  }

  /**
   * Approves or refuses what waits for an approval. `inputs_hash` is that of the approval which you have read: if the
   * inputs have changed since then, a `ConflictError` is thrown.
   */
  approve(runId: string, body: ApprovalRequest, options?: RequestOptions): ApiPromise<RunStateResponse> {
    return this.#client.post(path`/agent/runs/${runId}/approval`, { ...options, body });
  }

  /** Answers a question of the agent by choosing one of its options. */
  answer(
    runId: string,
    permissionId: string,
    body: PermissionAnswerRequest,
    options?: RequestOptions,
  ): ApiPromise<RunStateResponse> {
    return this.#client.post(path`/agent/runs/${runId}/permissions/${permissionId}`, { ...options, body });
  }

  /** Lists your comments on the changes of the run that are not sent. A follow-up sends them. */
  draftComments(
    runId: string,
    options?: RequestOptions,
  ): ListPromise<ListDraftCommentsResponse, DraftComment> {
    const entriesOf = (page: ListDraftCommentsResponse) => page.draft_comments;
    return this.#client.list(path`/agent/runs/${runId}/draft-comments`, entriesOf, options);
  }

  /** Keeps a comment under an id of your choice, a UUID, or replaces the one with this id. */
  putDraftComment(
    runId: string,
    draftId: string,
    body: LineComment,
    options?: RequestOptions,
  ): ApiPromise<DraftComment> {
    return this.#client.put(path`/agent/runs/${runId}/draft-comments/${draftId}`, { ...options, body });
  }

  /** Deletes a comment that is not sent. */
  deleteDraftComment(runId: string, draftId: string, options?: RequestOptions): ApiPromise<void> {
    return this.#client.delete(path`/agent/runs/${runId}/draft-comments/${draftId}`, options);
  }

  /** Creates a link that shows the run to everyone who has it. Only this response contains its address. */
  share(
    runId: string,
    body: CreateShareLinkRequest = {},
    options?: RequestOptions,
  ): ApiPromise<IssuedShareLink> {
    return this.#client.post(path`/agent/runs/${runId}/share-links`, { ...options, body });
  }

  /** Lists the links that show the run. */
  shareLinks(runId: string, options?: RequestOptions): ListPromise<ListShareLinksResponse, ShareLink> {
    const entriesOf = (page: ListShareLinksResponse) => page.share_links;
    return this.#client.list(path`/agent/runs/${runId}/share-links`, entriesOf, options);
  }

  /** Deletes a link. It no longer shows the run. */
  unshare(runId: string, linkId: string, options?: RequestOptions): ApiPromise<Success> {
    return this.#client.delete(path`/agent/runs/${runId}/share-links/${linkId}`, options);
  }

  /** Lists the messages to the webhook that the run was created with, the newest first. */
  webhookDeliveries(
    runId: string,
    query: ListRunWebhookDeliveriesQuery = {},
    options?: RequestOptions,
  ): ListPromise<ListWebhookDeliveriesResponse, WebhookDelivery> {
    const entriesOf = (page: ListWebhookDeliveriesResponse) => page.deliveries;
    return this.#client.list(
      path`/agent/runs/${runId}/webhook-deliveries`,
      entriesOf,
      withQuery(query, options),
    );
  }

  /** Sends a message to the webhook of the run again. */
  replayWebhookDelivery(
    runId: string,
    deliveryId: string,
    options?: RequestOptions,
  ): ApiPromise<WebhookDelivery> {
    return this.#client.post(path`/agent/runs/${runId}/webhook-deliveries/${deliveryId}/replay`, options);
  }
}

/** Returns undefined if the event says nothing about it. */
function endsRun(event: RunEvent | StreamReset): boolean | undefined {
  return event.kind === "run.state" ? ENDED.has(event.to) : undefined;
}
