import { randomBytes } from "node:crypto";
import { type EmulateCollection, type EmulatedService, startEmulateService } from "../emulate-service.ts";

export type RepoPermission = "admin" | "write" | "read" | "none";

export interface GithubUser {
  readonly id: number;
  readonly login: string;
  readonly type: "User" | "Bot";
  readonly token: string;
}

export interface GithubRepo {
  readonly id: number;
  readonly owner: string;
  readonly name: string;
  readonly fullName: string;
}

interface FixtureOptions {
  readonly private: boolean;
  readonly writesChecks: boolean;
}

interface StoredPullRequest {
  readonly node_id: string;
  readonly state: "closed" | "open";
  readonly draft: boolean;
  readonly number: number;
  readonly title: string;
  readonly head_ref: string;
}

interface StoredComment {
  readonly repo_id: number;
  readonly issue_number: number | null;
  readonly pull_number: number | null;
  readonly in_reply_to_id?: number | null;
  readonly path?: string | null;
  readonly body: string;
  readonly user_id: number;
}

interface StoredUser {
  readonly login: string;
  readonly name: string | null;
  readonly node_id: string;
  readonly type: "User" | "Bot";
  readonly site_admin: boolean;
}

interface StoredRepo {
  readonly full_name: string;
  readonly private: boolean;
}

interface StoredCollaborator {
  readonly repo_id: number;
  readonly user_id: number;
  readonly permission: "admin" | "push" | "pull";
}

export const GITHUB_APP = { id: 424_242, slug: "errand", installationId: 61_000_001, botUserId: 199_000_001 };
const GITHUB_LOGINS = ["olivia", "wendy", "rob", "sam", "helper[bot]"] as const;

const OWNER = "acme";
const REPO = "widgets";
const OTHER_BOT = "helper[bot]";
/** As large as on GitHub today, so that a 32-bit column fails a test. */
const FIRST_BIG_ID = 3_000_000_000;
/** Without the optional ones. */
const APP_PERMISSIONS = {
  actions: "read",
  checks: "read",
  contents: "write",
  issues: "write",
  metadata: "read",
  pull_requests: "write",
  statuses: "read",
};
const COLLABORATOR_LEVEL = { admin: "admin", write: "push", read: "pull" } as const;

/** The objects on the emulated GitHub, and changes of emulate's store that its REST API does not offer. */
export class GithubFixture {
  readonly baseUrl: string;
  readonly repo: GithubRepo;
  readonly webhookSecret: string;
  readonly privateKey: string;
  readonly service: EmulatedService;
  readonly #permissions = new Map<string, RepoPermission>();
  #revoked: ReadonlySet<string> = new Set();

  static async start(baseUrl: string, options: FixtureOptions): Promise<GithubFixture> {
    const webhookSecret = randomBytes(20).toString("hex");
    const seed = {
      tokens: Object.fromEntries(GITHUB_LOGINS.map((login) => [newToken(), { login, scopes: ["repo"] }])),
      github: githubSeed(webhookSecret, options),
    };
    const service = await startEmulateService("github", { baseUrl, seed });
    return new GithubFixture(baseUrl, service, webhookSecret);
  }

  private constructor(baseUrl: string, service: EmulatedService, webhookSecret: string) {
    this.baseUrl = baseUrl;
    this.service = service;
    this.webhookSecret = webhookSecret;
    const key = service.generatedSecrets.find((secret) => secret.kind === "github.app_private_key");
    if (!key) {
      throw new Error("emulate generated no private key for the App");
    }
    this.privateKey = key.value;
    const fullName = `${OWNER}/${REPO}`;
    const repo = this.#repos.all().find((row) => row.full_name === fullName);
    if (!repo) {
      throw new Error("emulate did not seed the repository");
    }
    this.repo = { id: repo.id, owner: OWNER, name: REPO, fullName };
    this.#correctSeed();
  }

  user(login: string): GithubUser {
    const { id, type } = this.#userRow(login);
    const token = [...this.service.tokens].find(
      ([, owner]) => owner.login === login && !owner.installation,
    )?.[0];
    if (!token) {
      throw new Error(`${login} has no token`);
    }
    return { id, login, type, token };
  }

  /** The login of a token; undefined when GitHub would answer 401. */
  loginOf(token: string): string | undefined {
    if (this.#revoked.has(token)) {
      return undefined;
    }
    const owner = this.service.tokens.get(token);
    return owner?.installation ? `${GITHUB_APP.slug}[bot]` : owner?.login;
  }

  /** Ends all tokens of installations, as an hour does. */
  revokeTokens(): void {
    const ofInstallations = [...this.service.tokens].filter(([, { installation }]) => installation);
    this.#revoked = new Set(ofInstallations.map(([token]) => token));
  }

  publicUser(login: string): Omit<StoredUser, "name"> & { readonly id: number } {
    const { id, node_id, type, site_admin } = this.#userRow(login);
    return { login, id, node_id, type, site_admin };
  }

  hasUser(login: string): boolean {
    return this.#users.all().some((row) => row.login === login);
  }

  findLogin(id: number): string | undefined {
    return this.#users.all().find((user) => user.id === id)?.login;
  }

  loginById(id: number): string {
    const row = this.#users.all().find((user) => user.id === id);
    if (!row) {
      throw new Error(`No user ${id}`);
    }
    return row.login;
  }

  comments(repoFullName: string, number: number): (StoredComment & { readonly id: number })[] {
    const repo = this.#repos.all().find((row) => row.full_name === repoFullName);
    const rows = this.#collection<StoredComment>("comments").all();
    return rows.filter(
      (row) => row.repo_id === repo?.id && (row.issue_number === number || row.pull_number === number),
    );
  }

  issueRow(number: number): { readonly id: number; readonly comments: number } {
    const rows = this.#collection<{ readonly number: number; readonly comments: number }>("issues").all();
    const row = rows.find((issue) => issue.number === number);
    if (!row) {
      throw new Error(`No issue ${number}`);
    }
    return row;
  }

  isPullRequest(number: number): boolean {
    return this.pullRequests().some((row) => row.number === number);
  }

  /** Oldest first. */
  pullRequests(): readonly StoredPullRequest[] {
    return this.#collection<StoredPullRequest>("pull_requests").all();
  }

  setDraft(number: number, draft: boolean): void {
    const rows = this.#collection<StoredPullRequest>("pull_requests");
    const row = rows.all().find((each) => each.number === number);
    rows.update(row?.id ?? 0, { draft });
  }

  setPermission(login: string, level: RepoPermission): void {
    const user = this.#userRow(login);
    this.#permissions.set(login, level);
    for (const row of this.#collaborators.all()) {
      if (row.user_id === user.id) {
        this.#collaborators.delete(row.id);
      }
    }
    if (level === "none") {
      return;
    }
    const permission = COLLABORATOR_LEVEL[level];
    this.#collaborators.insert({ repo_id: this.repo.id, user_id: user.id, permission });
  }

  /** Everyone may read a public repository. On a private one, a user without an entry has no permission. */
  permissionOf(login: string): RepoPermission {
    const given = this.#permissions.get(login);
    const isPrivate = this.#repos.all().some((row) => row.id === this.repo.id && row.private);
    return given ?? (isPrivate ? "none" : "read");
  }

  #correctSeed(): void {
    const [template] = this.#users.all();
    if (!template) {
      throw new Error("emulate seeded no users");
    }
    const app = { login: `${GITHUB_APP.slug}[bot]`, name: "Errand", type: "Bot" } as const;
    this.#users.insert({ ...template, ...app, id: GITHUB_APP.botUserId });
    this.#users.update(this.#userRow(OTHER_BOT).id, { type: "Bot" });
    for (const name of ["comments", "issues", "pull_requests"]) {
      const rows = this.#collection<object>(name);
      rows.delete(rows.insert({ id: FIRST_BIG_ID }).id);
    }
    this.setPermission("olivia", "admin");
    this.setPermission("wendy", "write");
    this.setPermission("rob", "read");
  }

  #userRow(login: string): StoredUser & { readonly id: number } {
    const row = this.#users.all().find((user) => user.login === login);
    if (!row) {
      throw new Error(`No user ${login}`);
    }
    return row;
  }

  get #users(): EmulateCollection<StoredUser> {
    return this.#collection("users");
  }

  get #repos(): EmulateCollection<StoredRepo> {
    return this.#collection("repos");
  }

  get #collaborators(): EmulateCollection<StoredCollaborator> {
    return this.#collection("collaborators");
  }

  #collection<Row>(name: string): EmulateCollection<Row> {
    return this.service.store.collection<Row>(`github.${name}`);
  }
}

function githubSeed(webhookSecret: string, options: FixtureOptions): object {
  return {
    users: GITHUB_LOGINS.map((login) => ({ login, name: login, email: `${login}@acme.example` })),
    orgs: [{ login: OWNER, members: [{ login: "olivia", role: "admin" }] }],
    repos: [{ owner: OWNER, name: REPO, private: options.private, auto_init: true }],
    apps: [
      {
        app_id: GITHUB_APP.id,
        slug: GITHUB_APP.slug,
        name: "Errand",
        permissions: { ...APP_PERMISSIONS, ...(options.writesChecks ? { checks: "write" } : {}) },
        events: [
          ...["issues", "issue_comment", "pull_request"],
          ...["pull_request_review", "pull_request_review_comment", "check_suite", "status", "push"],
          "repository",
        ],
        webhook_secret: webhookSecret,
        installations: [
          { installation_id: GITHUB_APP.installationId, account: OWNER, repository_selection: "all" },
        ],
      },
    ],
  };
}

function newToken(): string {
  return `ghp_${randomBytes(18).toString("hex")}`;
}
