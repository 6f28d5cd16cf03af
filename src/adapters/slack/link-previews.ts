import type { types } from "@slack/bolt";
import type { ChatUnfurlArguments, WebClient } from "@slack/web-api";
import { z } from "zod";
import { AppError, Misconfigured } from "../../core/basics/errors.ts";
import { parseId, parseRunId } from "../../core/basics/ids.ts";
import type { RunKey } from "../../core/ports/stores/run-store.ts";
import type { PersonViews, RunPreview } from "../../core/threads/inbox/person-views.ts";
import { pullRequestWords, stateWords } from "../card-words.ts";
import { context, link, mrkdwnSection } from "./blocks.ts";
import { workspaceOf } from "./bolt-app.ts";
import { callSlack } from "./client.ts";
import { privateRequestOf } from "./command.ts";
import { defuseLine, defuseMrkdwn } from "./defuse.ts";
import type { Workspaces } from "./workspaces.ts";

const MAX_LINKS = 5;
const MAX_TITLE = 200;
const MAX_FACTS = 500;

const sharedSchema = z.object({
  team_id: z.string(),
  is_ext_shared_channel: z.boolean().optional(),
  event: z.object({
    channel: z.string(),
    user: z.string(),
    message_ts: z.string(),
    source: z.string().optional(),
    links: z.array(z.object({ url: z.string() })),
  }),
});

export interface LinkPreviewsDeps {
  readonly workspaces: Pick<Workspaces, "of">;
  readonly views: Pick<PersonViews, "preview">;
  /** The address of this server. */
  readonly publicUrl?: () => string;
}

/**
 * Previews of the addresses of runs: https://docs.slack.dev/messaging/unfurling-links-in-messages. All readers of the
 * conversation see them, so there is none of a run that only some members of the team may see, none in a channel with
 * another organization, and none while the message is written, when the channel is not known.
 */
export class LinkPreviews {
  readonly #deps: LinkPreviewsDeps;

  constructor(deps: LinkPreviewsDeps) {
    this.#deps = deps;
  }

  async show(body: unknown): Promise<void> {
    const { event, is_ext_shared_channel: isShared, team_id: teamId } = sharedSchema.parse(body);
    const { channel, links, message_ts: ts, source, user: userId } = event;
    const keys = this.#keysOf(links.map(({ url }) => url));
    if (keys.size === 0 || isShared === true || source === "composer") {
      return;
    }
    const workspace = await this.#deps.workspaces.of(workspaceOf(body));
    if (userId === (await workspace.bot()).userId) {
      return;
    }
    const { client } = workspace;
    const request = await privateRequestOf({ teamId, userId, channel }, client);
    const previews: [string, RunPreview][] = [];
    for (const [url, key] of keys) {
      const preview = await this.#deps.views.preview(request, key);
      if (preview !== undefined) {
        previews.push([url, preview]);
      }
    }
    if (previews.length > 0) {
      await unfurl(client, { channel, ts }, previews);
    }
  }

  /** The runs that the addresses lead to. */
  #keysOf(urls: readonly string[]): ReadonlyMap<string, RunKey> {
    const origin = this.#deps.publicUrl?.();
    const found = urls.flatMap((url) => {
      const key =
        origin !== undefined && url.startsWith(`${origin}/`) ? keyOf(url.slice(origin.length)) : undefined;
      return key === undefined ? [] : [[url, key] as const];
    });
    return new Map(found.slice(0, MAX_LINKS));
  }
}

function keyOf(path: string): RunKey | undefined {
  const [, page, name = ""] = /^\/(runs|sessions)\/([\w-]+)(?:[/?#]|$)/.exec(path) ?? [];
  const [runId, sessionId] = [parseRunId(name), parseId(name)];
  if (page === "runs") {
    return runId && { id: runId };
  }
  return page === "sessions" && sessionId !== undefined ? { sessionId } : undefined;
}

/** As Work Objects, with blocks for an app that has not switched them on. */
async function unfurl(
  client: WebClient,
  message: { readonly channel: string; readonly ts: string },
  previews: readonly (readonly [url: string, preview: RunPreview])[],
): Promise<void> {
  const call = (args: ChatUnfurlArguments) => callSlack("chat.unfurl", client.chat.unfurl(args));
  const unfurls: types.LinkUnfurls = Object.fromEntries(
    previews.map(([url, preview]) => [url, { blocks: blocksOf(preview) }]),
  );
  const entities = previews.map(([url, preview]) => entityOf(url, preview));
  try {
    await call({ ...message, unfurls, metadata: { entities } });
  } catch (error) {
    if (!(error instanceof AppError) || error.retryable || error instanceof Misconfigured) {
      throw error;
    }
    await call({ ...message, unfurls });
  }
}

function factsOf(preview: RunPreview): { readonly state: string; readonly repositories: string } {
  const repositories = preview.workspace?.repositories ?? [];
  return { state: stateWords(preview), repositories: repositories.join(", ") };
}

function blocksOf(preview: RunPreview) {
  const { pullRequest, sessionLink, title } = preview;
  const { repositories, state } = factsOf(preview);
  const facts = defuseMrkdwn([state, repositories].filter(Boolean).join(" · "), MAX_FACTS);
  const pull =
    pullRequest === undefined ? [] : [link(pullRequest, "Pull request"), ...pullRequestWords(preview)];
  return [
    mrkdwnSection(`*${link(sessionLink, defuseMrkdwn(title.replace(/[\s|]+/g, " "), MAX_TITLE))}*`),
    context([facts, ...pull].join(" · ")),
  ];
}

/** https://docs.slack.dev/messaging/work-objects-implementation */
function entityOf(url: string, preview: RunPreview): types.EntityMetadata {
  const { pullRequest, runId, sessionLink, title } = preview;
  const { repositories, state } = factsOf(preview);
  const repository = { key: "repository", label: "Repository", type: "string", value: repositories };
  const pull = { key: "pull_request", label: "Pull request", type: "slack#/types/link" };
  const attributes = {
    title: { text: defuseLine(title, MAX_TITLE) },
    display_type: "Run",
    product_name: "Errand",
  };
  return {
    entity_type: "slack#/entities/task",
    external_ref: { id: runId, type: "run" },
    url: sessionLink,
    app_unfurl_url: url,
    entity_payload: {
      attributes,
      fields: { status: { value: state } },
      custom_fields: [
        ...(repositories === "" ? [] : [repository]),
        ...(pullRequest === undefined ? [] : [{ ...pull, value: pullRequest }]),
      ],
    },
  };
}
