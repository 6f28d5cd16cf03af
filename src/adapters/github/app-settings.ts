import { defined } from "../../core/basics/defined.ts";
import { keysOf } from "../../core/basics/keys-of.ts";
import type {
  GuideLink,
  GuideStep,
  GuideWay,
  InstallationGuide,
} from "../../core/model/people/installation.ts";
import { isLoopbackUrl } from "../../core/upkeep/checks.ts";

import { webUrlOf } from "./config.ts";

/** What the App needs, and the guide that creates it. docs/guides/github.md has the same tables. */

interface Permission {
  readonly access: "read" | "write";
  /** The access without which something else than `optional` does not work. Default: all of it. */
  readonly required?: "read";
  readonly use: string;
  /** What the access adds to the required one. */
  readonly optional?: string;
}

/** The permissions of the App, by the names that the API gives them. */
export const APP_PERMISSIONS: Readonly<Record<string, Permission>> = {
  issues: { access: "write", use: "comments and reactions in issues and in pull requests" },
  pull_requests: { access: "write", use: "replies in review threads; opening pull requests" },
  contents: { access: "write", use: "cloning and skills of private repositories; pushing" },
  checks: {
    access: "write",
    required: "read",
    use: "failing checks of a pull request: context, and repair",
    optional: "runs as checks with buttons",
  },
  statuses: { access: "read", use: "the same for CI services that report commit statuses" },
  actions: { access: "read", use: "the ends of the logs of failing jobs, as context" },
  metadata: { access: "read", use: "checking at each message whether the author may write" },
};

const EVENT_USES = {
  issues: "a new issue that mentions the App",
  issue_comment: "comments on issues and pull requests",
  pull_request: "a new pull request that mentions the App, and each change of one of a run",
  pull_request_review: "reviews",
  pull_request_review_comment: "comments on lines of a pull request",
  check_suite: "checks of a pull request of a run",
  status: "commit statuses of a pull request of a run",
  push: "merge conflicts of a pull request of a run",
  repository: "repositories that are renamed, transferred or deleted",
};

export const APP_EVENTS = keysOf(EVENT_USES);

export interface GithubGuideOptions {
  readonly enabled: boolean;
  /** The address of the API. */
  readonly apiUrl: string;
}

export function githubGuide(publicUrl: string, { apiUrl, enabled }: GithubGuideOptions): InstallationGuide {
  const obstacle = hookObstacle(publicUrl, apiUrl);
  return {
    adapter: "github",
    title: "GitHub",
    enabled,
    ...defined({ create: enabled || obstacle ? undefined : creation(publicUrl) }),
    ways: [
      defined({
        title: "A GitHub App of your own",
        summary: `GitHub sends events to ${publicUrl}/webhooks/github. You choose the repositories.`,
        obstacle,
        steps: [createStep(publicUrl, apiUrl), ...FURTHER_STEPS],
      }),
    ],
    needs: [
      ...Object.entries(APP_PERMISSIONS).map(
        ([name, { access, optional, use }]) =>
          ({
            kind: "permission",
            name,
            access,
            use: optional ? `${use}; optional: ${optional}` : use,
          }) as const,
      ),
      ...Object.entries(EVENT_USES).map(([name, use]) => ({ kind: "event", name, use }) as const),
    ],
  };
}

const FURTHER_STEPS: GuideWay["steps"] = [
  {
    title: "Generate a private key",
    text: "On the App's page: Private keys → Generate a private key. The browser downloads a file. The command writes it in one line, for files that cannot hold line breaks.",
    snippets: [{ title: "Command for one line", text: "awk '{printf \"%s\\\\n\", $0}' *.private-key.pem" }],
  },
  {
    title: "Set the variables and restart Errand",
    text: "All processes of Errand need them: API processes receive events, and workers answer them. npm start takes them from the shell that starts it, and Docker Compose from the file .env.",
    variables: [
      { name: "GITHUB_APP_ID", source: "About → App ID, a number" },
      { name: "GITHUB_APP_PRIVATE_KEY", source: "the content of the downloaded file" },
      { name: "GITHUB_WEBHOOK_SECRET", source: "the webhook secret of the first step" },
    ],
  },
  {
    title: "Install the App",
    text: "On the App's page: Install App. Choose the account and its repositories. The first installation is enabled; enable each further one under Integrations.",
  },
  {
    title: "Try it",
    text: "Write a comment on an issue, with the App's name as it stands in the App's address. It answers with 👀 and a comment.",
    snippets: [{ title: "Comment", text: "@your-app say hello" }],
  },
  {
    title: "Let people sign in with GitHub (optional)",
    text: "People who may write to a repository of the App can then sign in to these pages.",
    variables: [
      { name: "GITHUB_CLIENT_ID", source: "About → Client ID" },
      { name: "GITHUB_CLIENT_SECRET", source: "Client secrets → Generate a new client secret" },
    ],
  },
];

/** Why an App of this server would get no events. */
export function hookObstacle(publicUrl: string, apiUrl: string): string | undefined {
  return isLoopbackUrl(publicUrl) && !isLoopbackUrl(apiUrl)
    ? `GitHub cannot reach ${publicUrl}. Set ERRAND_PUBLIC_URL to an address that it reaches, for example of a reverse proxy or a tunnel, and restart.`
    : undefined;
}

function creation(publicUrl: string): NonNullable<InstallationGuide["create"]> {
  return {
    url: `${publicUrl}/setup/github/create`,
    title: "Create the App",
    text: "GitHub asks for its name, by which people mention it. Errand then stores its keys, encrypted, and needs no variable and no restart by hand.",
    inputs: [
      { name: "organization", label: "Organization (empty: your own account)" },
      { name: "server", label: "Address of an Enterprise Server (empty: github.com)" },
    ],
  };
}

function createStep(publicUrl: string, apiUrl: string): GuideStep {
  return {
    title: "Create the App",
    text: "The form has the permissions, the events and the address already. Enter a name that is free on GitHub, because people mention the App by it, and a webhook secret that the command makes.",
    links: registrationLinks(publicUrl, apiUrl),
    snippets: [
      { title: "Webhook URL", text: `${publicUrl}/webhooks/github` },
      { title: "Command that makes a secret", text: "openssl rand -hex 32" },
    ],
  };
}

/** What the App of the server at this address is: https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest */
export function appManifest(publicUrl: string) {
  return {
    url: publicUrl,
    hook_attributes: { url: `${publicUrl}/webhooks/github`, active: true },
    callback_urls: [`${publicUrl}/signin/github/callback`],
    public: false,
    default_permissions: Object.fromEntries(
      Object.entries(APP_PERMISSIONS).map(([name, { access }]) => [name, access]),
    ),
    default_events: APP_EVENTS,
  };
}

/** https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-using-url-parameters */
function registrationLinks(publicUrl: string, apiUrl: string): readonly GuideLink[] {
  const manifest = appManifest(publicUrl);
  const parameters = new URLSearchParams({
    url: manifest.url,
    public: String(manifest.public),
    webhook_active: String(manifest.hook_attributes.active),
    webhook_url: manifest.hook_attributes.url,
    ...manifest.default_permissions,
  });
  for (const [name, values] of [
    ["callback_urls[]", manifest.callback_urls],
    ["events[]", manifest.default_events],
  ] as const) {
    for (const value of values) {
      parameters.append(name, value);
    }
  }
  const { origin } = webUrlOf(apiUrl);
  return [
    { title: "Create it for my account", url: `${origin}/settings/apps/new?${parameters}` },
    {
      title: "Create it for an organization",
      url: `${origin}/organizations/{input}/settings/apps/new?${parameters}`,
      input: "Organization",
    },
  ];
}
