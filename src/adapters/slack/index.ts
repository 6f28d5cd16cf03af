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
import { gather } from "./gather.ts";
import { Ingest } from "./ingest.ts";
import { Installs } from "./installs.ts";
import { LinkPreviews } from "./link-previews.ts";
import { NotInstalled } from "./not-installed.ts";
import { PACE } from "./pace.ts";
import { isPublic } from "./provenance.ts";
import { Sessions } from "./sessions.ts";
import { slackSignIn } from "./sign-in.ts";
import { SocketMode } from "./socket-mode.ts";
import { StoredEvents } from "./stored-events.ts";
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

export function createSlackAdapter(config: SlackConfig, deps: SlackDeps): SlackAdapter {
  const { apiUrl, appToken, oauth, signingSecret } = config;
  const { clock, log } = deps;
  const installs = installsOf(config, deps);
  const workspaces = new Workspaces(config, { ...deps, ...defined({ tokens: installs }) });
  const arrivals = new WebhookArrivals();
  const ingest = createIngest(config, deps, { installs, workspaces });
  const receiver =
    signingSecret === undefined ? undefined : new FastifyReceiver({ arrivals, signingSecret, log });
  const client = appToken === undefined ? undefined : createClient({ apiUrl, botToken: appToken }, deps);
  const isEncrypted = new URL(apiUrl).protocol === "https:";
  const socketMode = client && new SocketMode({ log, clock, client, isEncrypted });
  receiver?.init(ingest);
  socketMode?.init(ingest);
  const fetch = deps.fetch ?? globalThis.fetch;
  const { installations } = deps;
  return {
    adapter: createThreadAdapter(config, deps, workspaces),
    checks: (facts) => slackChecks(config, { arrivals, facts, fetch, ingest, installations, installs }),
    ...defined({
      routes: receiver?.routes,
      socketMode,
      installer: installs,
      signIn: oauth ? slackSignIn({ apiUrl, oauth }, { ...deps, workspaces }) : undefined,
    }),
  };
}

/** Undefined: the app is installed in no other workspace than that of the configured token. */
function installsOf({ apiUrl, oauth }: SlackConfig, deps: SlackDeps): Installs | undefined {
  const { installations, secrets } = deps;
  return oauth === undefined || installations === undefined || secrets === undefined
    ? undefined
    : new Installs({ apiUrl, oauth }, { ...deps, installations, secrets });
}

function createThreadAdapter(config: SlackConfig, deps: SlackDeps, workspaces: Workspaces): ThreadAdapter {
  const of = (teamId: string) => workspaces.of({ teamId });
  const sessions = new Sessions(deps.clock);
  const events = new StoredEvents(config, { ...deps, workspaces });
  const linkTo: NonNullable<ThreadAdapter["permalinkOf"]> = async ({ installation, key }, receipt) => {
    const { teamId, workspaceUrl } = await (await of(installation)).bot();
    return permalinkOf(locationOf(parseReceipt(receipt), teamId, key), workspaceUrl);
  };
  return {
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
      return gather(message, purpose, { ...deps, apiUrl: config.apiUrl, workspace });
    },
    deliver: async (delivery) => {
      const { client, posts } = await of(delivery.thread.installation);
      const uploads = new Uploads({ ...deps, apiUrl: config.apiUrl, client, posts });
      return deliver(delivery, { client, posts, sessions, uploads, linkTo });
    },
    permalinkOf: linkTo,
  };
}

interface Connected {
  readonly installs: Installs | undefined;
  readonly workspaces: Workspaces;
}

/** What stores the requests of Slack, and answers those that cannot wait. */
function createIngest(config: SlackConfig, deps: SlackDeps, { installs, workspaces }: Connected): Ingest {
  const { apiUrl } = config;
  return new Ingest(config, {
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
}
