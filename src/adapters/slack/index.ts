import type { WebClientOptions } from "@slack/web-api";
import type { FastifyPluginAsync } from "fastify";
import type { Clock } from "../../core/basics/clock.ts";
import type { SecretBox } from "../../core/basics/crypto.ts";
import { defined } from "../../core/basics/defined.ts";
import type { Log } from "../../core/basics/log.ts";
import type { AdapterFacts } from "../../core/ports/adapter-facts.ts";
import type { AppInstaller } from "../../core/ports/app-installer.ts";
import type { Check } from "../../core/ports/check.ts";
import type { SignInProvider } from "../../core/ports/sign-in-provider.ts";
import type { AppInstallations } from "../../core/ports/stores/app-installations.ts";
import type { ReceivedEvent, ThreadAdapter } from "../../core/ports/thread-adapter.ts";
import type { ChoiceOption, ChoiceSearch } from "../../core/threads/inbox/environment-choice.ts";
import type { PersonViews } from "../../core/threads/inbox/person-views.ts";
import type { PrivateCommand } from "../../core/threads/inbox/private-commands.ts";
import { WebhookArrivals } from "../webhook-route.ts";
import { locationOf, parseReceipt, parseThreadKey, permalinkOf } from "./addresses.ts";
import { partsOf } from "./answer-parts.ts";
import { authorize } from "./authorize.ts";
import { workspaceOf } from "./bolt-app.ts";
import { menuOptions } from "./buttons.ts";
import { slackChecks } from "./checks.ts";
import { createClient } from "./client.ts";
import { directOf, privateCommandOf } from "./command.ts";
import type { SlackConfig } from "./config.ts";
import { deliver } from "./deliver.ts";
import { Ingest } from "./ingest.ts";
import { Installs } from "./installs.ts";
import { LinkPreviews } from "./link-previews.ts";
import { readFiles } from "./message-files.ts";
import { namesIn } from "./names.ts";
import { NotInstalled } from "./not-installed.ts";
import { PACE } from "./pace.ts";
import { isPublic } from "./provenance.ts";
import { Sessions } from "./sessions.ts";
import { slackSignIn } from "./sign-in.ts";
import { SocketMode } from "./socket-mode.ts";
import { StoredEvents } from "./stored-events.ts";
import { readThread, unreadThread } from "./thread-context.ts";
import { Uploads } from "./uploads.ts";
import { Views } from "./views.ts";
import { FastifyReceiver } from "./webhook.ts";
import { Workspaces } from "./workspaces.ts";

export { readSlackConfig, type SlackConfig } from "./config.ts";

export interface SlackDeps {
  /** Stores an event in the inbox; false if this delivery is already stored. */
  accept(event: ReceivedEvent): Promise<boolean>;
  /** The bytes of a file that a notice names. */
  readBlob(id: string): Promise<Uint8Array>;
  /** Answers a command to its author alone. */
  answerCommand(command: PrivateCommand): Promise<string>;
  /** The environments that a person may choose for a request. */
  searchChoices(search: ChoiceSearch): Promise<readonly ChoiceOption[]>;
  /** What one person sees outside of threads. */
  readonly views: Pick<PersonViews, "form" | "home" | "preview">;
  /** Where installations are kept that administrators make. */
  readonly installations?: AppInstallations;
  readonly secrets?: SecretBox;
  /** The address of this server. */
  readonly publicUrl?: () => string;
  readonly clock: Clock;
  readonly log: Log;
  /** Used for every call to Slack instead of the global one. */
  readonly fetch?: WebClientOptions["fetch"];
}

export interface SlackAdapter {
  readonly adapter: ThreadAdapter;
  /** Serves `POST /webhooks/slack`. Absent without a signing secret. */
  readonly routes?: FastifyPluginAsync;
  readonly socketMode?: SocketMode;
  readonly checks: (facts: AdapterFacts) => readonly Check[];
  readonly signIn?: SignInProvider;
  readonly installer?: AppInstaller;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: It connects the parts of the adapter, a line or two for each.
export function createSlackAdapter(config: SlackConfig, deps: SlackDeps): SlackAdapter {
  const { log } = deps;
  const { apiUrl, appToken, oauth, signingSecret } = config;
  const { installations, secrets } = deps;
  const installs =
    oauth === undefined || installations === undefined || secrets === undefined
      ? undefined
      : new Installs({ apiUrl, oauth }, { ...deps, installations, secrets });
  const workspaces = new Workspaces(config, { ...deps, ...defined({ tokens: installs }) });
  const of = (teamId: string) => workspaces.of({ teamId });
  const sessions = new Sessions(deps.clock);
  const events = new StoredEvents(config, { ...deps, workspaces });
  const linkTo: NonNullable<ThreadAdapter["permalinkOf"]> = async ({ installation, key }, receipt) => {
    const { teamId, workspaceUrl } = await (await of(installation)).bot();
    return permalinkOf(locationOf(parseReceipt(receipt), teamId, key), workspaceUrl);
  };
  const adapter: ThreadAdapter = {
    name: "slack",
    traits: {
      source: "SLACK",
      showsActivity: true,
      pace: PACE,
      writesOf: (notice) => (notice.kind === "message" ? partsOf(notice.text) : 1),
      containerOf: (key) => parseThreadKey(key).channel,
      asksForEnvironment: true,
      proposesChanges: true,
      isPublic,
      hasPrivateReplies: true,
      trigger: (installation) => workspaces.trigger(installation),
    },
    translate: (event) => events.translate(event),
    authorize: async (message) => authorize((await of(message.installation)).client, message),
    gather: async (message, purpose) => {
      const workspace = await of(message.installation);
      const { botToken, client } = workspace;
      if (purpose.isEdit === true) {
        return defined({ names: await namesIn(client, [message.text]) });
      }
      const thread = await readThread(client, await workspace.bot(), message, purpose).catch(
        (error: unknown) => unreadThread(error, log),
      );
      const { context, shownFiles = [] } = thread;
      const [{ files, unread }, names] = await Promise.all([
        readFiles([...(message.files ?? []), ...shownFiles], {
          ...deps,
          apiUrl: config.apiUrl,
          botToken,
          client,
        }),
        namesIn(client, [message.text, message.context ?? "", context ?? ""]),
      ]);
      return { ...defined({ context, names }), files, unread: [...(thread.unread ?? []), ...unread] };
    },
    deliver: async (delivery) => {
      const { client, posts } = await of(delivery.thread.installation);
      const uploads = new Uploads({ ...deps, apiUrl: config.apiUrl, client, posts });
      return deliver(delivery, { client, posts, sessions, uploads, linkTo });
    },
    permalinkOf: linkTo,
  };
  const arrivals = new WebhookArrivals();
  const ingest = new Ingest(config, {
    ...deps,
    answer: async (name, command) =>
      deps.answerCommand(await privateCommandOf(name, command, (await workspaces.of(command)).client)),
    openDirect: async (command) => directOf(command, (await workspaces.of(command)).client),
    trigger: ({ teamId }) => workspaces.trigger(teamId),
    learnTrigger: async (command) => (await workspaces.of(command)).bot(),
    notInstalled: new NotInstalled({
      ...deps,
      apiUrl,
      workspaces,
      installUrl: installs && (() => `${deps.publicUrl?.() ?? ""}/setup/slack/install`),
    }),
    optionsOf: async (request) => {
      const isInstalled = (await workspaces.find(workspaceOf(request))) !== undefined;
      return isInstalled ? menuOptions(request, deps.searchChoices) : [];
    },
    shown: new Views({ workspaces, views: deps.views }),
    linkPreviews: new LinkPreviews({ ...deps, workspaces }),
  });
  const receiver =
    signingSecret === undefined ? undefined : new FastifyReceiver({ arrivals, signingSecret, log });
  const socketMode =
    appToken === undefined
      ? undefined
      : new SocketMode({
          log,
          clock: deps.clock,
          client: createClient({ apiUrl, botToken: appToken }, deps),
          isEncrypted: new URL(apiUrl).protocol === "https:",
        });
  receiver?.init(ingest);
  socketMode?.init(ingest);
  return {
    adapter,
    checks: (facts) =>
      slackChecks(config, {
        ...{ arrivals, facts, ingest, installations, installs },
        fetch: deps.fetch ?? globalThis.fetch,
      }),
    ...defined({
      routes: receiver?.routes,
      socketMode,
      installer: installs,
      signIn: oauth ? slackSignIn({ apiUrl, oauth }, { ...deps, workspaces }) : undefined,
    }),
  };
}
