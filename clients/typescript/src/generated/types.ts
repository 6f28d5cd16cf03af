// Written by `npm run client:types` from docs/openapi.json. Do not edit.

/**
 * A file of the request.
 */
export type RunApprovalAttachment = {
    /**
     * The name that the caller gave.
     */
    name: string;
    /**
     * The SHA-256 of the content, in hexadecimal digits.
     */
    sha256: string;
};

/**
 * Words for the agent. The request of a run has its prompt first, then the text around it, the base prompt and the instructions of its skills, as far as it has them.
 */
export type RunApprovalItem = {
    /**
     * The follow-up. Absent for a part of the request of the run.
     */
    followup_id?: string;
    /**
     * The words as the agent gets them.
     */
    text: string;
    /**
     * The files. Only the request of a run has any.
     */
    attachments: Array<RunApprovalAttachment>;
};

/**
 * An entry of `RunExecutedConfigRepositories`.
 */
export type RunExecutedConfigRepository = {
    /**
     * `owner/name`
     */
    repository: string;
    /**
     * What is checked out. Absent: the default branch.
     */
    ref?: string;
};

/**
 * An entry of `RunExecutedConfigMcpServers`.
 */
export type RunExecutedConfigMcpServer = {
    /**
     * The program.
     */
    command?: string;
    /**
     * Its arguments.
     */
    args?: Array<string>;
    /**
     * The address.
     */
    url?: string;
    /**
     * The names of its variables.
     */
    env?: Array<string>;
    /**
     * The names of its headers.
     */
    headers?: Array<string>;
    /**
     * The uid of the team's MCP server.
     */
    warp_id?: string;
};

/**
 * What the run executes besides the words, as it was when the approval was asked for.
 */
export type RunExecutedConfig = {
    /**
     * A name of the agent catalogue.
     */
    agent: string;
    /**
     * The model. Absent: the agent's default model.
     */
    model_id?: string;
    /**
     * The reasoning level of the model.
     */
    reasoning_level?: string;
    /**
     * `allow`: the agent does not ask before it acts.
     */
    permission_policy: 'allow' | 'ask';
    /**
     * The repositories of the workspace.
     */
    repositories: Array<RunExecutedConfigRepository>;
    /**
     * Whether a pull request is opened: `off`, `draft` or `ready`.
     */
    pull_request?: string;
    /**
     * The environment.
     */
    environment_id?: string;
    /**
     * The image of the environment.
     */
    image?: string;
    /**
     * The only folders that are checked out. Absent: all.
     */
    sparse?: Array<string>;
    /**
     * The setup commands of the environment.
     */
    setup_commands: Array<string>;
    /**
     * The network access of the environment.
     */
    network: 'none' | 'internet';
    /**
     * The MCP servers, those of the team resolved.
     */
    mcp_servers: {
        [key: string]: RunExecutedConfigMcpServer;
    };
    /**
     * The names of the secrets.
     */
    secrets: Array<string>;
    /**
     * The skills, with the commits that were read.
     */
    skills: Array<string>;
    /**
     * What the run may use.
     */
    budget?: {
        [key: string]: unknown;
    };
    /**
     * The workers that may take the run.
     */
    worker_host?: string;
};

/**
 * A part of what is executed, as an approver reads it.
 */
export type RunApprovalDetail = {
    /**
     * What it is, for people.
     */
    label: string;
    /**
     * One text for each command, server, secret …
     */
    values: Array<string>;
};

/**
 * An approval that a policy requires before an agent gets these words.
 */
export type RunApproval = {
    /**
     * The id of the approval. It stays the same while nobody has decided.
     */
    id: string;
    /**
     * The policy that requires the approval.
     */
    policy_id: string;
    /**
     * Why the approval is required.
     */
    reason: string;
    /**
     * Identifies the inputs and what is executed. A decision names it. It changes whenever one of them changes.
     */
    inputs_hash: string;
    /**
     * Everything that is approved, in the order of delivery.
     */
    inputs: Array<RunApprovalItem>;
    /**
     * What the run executes if it is approved, in its first and later attempts. Later changes of the environment and of MCP servers do not reach it. Absent for an approval that an earlier version asked for.
     */
    executes?: RunExecutedConfig;
    /**
     * The same for people, in the order in which it is to be shown.
     */
    details?: Array<RunApprovalDetail>;
    /**
     * What the hash does not cover, for people. A client tells it to the approver.
     */
    not_covered?: Array<string>;
    /**
     * The decision. Absent while the approval is open.
     */
    decided?: 'approved' | 'refused';
    /**
     * The uid of the principal that decided.
     */
    decided_by?: string;
    /**
     * When it was decided.
     */
    decided_at?: string;
};

/**
 * Details that depend on the type.
 */
export type FileArtifactData = {
    /**
     * The artifact's id.
     */
    artifact_uid: string;
    /**
     * The path in the workspace.
     */
    filepath: string;
    /**
     * The last segment of the path.
     */
    filename: string;
    /**
     * The media type, derived from the file's name.
     */
    mime_type: string;
    /**
     * The size of the newest version.
     */
    size_bytes?: number;
};

/**
 * An artifact of the type `FILE`.
 */
export type FileArtifact = {
    artifact_type: 'FILE';
    /**
     * When the artifact was first created. Newer versions keep this time.
     */
    created_at: string;
    /**
     * Details that depend on the type.
     */
    data: FileArtifactData;
};

/**
 * Details that depend on the type.
 */
export type PullRequestArtifactData = {
    /**
     * The URL where it can be viewed.
     */
    url: string;
    /**
     * The branch that the pull request merges.
     */
    branch: string;
    /**
     * What the platform last said. `unknown`: it has not been asked, or another one is newer.
     */
    status: 'open' | 'draft' | 'merged' | 'closed' | 'unknown';
};

/**
 * An artifact of the type `PULL_REQUEST`.
 */
export type PullRequestArtifact = {
    artifact_type: 'PULL_REQUEST';
    /**
     * When the artifact was first created. Newer versions keep this time.
     */
    created_at: string;
    /**
     * Details that depend on the type.
     */
    data: PullRequestArtifactData;
};

/**
 * Details that depend on the type.
 */
export type PlanArtifactData = {
    /**
     * The plan's id.
     */
    document_uid: string;
    /**
     * A title for people.
     */
    title?: string;
};

/**
 * An artifact of the type `PLAN`.
 */
export type PlanArtifact = {
    artifact_type: 'PLAN';
    /**
     * When the artifact was first created. Newer versions keep this time.
     */
    created_at: string;
    /**
     * Details that depend on the type.
     */
    data: PlanArtifactData;
};

/**
 * Details that depend on the type.
 */
export type ScreenshotArtifactData = {
    /**
     * The artifact's id.
     */
    artifact_uid: string;
    /**
     * The media type that the bytes of the picture have.
     */
    mime_type: string;
    /**
     * What the agent did when it made the picture.
     */
    description?: string;
};

/**
 * An artifact of the type `SCREENSHOT`.
 */
export type ScreenshotArtifact = {
    artifact_type: 'SCREENSHOT';
    /**
     * When the artifact was first created. Newer versions keep this time.
     */
    created_at: string;
    /**
     * Details that depend on the type.
     */
    data: ScreenshotArtifactData;
};

/**
 * Details that depend on the type.
 */
export type ExternalReferenceArtifactData = {
    /**
     * The kind of reference, as the agent names it.
     */
    reference_type: string;
    /**
     * The URL where it can be viewed.
     */
    url: string;
    /**
     * A title for people.
     */
    title?: string;
};

/**
 * An artifact of the type `EXTERNAL_REFERENCE`.
 */
export type ExternalReferenceArtifact = {
    artifact_type: 'EXTERNAL_REFERENCE';
    /**
     * When the artifact was first created. Newer versions keep this time.
     */
    created_at: string;
    /**
     * Details that depend on the type.
     */
    data: ExternalReferenceArtifactData;
};

/**
 * A result of a run.
 */
export type ArtifactItem = FileArtifact | PullRequestArtifact | PlanArtifact | ScreenshotArtifact | ExternalReferenceArtifact;

/**
 * Describes the next page.
 */
export type PageInfo = {
    /**
     * Whether there are more results.
     */
    has_next_page: boolean;
    /**
     * The value of `cursor` for the next page, with the same sort and filters.
     */
    next_cursor?: string;
};

/**
 * The checks of the newest commit, at most 50.
 */
export type RunPullRequestStatusChecks = {
    /**
     * The checks that decide something: neither skipped nor neutral.
     */
    total: number;
    /**
     * How many of them passed.
     */
    passed: number;
    /**
     * How many of them failed. The others are running.
     */
    failed: number;
};

/**
 * An entry of `RunPullRequestStatusCheckRuns`.
 */
export type RunPullRequestStatusCheckRun = {
    /**
     * The name on the platform.
     */
    name: string;
    /**
     * `skipped`: it decided nothing.
     */
    state: 'running' | 'passed' | 'failed' | 'skipped';
    /**
     * Where the platform shows it.
     */
    url?: string;
};

/**
 * What the platform last said about the newest pull request of the run.
 */
export type RunPullRequestStatus = {
    /**
     * The URL of the pull request.
     */
    url: string;
    /**
     * `draft` and `open`: it can be merged.
     */
    state: 'draft' | 'open' | 'merged' | 'closed';
    /**
     * The checks of the newest commit, at most 50.
     */
    checks: RunPullRequestStatusChecks;
    /**
     * Each check, failed ones first. Absent in lists.
     */
    check_runs?: Array<RunPullRequestStatusCheckRun>;
};

/**
 * A secret of the team, by its name.
 */
export type SecretRef = {
    /**
     * The name of a secret of the team.
     */
    name: string;
};

/**
 * A program in the sandbox, next to the agent.
 */
export type MCPServerProgram = {
    /**
     * A program that speaks MCP on its standard streams.
     */
    command: string;
    /**
     * The arguments of the program. They must not refer to secrets.
     */
    args?: Array<string>;
    /**
     * Values may refer to secrets: `$` and the name in braces. They are filled in when the run starts.
     */
    env?: {
        [key: string]: string;
    };
    [key: string]: unknown;
};

/**
 * A remote server. The agent reaches it without access to its keys.
 */
export type MCPServerAddress = {
    /**
     * The URL of the server.
     */
    url: string;
    /**
     * Values may refer to secrets: `$` and the name in braces. They are filled in when the run starts.
     */
    headers?: {
        [key: string]: string;
    };
    [key: string]: unknown;
};

/**
 * A shared server.
 */
export type MCPServerReference = {
    /**
     * The id or name of the server.
     */
    warp_id: string;
    [key: string]: unknown;
};

/**
 * An MCP server for the agent: exactly one of `command`, `url` and `warp_id`.
 */
export type MCPServerConfig = MCPServerProgram | MCPServerAddress | MCPServerReference;

/**
 * The agent that does the work.
 */
export type AmbientAgentConfigHarness = {
    /**
     * A name of the agent catalogue. `oz` is the server's default agent.
     */
    type?: string;
    /**
     * The model of this agent. It takes precedence over `model_id` of the configuration.
     */
    model_id?: string;
    /**
     * The reasoning level, as the agent names it.
     */
    reasoning_level?: string;
    [key: string]: unknown;
};

/**
 * Shares the new run by a link, which the response contains as `share_url`. If the team does not allow it (`sharing` of the team), nothing is shared and the response names the member as ignored.
 */
export type AmbientAgentConfigSessionSharing = {
    /**
     * What users outside the team may do: see the run, or also send follow-ups.
     */
    public_access?: 'VIEWER' | 'EDITOR';
    [key: string]: unknown;
};

/**
 * The limits of all turns together. When a limit is reached, the turn is stopped and the run becomes FAILED with `budget_exceeded`.
 */
export type AmbientAgentConfigBudget = {
    /**
     * The maximum number of prompts to the agent.
     */
    max_turns?: number;
    /**
     * The maximum working time of the agent. Time in which it waits for a person or a worker does not count.
     */
    max_minutes?: number;
    /**
     * The maximum number of input and output tokens of all turns.
     */
    max_tokens?: number;
    /**
     * The maximum cost, computed by the agent or from the price list, whichever is higher.
     */
    max_cost_usd?: number;
    [key: string]: unknown;
};

/**
 * The configuration of a run. Unknown members are stored and returned, and the response that accepts them names them as ignored.
 */
export type AmbientAgentConfig = {
    /**
     * A name by which runs can be listed.
     */
    name?: string;
    /**
     * The model, as the agent names it. If the agent does not know it, the run logs this and uses the agent's default model.
     */
    model_id?: string;
    /**
     * Instructions for the whole session. The agent receives them at its start or before its first prompt.
     */
    base_prompt?: string;
    /**
     * The environment in which the run works: one of your own or of the team.
     */
    environment_id?: string;
    /**
     * `owner/repo:skill-name` or `owner/repo:path/to/SKILL.md`.
     */
    skill_spec?: string;
    /**
     * Skills for the agent, named like `skill_spec`, with which it must not be combined. They are put where the agent looks for skills. Without a prompt the first one is the task. At most 50.
     */
    skills?: Array<string>;
    /**
     * MCP servers for the agent, at most 20. Names have 1 to 64 letters, digits, `_` and `-`.
     */
    mcp_servers?: {
        [key: string]: MCPServerConfig;
    };
    /**
     * Stored and returned, but not used by any agent of this version: the response that accepts it names it as ignored.
     */
    computer_use_enabled?: boolean;
    /**
     * Stored and returned, but not used by any agent of this version: the response that accepts it names it as ignored.
     */
    computer_use_model_id?: string;
    /**
     * Only workers with this name may execute the run, even if it has to wait for one.
     */
    worker_host?: string;
    /**
     * Which of the queued runs of the team start first. Other teams do not wait longer because of it. A `low` run that has waited for an hour counts as `normal` (default). The condition `priorities` of a policy says who may use it.
     */
    priority?: 'high' | 'normal' | 'low';
    /**
     * The only secrets of the team that the run gets, and no personal ones. They must be among those of the named agent that executes the run, if it has a list. Absent or empty: those of the named agent, else those of the environment, else all.
     */
    secrets?: Array<SecretRef>;
    /**
     * How long an agent that waits for a person is kept running. 0: not at all.
     */
    idle_timeout_minutes?: number;
    /**
     * The agent that does the work.
     */
    harness?: AmbientAgentConfigHarness;
    /**
     * Shares the new run by a link, which the response contains as `share_url`. If the team does not allow it (`sharing` of the team), nothing is shared and the response names the member as ignored.
     */
    session_sharing?: AmbientAgentConfigSessionSharing;
    /**
     * The limits of all turns together. When a limit is reached, the turn is stopped and the run becomes FAILED with `budget_exceeded`.
     */
    budget?: AmbientAgentConfigBudget;
    /**
     * `ask`: a person decides each permission that the agent requests, and the run is BLOCKED until then. `allow` (default): all permissions are granted, within the sandbox.
     */
    permission_policy?: 'allow' | 'ask';
    /**
     * `owner/name`: a repository in which the run works. It is added to those of the environment, if there is one.
     */
    repository?: string;
    /**
     * `true`: nobody named `repository`; the client guessed it, for example from the clone in which a command ran. If it cannot be read, the run works without it and says so, instead of failing.
     */
    repository_guessed?: boolean;
    /**
     * What of `repository` is checked out: a branch, a tag or the full id of a commit. Default: its default branch. Without `repository` it counts for the repository of the environment, which must have exactly one.
     */
    ref?: string;
    /**
     * What Errand does at the end of a turn with changes in `repository` that the agent did not push. `draft` and `ready`: it pushes them and opens a pull request. `off`: it opens none. Without `repository` it counts for each repository of the environment. Default: `pull_request` of the environment, otherwise `off`, except for requests of people in chats.
     */
    pull_request?: 'off' | 'draft' | 'ready';
    /**
     * A JSON Schema (2020-12, at most 64 KiB) for the answer of each turn. The agent is told to end its answer with a matching JSON value, which `result.data` of the run contains. If it does not match, the agent may repair it once in the same turn; after that the run is FAILED with `invalid_request` and the problems. `$ref` must begin with `#`.
     */
    output_schema?: {
        [key: string]: unknown;
    };
    [key: string]: unknown;
};

/**
 * A principal: the creator or the executor of a run.
 */
export type RunCreatorInfo = {
    /**
     * The principal's id.
     */
    uid: string;
    /**
     * `user`: a person. `service_account`: a program.
     */
    type: 'user' | 'service_account';
    /**
     * The name shown on the pages.
     */
    display_name?: string;
    /**
     * The email address, if known.
     */
    email?: string;
    /**
     * The URL of a picture, if known.
     */
    photo_url?: string;
};

/**
 * The newest pull request of the run.
 */
export type RunOutcomePullRequest = {
    /**
     * The URL of the newest pull request.
     */
    url: string;
    /**
     * What the platform last said about it.
     */
    state?: 'draft' | 'open' | 'merged' | 'closed';
    /**
     * Its number on the platform.
     */
    number?: number;
};

/**
 * What the run has changed in all repositories since they were cloned. Absent: unknown.
 */
export type RunOutcomeChanges = {
    /**
     * The changed files.
     */
    files: number;
    /**
     * Added lines.
     */
    additions: number;
    /**
     * Deleted lines.
     */
    deletions: number;
};

/**
 * An entry of `RunOutcomeRefused`.
 */
export type RunOutcomeRefused = {
    /**
     * The part of the work that was not handed over.
     */
    what: 'push' | 'pull_request' | 'file';
    /**
     * The host that refused it, or `Errand`.
     */
    by: string;
    /**
     * The reason, in the words of the one who refused it.
     */
    message: string;
    /**
     * What you can do about it.
     */
    remedy?: string;
    /**
     * The page with the patch. Absent in events.
     */
    patch_url?: string;
};

/**
 * What came of a run that has ended.
 */
export type RunOutcome = {
    /**
     * The outcome in one line.
     */
    summary: string;
    /**
     * The newest pull request of the run.
     */
    pull_request?: RunOutcomePullRequest;
    /**
     * What the run has changed in all repositories since they were cloned. Absent: unknown.
     */
    changes?: RunOutcomeChanges;
    /**
     * What the last turn could not hand over, although the run SUCCEEDED: a push or a pull request that the host refused. Absent: nothing is missing.
     */
    refused?: Array<RunOutcomeRefused>;
};

/**
 * A comment on one or several lines of the changes of a run.
 */
export type LineComment = {
    /**
     * `owner/name`, as the changes of the run name it. It may be left out if there is only one.
     */
    repository?: string;
    /**
     * The path of the file, at most 4096 characters.
     */
    path: string;
    /**
     * `left`: the file before the changes. `right`: the file after them.
     */
    side: 'left' | 'right';
    /**
     * The line, counted from 1 on its side. Of several lines, the last one.
     */
    line: number;
    /**
     * The first of several lines.
     */
    start_line?: number;
    /**
     * The lines of the diff that the comment is about. The last one is `line`. At most 16000 characters.
     */
    hunk: string;
    /**
     * The commit whose version was commented on, if it is pushed.
     */
    commit_id?: string;
    /**
     * The comment, at most 10000 characters.
     */
    body: string;
};

/**
 * A comment on one or several lines, sent with a follow-up.
 */
export type SentLineComment = {
    /**
     * `owner/name`, as the changes of the run name it. It may be left out if there is only one.
     */
    repository?: string;
    /**
     * The path of the file, at most 4096 characters.
     */
    path: string;
    /**
     * `left`: the file before the changes. `right`: the file after them.
     */
    side: 'left' | 'right';
    /**
     * The line, counted from 1 on its side. Of several lines, the last one.
     */
    line: number;
    /**
     * The first of several lines.
     */
    start_line?: number;
    /**
     * The lines of the diff that the comment is about. The last one is `line`. At most 16000 characters.
     */
    hunk: string;
    /**
     * The commit whose version was commented on, if it is pushed.
     */
    commit_id?: string;
    /**
     * The comment, at most 10000 characters.
     */
    body: string;
    /**
     * The draft of the sender that it was. It is deleted.
     */
    draft_id?: string;
};

/**
 * A comment that its author has not sent yet.
 */
export type DraftComment = {
    /**
     * `owner/name`, as the changes of the run name it. It may be left out if there is only one.
     */
    repository?: string;
    /**
     * The path of the file, at most 4096 characters.
     */
    path: string;
    /**
     * `left`: the file before the changes. `right`: the file after them.
     */
    side: 'left' | 'right';
    /**
     * The line, counted from 1 on its side. Of several lines, the last one.
     */
    line: number;
    /**
     * The first of several lines.
     */
    start_line?: number;
    /**
     * The lines of the diff that the comment is about. The last one is `line`. At most 16000 characters.
     */
    hunk: string;
    /**
     * The commit whose version was commented on, if it is pushed.
     */
    commit_id?: string;
    /**
     * The comment, at most 10000 characters.
     */
    body: string;
    /**
     * The draft's id, chosen by its author.
     */
    draft_id: string;
    /**
     * When it was stored first.
     */
    created_at: string;
    /**
     * When it was stored last.
     */
    updated_at: string;
};

/**
 * The comments of the caller on a run that are not sent yet.
 */
export type ListDraftCommentsResponse = {
    /**
     * The oldest comes first. At most 50.
     */
    draft_comments: Array<DraftComment>;
    page_info: PageInfo;
};

/**
 * What the run waits for before it can start or continue.
 */
export type RunWaitingFor = {
    /**
     * `approval`: a person must approve the run, or a follow-up to a run that has ended. `question`: a person must answer the agent. `worker_host`: no worker with the name `worker_host` is connected. `capacity`: no worker is free, or the agent has an answer and waits for a slot of its worker. `quota`: the team has as many runs at work as its quota `running_runs` allows. `disk`: the disks of the free workers are nearly full.
     */
    reason: 'approval' | 'question' | 'instructions' | 'worker_host' | 'capacity' | 'quota' | 'disk';
    /**
     * A text for people.
     */
    message: string;
    /**
     * When the run got its present state.
     */
    since: string;
    /**
     * The place among the queued runs of the same creator, counted from 1. Only of a queued run, and not in lists.
     */
    position?: number;
    /**
     * Whether the policies let the caller answer or approve. Only if a person has to.
     */
    may_decide?: boolean;
    /**
     * Members who may answer or approve, at most five. Absent if the caller may.
     */
    deciders?: Array<RunCreatorInfo>;
};

/**
 * `run.created`, `run.` with the name of the run's new state, and `webhook.disabled`: another webhook of the team was disabled because it failed.
 */
export type WebhookEventType = 'run.created' | 'run.queued' | 'run.pending' | 'run.claimed' | 'run.inprogress' | 'run.blocked' | 'run.succeeded' | 'run.failed' | 'run.error' | 'run.cancelled' | 'webhook.disabled';

/**
 * A new webhook.
 */
export type WebhookRequest = {
    /**
     * The receiver's URL. It must be https, and outside the server's own network unless the operator allows it.
     */
    url: string;
    /**
     * A description for people.
     */
    description?: string;
    /**
     * The events that are sent. An empty list means all that begin with `run.`.
     */
    events?: Array<WebhookEventType>;
    /**
     * Whether messages are sent. Events that happen while the webhook is disabled are never sent. Default: true.
     */
    enabled?: boolean;
};

/**
 * Receives all messages that begin with `run.` about this run alone. A retry does not copy it.
 */
export type RunWebhook = {
    /**
     * The receiver's URL. It must be https, and outside the server's own network unless the operator allows it.
     */
    url: string;
    /**
     * Signs the messages: `whsec_` and the base64 of 24 to 64 bytes. It is stored encrypted and never returned.
     */
    secret: string;
};

/**
 * The members to change. Other members keep their value. Enabling a webhook also resets `failing_since`.
 */
export type WebhookChange = {
    /**
     * The receiver's URL. It must be https, and outside the server's own network unless the operator allows it.
     */
    url?: string;
    /**
     * A description for people.
     */
    description?: string;
    /**
     * The events that are sent. An empty list means all that begin with `run.`.
     */
    events?: Array<WebhookEventType>;
    /**
     * Whether messages are sent. Events that happen while the webhook is disabled are never sent. Default: true.
     */
    enabled?: boolean;
};

/**
 * The end of the old secret.
 */
export type RotateWebhookSecretRequest = {
    /**
     * For how long messages are also signed with the old secret.
     */
    overlap_seconds?: number;
};

/**
 * A URL that receives events of runs.
 */
export type Webhook = {
    /**
     * The webhook's id.
     */
    id: string;
    /**
     * The receiver's URL.
     */
    url: string;
    /**
     * A description for people.
     */
    description?: string;
    /**
     * The events that are sent.
     */
    events: Array<WebhookEventType>;
    /**
     * Whether messages are sent.
     */
    enabled: boolean;
    /**
     * Why the server disabled the webhook.
     */
    disabled_reason?: string;
    /**
     * Since when all tries have failed.
     */
    failing_since?: string;
    /**
     * Until this time, messages are also signed with the previous secret.
     */
    previous_secret_expires_at?: string;
    /**
     * The uid of the principal that created the webhook.
     */
    created_by: string;
    /**
     * When the webhook was created.
     */
    created_at: string;
    /**
     * When the webhook was last changed.
     */
    updated_at: string;
};

/**
 * A webhook with its new secret.
 */
export type RevealedWebhook = {
    /**
     * The webhook's id.
     */
    id: string;
    /**
     * The receiver's URL.
     */
    url: string;
    /**
     * A description for people.
     */
    description?: string;
    /**
     * The events that are sent.
     */
    events: Array<WebhookEventType>;
    /**
     * Whether messages are sent.
     */
    enabled: boolean;
    /**
     * Why the server disabled the webhook.
     */
    disabled_reason?: string;
    /**
     * Since when all tries have failed.
     */
    failing_since?: string;
    /**
     * Until this time, messages are also signed with the previous secret.
     */
    previous_secret_expires_at?: string;
    /**
     * The uid of the principal that created the webhook.
     */
    created_by: string;
    /**
     * When the webhook was created.
     */
    created_at: string;
    /**
     * When the webhook was last changed.
     */
    updated_at: string;
    /**
     * The secret that signs messages. It is shown only once.
     */
    secret: string;
};

/**
 * All webhooks of the team.
 */
export type ListWebhooksResponse = {
    /**
     * The oldest webhook comes first.
     */
    webhooks: Array<Webhook>;
    page_info: PageInfo;
};

/**
 * `QUEUED`: the run waits for a worker. `PENDING` and `CLAIMED`: a worker prepares it. `INPROGRESS`: the agent works. `BLOCKED`: the run waits for a person. `SUCCEEDED`, `FAILED` (a problem of the request), `ERROR` (a problem of the platform) and `CANCELLED`: the run has ended. A follow-up continues an ended run.
 */
export type RunState = 'QUEUED' | 'PENDING' | 'CLAIMED' | 'INPROGRESS' | 'BLOCKED' | 'SUCCEEDED' | 'FAILED' | 'ERROR' | 'CANCELLED';

/**
 * An entry of `RunAgentRequestImages`.
 */
export type RunAgentRequestImage = {
    /**
     * The bytes, encoded as base64.
     */
    data: string;
    /**
     * The media type of the bytes.
     */
    mime_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
};

/**
 * An entry of `RunAgentRequestAttachments`.
 */
export type RunAgentRequestAttachment = {
    /**
     * The name of the file in `attachments/`. Unsafe characters are replaced, and a number is added if the name is already used.
     */
    file_name: string;
    /**
     * The media type of the bytes.
     */
    mime_type: string;
    /**
     * The bytes, encoded as base64.
     */
    data: string;
};

/**
 * A new run. At least one of `prompt`, `skill`, `config.skill_spec`, `config.skills` and `conversation_id` is required.
 */
export type RunAgentRequest = {
    /**
     * The task, in words.
     */
    prompt?: string;
    config?: AmbientAgentConfig;
    /**
     * The title of the run. Default: the beginning of the prompt.
     */
    title?: string;
    /**
     * `[owner/]repo:name` or `[owner/]repo:path`. It takes precedence over `config.skill_spec`.
     */
    skill?: string;
    /**
     * A conversation to continue, with its files and, if the agent is the same, its memory. Values that `config` and `team` leave out are taken from the newest run of the conversation, except `name` and `skill_spec`.
     */
    conversation_id?: string;
    /**
     * The parent of the run.
     */
    parent_run_id?: string;
    /**
     * false: only the creator and administrators can see the run. Default: true.
     */
    team?: boolean;
    /**
     * Images that belong to the prompt, for agents that accept images.
     */
    images?: Array<RunAgentRequestImage>;
    /**
     * Files that belong to the prompt.
     */
    attachments?: Array<RunAgentRequestAttachment>;
    /**
     * The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: `normal`.
     */
    mode?: 'normal' | 'plan' | 'orchestrate';
    /**
     * true: `config.permission_policy` defaults to `ask`.
     */
    interactive?: boolean;
    /**
     * The caller's own labels of the run, by which runs can be listed. At most 20 pairs. Names have up to 64 characters of `a-z A-Z 0-9 . _ -`, values up to 256 bytes.
     */
    metadata?: {
        [key: string]: string;
    };
    /**
     * The uid of the named agent that executes the run. Values that `config` leaves out are taken from it. Default: the caller, if its key belongs to a named agent.
     */
    agent_identity_uid?: string;
    /**
     * The uid or the email address of an active member, who becomes the creator of the run. The run gets no personal secrets, and the member cannot approve it. For administrators, and for named agents with `on_behalf_of_enabled`.
     */
    on_behalf_of?: string;
    webhook?: RunWebhook;
};

/**
 * The members to change. Other members keep their value.
 */
export type RunUpdate = {
    /**
     * The new title.
     */
    title?: string;
    /**
     * Replaces all pairs.
     */
    metadata?: {
        [key: string]: string;
    };
};

/**
 * The run was accepted and stored.
 */
export type RunAgentResponse = {
    /**
     * The new run's id.
     */
    run_id: string;
    /**
     * The same as `run_id`.
     */
    task_id: string;
    state: RunState;
    /**
     * Whether all workers that can execute the run are busy, more runs wait than slots are free, or no worker exists, or the quota `running_runs` of the team leaves no room.
     */
    at_capacity?: boolean;
    waiting_for?: RunWaitingFor;
    /**
     * The address of the run's page for guests, if `config.session_sharing` asked for it and the team allows it. Only this response contains it. It expires after 7 days.
     */
    share_url?: string;
    /**
     * The paths of members that were accepted and have no effect: unknown ones, and known ones that this server does not use. Absent if there are none. At most 100; then `...` is the last entry.
     */
    ignored?: Array<string>;
};

/**
 * A file that belongs to a follow-up: `file_name`, `mime_type` and `data`.
 */
export type FollowupAttachment = {
    /**
     * The name of the file in `attachments/`. Unsafe characters are replaced, and a number is added if the name is already used.
     */
    file_name?: string;
    /**
     * The media type of the bytes.
     */
    mime_type?: string;
    /**
     * The bytes, encoded as base64.
     */
    data?: string;
    /**
     * For clients of another server: no id is known here, and the response is 422. Send `data`.
     */
    attachment_id?: string;
};

/**
 * An entry of `RunFollowupRequestImages`.
 */
export type RunFollowupRequestImage = {
    /**
     * The bytes, encoded as base64.
     */
    data: string;
    /**
     * The media type of the bytes.
     */
    mime_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
};

/**
 * A message to an existing run.
 */
export type RunFollowupRequest = {
    /**
     * The text of the follow-up. It may be empty if there are files or comments.
     */
    message?: string;
    /**
     * Comments on lines of the run's changes, at most 50. The agent reads them below the message, each with the lines that it is about. A follow-up with comments never answers a question.
     */
    comments?: Array<SentLineComment>;
    /**
     * Files that belong to the message, at most 25.
     */
    attachments?: Array<FollowupAttachment>;
    /**
     * Images that belong to the message, for agents that accept images.
     */
    images?: Array<RunFollowupRequestImage>;
    /**
     * The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: `normal`.
     */
    mode?: 'normal' | 'plan' | 'orchestrate';
    /**
     * queue (default): the next turn processes it. interrupt: it stops the current turn. steer: it is added to the current turn if the agent supports that, otherwise it is queued; no agent of this version supports it.
     */
    delivery?: 'queue' | 'interrupt' | 'steer';
    /**
     * thread (default): it is posted to the threads of the run. private: neither it nor the answer of a turn with only private follow-ups is posted. The run's state and the agent's questions are still posted.
     */
    visibility?: 'thread' | 'private';
};

/**
 * The follow-up was accepted. The agent has not read it yet.
 */
export type RunFollowupResponse = {
    /**
     * `live_session`: the running turn gets it, or it answered the question of a running agent. If the agent takes nothing within its turn, the event `followup.queued` follows. `queued_prompt`: the run has not started; its first turn gets it with the prompt. `handoff_execution`: the run had ended and continues. `queue_pending`: it waits for the next turn, an answer or an approval.
     */
    outcome: 'live_session' | 'queued_prompt' | 'handoff_execution' | 'queue_pending';
    /**
     * null if the message answered a question of the run, and so became no follow-up.
     */
    followup_id?: string | null;
    state: RunState;
    /**
     * The `option_id` that the message chose. Absent if it was no answer, and after a refusal for which the agent offers no option that holds once.
     */
    answered?: string;
    /**
     * The message was no answer. It is held, and the run still waits for an answer.
     */
    question_open?: true;
};

/**
 * The follow-up was accepted. The agent has not read it yet.
 */
export type ConversationFollowupResponse = {
    /**
     * `live_session`: the running turn gets it, or it answered the question of a running agent. If the agent takes nothing within its turn, the event `followup.queued` follows. `queued_prompt`: the run has not started; its first turn gets it with the prompt. `handoff_execution`: the run had ended and continues. `queue_pending`: it waits for the next turn, an answer or an approval.
     */
    outcome: 'live_session' | 'queued_prompt' | 'handoff_execution' | 'queue_pending';
    /**
     * null if the message answered a question of the run, and so became no follow-up.
     */
    followup_id?: string | null;
    state: RunState;
    /**
     * The `option_id` that the message chose. Absent if it was no answer, and after a refusal for which the agent offers no option that holds once.
     */
    answered?: string;
    /**
     * The message was no answer. It is held, and the run still waits for an answer.
     */
    question_open?: true;
    /**
     * The newest run of the conversation, which gets the follow-up.
     */
    run_id: string;
};

/**
 * Why the run ended, or what it waits for.
 */
export type RunStatusMessage = {
    /**
     * A text for people.
     */
    message: string;
    /**
     * A code for programs: one of the codes of `Error`.
     */
    error_code?: 'invalid_request' | 'authentication_required' | 'external_authentication_required' | 'not_authorized' | 'insufficient_credits' | 'budget_exceeded' | 'feature_not_available' | 'integration_disabled' | 'content_policy_violation' | 'integration_not_configured' | 'resource_not_found' | 'conflict' | 'operation_not_supported' | 'resource_unavailable' | 'internal_error' | 'environment_setup_failed';
    /**
     * Whether a repeat of the same run may succeed.
     */
    retryable?: boolean;
    /**
     * A finer cause than the code, such as `infrastructure_timeout`, `agent_process_failed`, `agent_error`.
     */
    reason?: string;
    /**
     * What you can do about it.
     */
    remedy?: string;
    /**
     * Until when the failed run keeps its agent and workspace. A follow-up continues there. Present only until then.
     */
    session_debug_until?: string;
};

/**
 * The source of a run. `API` if nothing more specific is known.
 */
export type RunSourceType = 'API' | 'SLACK' | 'LINEAR' | 'LOCAL' | 'SCHEDULED_AGENT' | 'WEB_APP' | 'GITHUB_ACTION' | 'CLOUD_MODE' | 'CLI' | 'JIRA' | 'GITHUB_WEBHOOK' | 'GITLAB_WEBHOOK';

/**
 * Who can see something.
 */
export type Scope = {
    /**
     * `Team`: all members of the team. `User`: the creator and administrators.
     */
    type: 'User' | 'Team';
    /**
     * The uid of the creator, if the type is `User`.
     */
    uid?: string;
};

/**
 * The agent that does the work of the run.
 */
export type RunAgent = {
    /**
     * A name of the agent catalogue.
     */
    name: string;
    /**
     * The version that the agent reported when it last started.
     */
    version?: string;
    /**
     * The model of the configuration. Absent: the agent's default model.
     */
    model_id?: string;
};

/**
 * What the agent answered in the last turn that it finished.
 */
export type RunResult = {
    /**
     * The answer, at most 64 KiB of UTF-8.
     */
    text: string;
    /**
     * The number of the turn.
     */
    turn: number;
    /**
     * true: the answer is longer. The transcript has more of it.
     */
    truncated?: boolean;
    /**
     * The JSON value in the answer. Present if the run has an `output_schema`, which it matches.
     */
    data?: unknown;
};

/**
 * The skill that started the run, as it was at that time.
 */
export type RunItemAgentSkill = {
    /**
     * The name in SKILL.md, otherwise the name of the folder.
     */
    name: string;
    /**
     * The purpose of the skill, from its SKILL.md.
     */
    description: string;
    /**
     * The path of SKILL.md in the repository that `skill_spec` names.
     */
    full_path: string;
};

/**
 * The schedule that started the run, as it was at that time.
 */
export type RunItemSchedule = {
    /**
     * The schedule's id.
     */
    schedule_id: string;
    /**
     * The name of the schedule at that time.
     */
    schedule_name: string;
    /**
     * The cron expression at that time.
     */
    cron_schedule: string;
};

/**
 * The question that the run waits for. To answer, use `POST …/permissions/{permissionId}` or send a follow-up.
 */
export type RunItemPermission = {
    /**
     * The id in the path of the request that answers the question.
     */
    permission_id: string;
    /**
     * The agent's own name of the call. A model may have written it.
     */
    title: string;
    /**
     * The answers that the agent offers.
     */
    options: Array<RunItemPermissionOption>;
    /**
     * The command that the call would run, from the call itself.
     */
    command?: string;
    /**
     * The files that the call is about, and the directory of a command.
     */
    paths?: Array<string>;
    /**
     * The lines that the call removes and adds, in the form of a unified diff.
     */
    diff?: string;
    /**
     * The arguments of the call that the other members do not show, as JSON.
     */
    input?: string;
    /**
     * What the agent says about the call. A model may have written it, so it may be untrue.
     */
    reason?: string;
    /**
     * true: the call is longer than what is shown here. Its event `agent.tool_call` has more of it.
     */
    truncated?: boolean;
    /**
     * When the agent asked.
     */
    asked_at: string;
};

/**
 * An entry of `RunItemPermissionOptions`.
 */
export type RunItemPermissionOption = {
    /**
     * The value of the answer.
     */
    option_id: string;
    /**
     * A text for people.
     */
    name: string;
    /**
     * Whether the option allows or rejects, and for how long.
     */
    kind: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
};

/**
 * The usage of the model, as far as it is known.
 */
export type RunItemRequestUsage = {
    /**
     * Input and output tokens of all turns, as reported by the agent or counted by the gateway, whichever is higher.
     */
    total_tokens?: number;
    /**
     * The cost reported by the agent or computed from the price list, whichever is higher. Absent if both are unknown.
     */
    inference_cost_usd?: number;
};

/**
 * The current state of a run.
 */
export type RunItem = {
    /**
     * The run's id.
     */
    run_id: string;
    /**
     * The same as `run_id`.
     */
    task_id: string;
    /**
     * The run at the top of its ancestors. The run itself if it has no parent.
     */
    root_run_id: string;
    /**
     * The title of the request, or the beginning of the prompt.
     */
    title: string;
    /**
     * The prompt of the request.
     */
    prompt: string;
    state: RunState;
    /**
     * When the run was accepted.
     */
    created_at: string;
    /**
     * When the run last changed. A new event counts as a change.
     */
    updated_at: string;
    /**
     * Whether a worker holds the run. It is true until the processes of the run have ended.
     */
    is_sandbox_running: boolean;
    source: RunSourceType;
    creator: RunCreatorInfo;
    /**
     * The principal that executes the run: a named agent, the principal that requested the run in the name of its creator, or the creator itself.
     */
    executor?: RunCreatorInfo;
    agent?: RunAgent;
    /**
     * When the agent first received the prompt. null before that.
     */
    started_at?: string | null;
    /**
     * When the run ended. null while it has not ended.
     */
    finished_at?: string | null;
    /**
     * The prompt and the follow-ups that came before the run started, with blank lines between. Absent in lists.
     */
    submitted_prompt?: string;
    /**
     * The ISO 8601 duration from the start to the end, or until now.
     */
    run_time?: string;
    status_message?: RunStatusMessage;
    /**
     * true: the setup of the workspace failed, and a follow-up starts an agent in the workspace as it was then. Absent otherwise, and after `session_debug_until`.
     */
    debug_agent_available?: boolean;
    /**
     * The message, comment or schedule that started the run.
     */
    trigger_url?: string;
    /**
     * The id of the run's page.
     */
    session_id?: string;
    /**
     * The URL of the page that shows the run live.
     */
    session_link?: string;
    /**
     * The conversation that contains all turns of the run.
     */
    conversation_id?: string;
    /**
     * The resolved configuration. `harness` is what a caller asked for, and absent if no caller did; `agent` tells which agent does the work.
     */
    agent_config?: AmbientAgentConfig;
    /**
     * The skill that started the run, as it was at that time.
     */
    agent_skill?: RunItemAgentSkill;
    /**
     * The artifacts of the run, the oldest first.
     */
    artifacts?: Array<ArtifactItem>;
    pull_request_status?: RunPullRequestStatus;
    /**
     * The schedule that started the run, as it was at that time.
     */
    schedule?: RunItemSchedule;
    /**
     * The approval that the run needs or needed before it starts. A later follow-up has one of its own.
     */
    approval?: RunApproval;
    /**
     * The question that the run waits for. To answer, use `POST …/permissions/{permissionId}` or send a follow-up.
     */
    permission?: RunItemPermission;
    waiting_for?: RunWaitingFor;
    /**
     * What the agent answered in the last turn that it finished. Absent in lists and before the end of the first turn.
     */
    result?: RunResult;
    outcome?: RunOutcome;
    /**
     * Problems that did not end the run, the oldest first: files that were not kept, a missing secret or tool. At most 20.
     */
    warnings?: Array<string>;
    /**
     * The parent of the run.
     */
    parent_run_id?: string;
    /**
     * The metadata of the request.
     */
    metadata?: {
        [key: string]: string;
    };
    /**
     * The usage of the model, as far as it is known.
     */
    request_usage?: RunItemRequestUsage;
    /**
     * Who can see the run.
     */
    scope?: Scope;
    /**
     * Where the run is executed. Always `REMOTE`, because workers execute all runs, even if `source` is `LOCAL`.
     */
    execution_location?: 'LOCAL' | 'REMOTE';
    /**
     * The verified origin of the run. `config_layers` names the source of each member of `agent_config`: `request` (also for a skill that `skill` names), `agent` (the named agent), `conversation` (taken from the run that this run continues), `repository_file` (a file in the repository of the request), `routing_rule`, `skill` (a name that the skill defines), or `default`. A retry keeps `routing` and `config_layers` of the run that it repeats.
     */
    provenance?: {
        [key: string]: unknown;
    };
};

/**
 * A page of runs.
 */
export type ListRunsResponse = {
    /**
     * In the order of `sort_by`.
     */
    runs: Array<RunItem>;
    page_info: PageInfo;
};

/**
 * An entry of `RunFilterTaskStatus`.
 */
export type RunFilterTaskStatu = 'running' | 'failed' | 'blocked' | 'cancelled' | 'complete';

/**
 * Filters as in the query of `GET /agent/runs`. All must match. An unknown or empty one is refused.
 */
export type RunFilter = {
    /**
     * One of these states. Can be repeated.
     */
    state?: Array<RunState>;
    /**
     * The name of the run's configuration.
     */
    name?: string;
    /**
     * An alias of `name`.
     */
    config_name?: string;
    /**
     * The model of the run's configuration.
     */
    model_id?: string;
    /**
     * The uid of the principal that started the run.
     */
    creator?: string;
    /**
     * The uid of the principal that executes the run: its creator, unless the run names another one.
     */
    executor?: string;
    /**
     * One of these sources, values of `RunSourceType`. Any other value matches nothing. Can be repeated.
     */
    source?: string | Array<string>;
    /**
     * One of these states of the run together with the runs below it. `running`: one of them is neither ended nor blocked. The others are states of the run at the top. Can be repeated.
     */
    task_status?: Array<RunFilterTaskStatu>;
    /**
     * Only runs created after this time (RFC 3339).
     */
    created_after?: string;
    /**
     * Only runs created before this time (RFC 3339).
     */
    created_before?: string;
    /**
     * Only runs changed after this time (RFC 3339).
     */
    updated_after?: string;
    /**
     * Only runs changed before this time (RFC 3339).
     */
    updated_before?: string;
    /**
     * The environment of the run. `empty-environment`: runs without an environment.
     */
    environment_id?: string;
    /**
     * The skill that started the run: `owner/repo:path/to/SKILL.md`, the format of `skill_spec` in `agent_config` and of the ids in `GET /agent`. A skill's name, or a repository without its owner, matches nothing.
     */
    skill?: string;
    /**
     * An alias of `skill`.
     */
    skill_spec?: string;
    /**
     * A repository in which the run works: its own or one of its environment. `owner/name` or an address, in any case.
     */
    repository?: string;
    /**
     * The schedule that started the run.
     */
    schedule_id?: string;
    /**
     * Only the runs of this conversation.
     */
    conversation_id?: string;
    /**
     * Only runs directly below this run.
     */
    parent_run_id?: string;
    /**
     * Only runs below this run, at any depth.
     */
    ancestor_run_id?: string;
    /**
     * Only runs that produced an artifact of this type.
     */
    artifact_type?: string;
    /**
     * Where the run is executed. Workers execute all runs, so `REMOTE` matches every run and `LOCAL` matches none.
     */
    execution_location?: 'LOCAL' | 'REMOTE';
    /**
     * `metadata[key]=value`: all of these pairs, at most 5.
     */
    metadata?: {
        [key: string]: string;
    };
    /**
     * Words that must all occur in the title, the prompt or the skill. Parts of words match, and case is ignored. Or the id of a run, or the address of its page.
     */
    q?: string;
    /**
     * The same as `metadata[automation_id]`.
     */
    automation_id?: string;
    /**
     * For clients of another server. No run of this one belongs to a factory, so any value matches nothing.
     */
    factory_uid?: Array<string>;
    /**
     * `true` matches nothing, see `factory_uid`.
     */
    factory_only?: 'true' | 'false';
};

/**
 * An entry of `ErrorIssues`.
 */
export type ErrorIssue = {
    /**
     * The path of the member, separated by dots.
     */
    path: string;
    /**
     * The requirement that is not met.
     */
    message: string;
    /**
     * For a member of the body: its JSON Pointer (RFC 6901), such as `/config/harness/type`.
     */
    pointer?: string;
};

/**
 * Every error, as `application/problem+json`.
 */
export type Error = {
    /**
     * A URI whose last segment is the code.
     */
    type: string;
    /**
     * The meaning of the code.
     */
    title: string;
    /**
     * The HTTP status.
     */
    status: number;
    /**
     * For people: the title, and the detail if there is one.
     */
    error: string;
    /**
     * What went wrong with this request.
     */
    detail?: string;
    /**
     * The path of the request.
     */
    instance?: string;
    /**
     * Whether the same request may succeed later.
     */
    retryable?: boolean;
    /**
     * The same value as X-Request-Id of the response.
     */
    trace_id?: string;
    /**
     * Programs should decide by this code, never by the text.
     */
    code?: 'invalid_request' | 'authentication_required' | 'external_authentication_required' | 'not_authorized' | 'insufficient_credits' | 'budget_exceeded' | 'feature_not_available' | 'integration_disabled' | 'content_policy_violation' | 'integration_not_configured' | 'resource_not_found' | 'conflict' | 'operation_not_supported' | 'resource_unavailable' | 'internal_error' | 'environment_setup_failed';
    /**
     * How to fix the problem.
     */
    remedy?: string;
    /**
     * For invalid input: each member that is not valid. For a run that a policy refuses: the members that the policy looks at.
     */
    issues?: Array<ErrorIssue>;
    /**
     * For a device code, why there is no key: `authorization_pending`, `slow_down`, `expired_token`, `access_denied`.
     */
    reason?: string;
    /**
     * Where to sign in, if that would help.
     */
    auth_url?: string;
    /**
     * The provider of the model or service, if known.
     */
    provider?: string;
    /**
     * The name of the integration, if there is one.
     */
    integration_name?: string;
    /**
     * Where to set up what is missing, if there is such a page.
     */
    setup_url?: string;
    /**
     * For a failed If-Match: the ETag of the resource as it is now.
     */
    current_etag?: string;
    /**
     * For a cancellation by filter that expected another number: how many runs match.
     */
    matching_runs?: number;
};

/**
 * A pull request.
 */
export type PullRequestDetails = {
    type: 'PULL_REQUEST';
    /**
     * The URL where it can be viewed.
     */
    url: string;
    /**
     * The branch that the pull request merges.
     */
    branch: string;
};

/**
 * A plan.
 */
export type PlanDetails = {
    type: 'PLAN';
    /**
     * The plan's id.
     */
    document_uid: string;
    /**
     * A title for people.
     */
    title?: string;
};

/**
 * A file.
 */
export type FileDetails = {
    type: 'FILE';
    /**
     * The path in the workspace.
     */
    filepath: string;
    /**
     * The last segment of the path.
     */
    filename: string;
    /**
     * The media type, derived from the file's name.
     */
    mime_type: string;
};

/**
 * A screenshot.
 */
export type ScreenshotDetails = {
    type: 'SCREENSHOT';
    /**
     * The media type that the bytes of the picture have.
     */
    mime_type: string;
    /**
     * What the agent did when it made the picture.
     */
    description?: string;
};

/**
 * A reference to another system.
 */
export type ExternalReferenceDetails = {
    type: 'EXTERNAL_REFERENCE';
    /**
     * The kind of reference, as the agent names it.
     */
    reference_type: string;
    /**
     * The URL where it can be viewed.
     */
    url: string;
    /**
     * A title for people.
     */
    title?: string;
};

/**
 * Details of an artifact that depend on its type.
 */
export type RunEventArtifact = PullRequestDetails | PlanDetails | FileDetails | ScreenshotDetails | ExternalReferenceDetails;

/**
 * A text.
 */
export type TextContent = {
    type: 'text';
    /**
     * The text.
     */
    text: string;
};

/**
 * A change of a file.
 */
export type DiffContent = {
    type: 'diff';
    /**
     * The path of the file.
     */
    path: string;
    /**
     * The old text. null if the file is new.
     */
    old_text: string | null;
    /**
     * The new text.
     */
    new_text: string;
};

/**
 * The output of a terminal.
 */
export type TerminalContent = {
    type: 'terminal';
    /**
     * The agent's id of the terminal.
     */
    terminal_id: string;
    /**
     * The output of the terminal.
     */
    output?: string;
};

/**
 * Content of a kind that Errand does not know.
 */
export type OtherContent = {
    type: 'other';
    /**
     * The content as the agent sent it.
     */
    data?: unknown;
};

/**
 * Content of a tool call.
 */
export type ToolContent = TextContent | DiffContent | TerminalContent | OtherContent;

/**
 * An entry of `RunCreatedEventFiles`.
 */
export type RunCreatedEventFile = {
    /**
     * The path in the workspace.
     */
    path: string;
    /**
     * The kind of input.
     */
    kind: 'attachment' | 'image';
    /**
     * The media type.
     */
    mime_type: string;
    /**
     * The size in bytes.
     */
    size_bytes: number;
};

/**
 * The run was accepted.
 */
export type RunCreatedEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'run.created';
    state: RunState;
    /**
     * The input files, as stored in the workspace.
     */
    files?: Array<RunCreatedEventFile>;
};

/**
 * Why the run ended, or what it waits for.
 */
export type RunStateEventStatus = {
    /**
     * A text for people.
     */
    message: string;
    /**
     * A code for programs: one of the codes of `Error`.
     */
    error_code?: 'invalid_request' | 'authentication_required' | 'external_authentication_required' | 'not_authorized' | 'insufficient_credits' | 'budget_exceeded' | 'feature_not_available' | 'integration_disabled' | 'content_policy_violation' | 'integration_not_configured' | 'resource_not_found' | 'conflict' | 'operation_not_supported' | 'resource_unavailable' | 'internal_error' | 'environment_setup_failed';
    /**
     * Whether a repeat of the same run may succeed.
     */
    retryable?: boolean;
    /**
     * A finer cause than the code, such as `infrastructure_timeout`, `agent_process_failed`, `agent_error`.
     */
    reason?: string;
    /**
     * What you can do about it.
     */
    remedy?: string;
};

/**
 * The state of the run changed.
 */
export type RunStateEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'run.state';
    from: RunState;
    to: RunState;
    /**
     * The reason, for people.
     */
    reason?: string;
    /**
     * Why the run ended, or what it waits for.
     */
    status?: RunStateEventStatus;
    /**
     * What came of the run, if it ended.
     */
    outcome?: RunOutcome;
};

/**
 * An entry of `RunUpdatedEventMembers`.
 */
export type RunUpdatedEventMember = 'title' | 'metadata' | 'prompt';

/**
 * The title, the metadata or the prompt of the run changed. The new values are members of the run.
 */
export type RunUpdatedEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'run.updated';
    /**
     * The members that changed.
     */
    members: Array<RunUpdatedEventMember>;
};

/**
 * A worker started to execute the run.
 */
export type AttemptStartedEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'attempt.started';
    /**
     * 1, 2, 3 …
     */
    attempt: number;
    /**
     * The name of the worker.
     */
    worker: string;
};

/**
 * The worker stopped executing the run.
 */
export type AttemptEndedEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'attempt.ended';
    /**
     * The number of the attempt that ended.
     */
    attempt: number;
    /**
     * The reason, for people.
     */
    reason: string;
};

/**
 * A step that prepares the workspace. Later events with the same id continue it.
 */
export type WorkspaceStepEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'workspace.step';
    /**
     * The step's id.
     */
    step_id: string;
    /**
     * The title of the step.
     */
    title: string;
    /**
     * The state of the step.
     */
    status: 'running' | 'completed' | 'failed';
    /**
     * The output, or a further part of it.
     */
    output?: string;
};

/**
 * The workspace is ready.
 */
export type WorkspaceReadyEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'workspace.ready';
    /**
     * Whether the workspace was restored from an earlier attempt.
     */
    restored: boolean;
    /**
     * What the run has lost, for people: files that no checkpoint contains. Absent: nothing.
     */
    missing?: string;
};

/**
 * An entry of `WorkspaceStoredEventLeftOut`.
 */
export type WorkspaceStoredEventLeftOut = {
    /**
     * The path, below `workspace` or `home`.
     */
    path: string;
    /**
     * The reason, for people.
     */
    reason: string;
};

/**
 * The workspace was stored.
 */
export type WorkspaceStoredEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'workspace.stored';
    /**
     * The name of the checkpoint.
     */
    checkpoint: string;
    /**
     * Files that could not be stored, such as one that cannot be read. At most 20 are named.
     */
    left_out?: Array<WorkspaceStoredEventLeftOut>;
};

/**
 * The workspace could not be stored.
 */
export type WorkspaceNotStoredEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'workspace.not_stored';
    /**
     * The reason, for people.
     */
    reason: string;
};

/**
 * The changes of the run, or its pull request, could not be published.
 */
export type ChangesNotKeptEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'changes.not_kept';
    /**
     * The reason, for people.
     */
    reason: string;
};

/**
 * How long the parts of the start took, in milliseconds. Absent in events of earlier versions and for guests.
 */
export type AgentStartedEventPhases = {
    /**
     * Until its process could be given a message, with the installation of the agent and the check of its MCP servers.
     */
    process_ms: number;
    /**
     * Until it had answered the first message, so with the start of its program.
     */
    initialize_ms: number;
    /**
     * Until its session was open.
     */
    session_ms: number;
};

/**
 * The agent's process has started.
 */
export type AgentStartedEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'agent.started';
    /**
     * A name of the catalogue.
     */
    agent: string;
    /**
     * The version that the agent reports.
     */
    version?: string;
    /**
     * The agent's own id of the session.
     */
    session: string;
    /**
     * Whether the agent remembers the earlier turns.
     */
    resumed: boolean;
    /**
     * How long the parts of the start took, in milliseconds. Absent in events of earlier versions and for guests.
     */
    phases?: AgentStartedEventPhases;
    /**
     * The agent was started and initialized before there was the run. Absent if not, and for guests.
     */
    warm?: true;
};

/**
 * The agent received a prompt.
 */
export type TurnStartedEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'turn.started';
    /**
     * The follow-ups in the prompt. Empty if the prompt is the run's own.
     */
    followup_ids: Array<string>;
    /**
     * Whether the turn is repeated because its worker was lost.
     */
    again: boolean;
    /**
     * The mode of the agent.
     */
    mode?: 'normal' | 'plan' | 'orchestrate';
};

/**
 * The tokens of the turn, if they are known.
 */
export type TurnEndedEventUsage = {
    /**
     * The tokens that the models read.
     */
    input_tokens: number;
    /**
     * The tokens that the models wrote.
     */
    output_tokens: number;
    /**
     * All tokens.
     */
    total_tokens: number;
};

/**
 * The agent finished a turn.
 */
export type TurnEndedEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'turn.ended';
    /**
     * The agent's reason; `end_turn` if it finished normally.
     */
    stop_reason: string;
    /**
     * The agent's final answer. May be empty.
     */
    answer: string;
    /**
     * The part of the answer that `output_schema` asks for.
     */
    data?: unknown;
    /**
     * The tokens of the turn, if they are known.
     */
    usage?: TurnEndedEventUsage;
};

/**
 * A person rated the answer of a turn. The last rating of a person counts.
 */
export type TurnRatedEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'turn.rated';
    /**
     * The turn of the answer.
     */
    rated_turn: number;
    /**
     * What the person thinks of the answer.
     */
    rating: 'good' | 'bad';
    /**
     * The uid of the principal that rated it. Empty for guests.
     */
    rated_by: string;
};

/**
 * An entry of `FollowupReceivedEventFiles`.
 */
export type FollowupReceivedEventFile = {
    /**
     * The path in the workspace.
     */
    path: string;
    /**
     * The kind of input.
     */
    kind: 'attachment' | 'image';
    /**
     * The media type.
     */
    mime_type: string;
    /**
     * The size in bytes.
     */
    size_bytes: number;
};

/**
 * The run received a follow-up.
 */
export type FollowupReceivedEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'followup.received';
    /**
     * The follow-up's id.
     */
    followup_id: string;
    /**
     * The text of the follow-up.
     */
    message: string;
    /**
     * The uid of the principal that wrote it; for a guest, the id of the share link.
     */
    author_id: string;
    /**
     * `guest`: the guest of a share link wrote it. Absent for a principal.
     */
    author_type?: 'guest';
    /**
     * `queue`, `interrupt` or `steer`.
     */
    delivery: string;
    /**
     * The files that came with it, as the workspace gets them.
     */
    files?: Array<FollowupReceivedEventFile>;
};

/**
 * A follow-up that waits was rewritten.
 */
export type FollowupEditedEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'followup.edited';
    /**
     * The follow-up's id.
     */
    followup_id: string;
    /**
     * The new text of the follow-up.
     */
    message: string;
    /**
     * The uid of the principal that rewrote it.
     */
    edited_by: string;
};

/**
 * A follow-up that waited was withdrawn. The agent does not receive it.
 */
export type FollowupWithdrawnEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'followup.withdrawn';
    /**
     * The follow-up's id.
     */
    followup_id: string;
    /**
     * The uid of the principal that withdrew it.
     */
    withdrawn_by: string;
};

/**
 * The agent received a follow-up during its turn.
 */
export type FollowupSteeredEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'followup.steered';
    /**
     * The follow-up's id.
     */
    followup_id: string;
};

/**
 * The agent takes nothing during this turn, so a follow-up with the delivery `steer` waits for the next one.
 */
export type FollowupQueuedEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'followup.queued';
    /**
     * The follow-up's id.
     */
    followup_id: string;
};

/**
 * The question. `GET /agent/runs/{runId}` also contains it while the run waits.
 */
export type PermissionRequestedEventRequest = {
    /**
     * The id in the path of the request that answers the question.
     */
    permission_id: string;
    /**
     * The agent's own name of the call. A model may have written it.
     */
    title: string;
    /**
     * The answers that the agent offers.
     */
    options: Array<PermissionRequestedEventRequestOption>;
    /**
     * The command that the call would run, from the call itself.
     */
    command?: string;
    /**
     * The files that the call is about, and the directory of a command.
     */
    paths?: Array<string>;
    /**
     * The lines that the call removes and adds, in the form of a unified diff.
     */
    diff?: string;
    /**
     * The arguments of the call that the other members do not show, as JSON.
     */
    input?: string;
    /**
     * What the agent says about the call. A model may have written it, so it may be untrue.
     */
    reason?: string;
    /**
     * true: the call is longer than what is shown here. Its event `agent.tool_call` has more of it.
     */
    truncated?: boolean;
    /**
     * The tool call that the question is about.
     */
    tool_call_id?: string;
};

/**
 * An entry of `PermissionRequestedEventRequestOptions`.
 */
export type PermissionRequestedEventRequestOption = {
    /**
     * The value of the answer.
     */
    option_id: string;
    /**
     * A text for people.
     */
    name: string;
    /**
     * Whether the option allows or rejects, and for how long.
     */
    kind: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
};

/**
 * The agent asks for permission, and the run waits for the answer.
 */
export type PermissionRequestedEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'permission.requested';
    /**
     * The question. `GET /agent/runs/{runId}` also contains it while the run waits.
     */
    request: PermissionRequestedEventRequest;
};

/**
 * A permission request was answered.
 */
export type PermissionAnsweredEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'permission.answered';
    /**
     * The question's id.
     */
    permission_id: string;
    /**
     * The chosen option. null if the answer is a rejection that the agent does not offer.
     */
    option_id: string | null;
};

/**
 * A policy requires approval before the run starts or before a follow-up is given; or the inputs of an open approval have changed.
 */
export type ApprovalRequestedEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'approval.requested';
    /**
     * The approval's id. Absent in events of earlier versions.
     */
    approval_id?: string;
    /**
     * The hash of the inputs. Absent in events of earlier versions.
     */
    inputs_hash?: string;
    /**
     * The follow-up that the approval is about. Absent for the run as a whole.
     */
    followup_id?: string;
    /**
     * The policy's id.
     */
    policy_id: string;
    /**
     * The reason, for people.
     */
    reason: string;
};

/**
 * The run or a follow-up was approved or refused.
 */
export type ApprovalDecidedEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'approval.decided';
    /**
     * The approval's id. Absent in events of earlier versions.
     */
    approval_id?: string;
    /**
     * The hash of the inputs. Absent in events of earlier versions.
     */
    inputs_hash?: string;
    /**
     * The follow-up that the approval is about. Absent for the run as a whole.
     */
    followup_id?: string;
    /**
     * false: the run was refused.
     */
    approved: boolean;
    /**
     * The uid of the principal that decided.
     */
    decided_by: string;
    /**
     * A comment on the decision.
     */
    comment?: string;
};

/**
 * A message to a thread of the run was given up.
 */
export type NoticeDeadEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'notice.dead';
    /**
     * The adapter of the thread.
     */
    adapter: string;
    /**
     * The thread's id.
     */
    thread_id: string;
    /**
     * The id by which an administrator can send it again.
     */
    notice_id: string;
    /**
     * The reason, for people.
     */
    reason: string;
};

/**
 * The run was bound to a thread.
 */
export type ThreadBoundEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'thread.bound';
    /**
     * The adapter of the thread.
     */
    adapter: string;
    /**
     * The thread's id.
     */
    thread_id: string;
};

/**
 * The run produced an artifact or a newer version of it.
 */
export type ArtifactAddedEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'artifact.added';
    /**
     * The artifact's id.
     */
    artifact_uid: string;
    /**
     * 1, 2, 3 …
     */
    version: number;
    artifact: RunEventArtifact;
};

/**
 * An entry of `ArtifactLeftOutEventFiles`.
 */
export type ArtifactLeftOutEventFile = {
    /**
     * The path in `artifacts/`.
     */
    path: string;
    /**
     * The reason, for people.
     */
    reason: string;
};

/**
 * Files in `artifacts/` that were not stored.
 */
export type ArtifactLeftOutEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'artifact.left_out';
    /**
     * Each file with the reason.
     */
    files: Array<ArtifactLeftOutEventFile>;
};

/**
 * The agent wrote a message.
 */
export type AgentMessageEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'agent.message';
    /**
     * The same for all parts of one message.
     */
    message_id?: string;
    /**
     * The text or a part of it.
     */
    text: string;
};

/**
 * The agent reported a thought.
 */
export type AgentThoughtEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'agent.thought';
    /**
     * The same for all parts of one message.
     */
    message_id?: string;
    /**
     * The text or a part of it.
     */
    text: string;
};

/**
 * An entry of `AgentToolCallEventLocations`.
 */
export type AgentToolCallEventLocation = {
    /**
     * The path of the file.
     */
    path: string;
    /**
     * The line number.
     */
    line?: number;
};

/**
 * The known part of a tool call. A later event with the same id replaces the members that it contains, except `output`, which it adds. `content` replaces the output too.
 */
export type AgentToolCallEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'agent.tool_call';
    /**
     * The agent's id of the tool call.
     */
    tool_call_id: string;
    /**
     * A title for people.
     */
    title?: string;
    /**
     * `read`, `edit`, `delete`, `move`, `search`, `execute`, `think`, `fetch` or `other`.
     */
    tool_kind?: string;
    /**
     * The state of the tool call.
     */
    status?: 'pending' | 'in_progress' | 'completed' | 'failed';
    /**
     * The content of the tool call.
     */
    content?: Array<ToolContent>;
    /**
     * The output, or a further part of it. It follows the content.
     */
    output?: string;
    /**
     * The files that the tool call works on.
     */
    locations?: Array<AgentToolCallEventLocation>;
    /**
     * The input of the tool.
     */
    raw_input?: unknown;
    /**
     * The output of the tool.
     */
    raw_output?: unknown;
};

/**
 * An entry of `AgentPlanEventEntries`.
 */
export type AgentPlanEventEntry = {
    /**
     * The task.
     */
    content: string;
    /**
     * The state of the task.
     */
    status: string;
    /**
     * The priority that the agent reports.
     */
    priority?: string;
};

/**
 * The complete plan of the agent. A newer plan replaces it.
 */
export type AgentPlanEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'agent.plan';
    /**
     * In the order of the plan.
     */
    entries: Array<AgentPlanEventEntry>;
};

/**
 * The usage of the agent's session so far.
 */
export type AgentUsageEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'agent.usage';
    /**
     * The tokens in the agent's context.
     */
    used: number;
    /**
     * The size of the agent's context in tokens.
     */
    size: number;
    /**
     * The cost in US dollars that the agent reports.
     */
    cost_usd?: number;
};

/**
 * The agent chose a title for its work.
 */
export type AgentTitleEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'agent.title';
    /**
     * The title.
     */
    title: string;
};

/**
 * A notice about the agent.
 */
export type AgentNoticeEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'agent.notice';
    /**
     * `info`, `warning`, `error`, or another word of the agent.
     */
    severity: string;
    /**
     * A text for people.
     */
    text: string;
};

/**
 * The agent asked for permission, and the run's permission policy granted it.
 */
export type AgentPermissionGrantedEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'agent.permission_granted';
    /**
     * The question of the agent.
     */
    title: string;
    /**
     * The option that was chosen.
     */
    option_id: string;
};

/**
 * Other information from the agent.
 */
export type AgentOtherEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    kind: 'agent.other';
    /**
     * The agent's name of it.
     */
    name: string;
    /**
     * The content as the agent sent it.
     */
    data?: unknown;
};

/**
 * An event of a later version of the server. Clients should ignore kinds that they do not know.
 */
export type UnknownRunEvent = {
    /**
     * 1, 2, 3 …, without gaps.
     */
    seq: number;
    /**
     * The turn of the event. 0 before the first turn.
     */
    turn: number;
    /**
     * When the event was committed.
     */
    at: string;
    /**
     * The run of the event. Present only in the log of all runs.
     */
    run_id?: string;
    /**
     * The value of `after` that continues behind this event. Present only in the log of all runs.
     */
    cursor?: string;
    /**
     * A kind that this document does not list.
     */
    kind: string;
    [key: string]: unknown;
};

/**
 * An event in the log of a run. `kind` names what happened; further members depend on the kind. New kinds may be added: clients should ignore those that they do not know.
 */
export type RunEvent = RunCreatedEvent | RunStateEvent | RunUpdatedEvent | AttemptStartedEvent | AttemptEndedEvent | WorkspaceStepEvent | WorkspaceReadyEvent | WorkspaceStoredEvent | WorkspaceNotStoredEvent | ChangesNotKeptEvent | AgentStartedEvent | TurnStartedEvent | TurnEndedEvent | TurnRatedEvent | FollowupReceivedEvent | FollowupEditedEvent | FollowupWithdrawnEvent | FollowupSteeredEvent | FollowupQueuedEvent | PermissionRequestedEvent | PermissionAnsweredEvent | ApprovalRequestedEvent | ApprovalDecidedEvent | NoticeDeadEvent | ThreadBoundEvent | ArtifactAddedEvent | ArtifactLeftOutEvent | AgentMessageEvent | AgentThoughtEvent | AgentToolCallEvent | AgentPlanEvent | AgentUsageEvent | AgentTitleEvent | AgentNoticeEvent | AgentPermissionGrantedEvent | AgentOtherEvent;

/**
 * A page of a run's log.
 */
export type RunEventPage = {
    /**
     * Ordered by `seq`.
     */
    events: Array<RunEvent>;
    /**
     * The value of `after` for the next page. It is unchanged if there are no newer events yet.
     */
    next_after: number;
    /**
     * The value of `before` for the earlier page. Absent if there are no earlier events.
     */
    next_before?: number;
};

/**
 * A page of the log of all runs.
 */
export type LoggedEventPage = {
    /**
     * In the order of the log. Each event has `run_id` and `cursor`.
     */
    events: Array<RunEvent>;
    /**
     * The value of `after` for the next page.
     */
    next_after: string;
    /**
     * Whether the log already contains more events.
     */
    has_more: boolean;
};

/**
 * One message of an event stream. The lines of the stream begin with the names of these members.
 */
export type StreamedRunEvent = {
    /**
     * The position of the event. Send it as `Last-Event-ID` to continue behind the event.
     */
    id: string;
    /**
     * The `kind` of the event.
     */
    event: string;
    /**
     * The event as JSON, in one line.
     */
    data: string;
};

/**
 * The server does not know the position of the reader. The stream continues behind the `id` of this message; clients should reload the data that they store.
 */
export type StreamReset = {
    kind: 'reset';
    /**
     * A text for people.
     */
    reason: string;
};

/**
 * A model that an agent can use.
 */
export type AgentModel = {
    /**
     * `config.model_id` or `config.harness.model_id` of a run.
     */
    id: string;
    /**
     * The name shown to people.
     */
    display_name: string;
    /**
     * The provider of the model. `UNKNOWN`: any other.
     */
    provider: 'OPENAI' | 'ANTHROPIC' | 'GOOGLE' | 'UNKNOWN';
    /**
     * Whether the model accepts images.
     */
    vision_supported: boolean;
    /**
     * What the model is good at.
     */
    description?: string;
};

/**
 * The models that the agents of this server are known to support.
 */
export type ListModelsResponse = {
    /**
     * The model of a run that names neither an agent nor a model.
     */
    default_model_id: string;
    /**
     * The models of all usable agents, those of the default agent first. An agent may accept other models, which a run can name as well.
     */
    models: Array<AgentModel>;
};

/**
 * An agent that can do runs.
 */
export type CatalogueAgent = {
    /**
     * `config.harness.type` of a run.
     */
    name: string;
    /**
     * The name shown to people.
     */
    display_name: string;
    /**
     * What the agent is, in one sentence.
     */
    description: string;
    /**
     * Whether the agent is installed on the machine that answers.
     */
    installed: boolean;
    /**
     * The version of the agent.
     */
    version?: string;
    /**
     * Whether the agent does the runs that name no agent.
     */
    is_default: boolean;
    /**
     * What is missing, or is installed at the first use. One sentence each.
     */
    needs: Array<string>;
    /**
     * Whether the agent can do a run now.
     */
    usable: boolean;
    /**
     * The license of the agent: an SPDX identifier or a text.
     */
    license?: string;
    /**
     * The first model is used if a run names none.
     */
    models: Array<AgentModel>;
};

/**
 * The agents of this server.
 */
export type ListCatalogueResponse = {
    /**
     * The default agent comes first.
     */
    agents: Array<CatalogueAgent>;
};

/**
 * A part of a message in words.
 */
export type TextBlock = {
    type: 'text';
    /**
     * The text.
     */
    text: string;
};

/**
 * An action of the agent.
 */
export type ActionBlock = {
    type: 'action';
    /**
     * The id by which the result refers to the action.
     */
    id: string;
    /**
     * The kind of action.
     */
    category: 'command' | 'files' | 'search' | 'integration' | 'documents' | 'computer' | 'review' | 'skill';
    /**
     * The name that the agent uses.
     */
    name: string;
    /**
     * The input of the action. Long texts are cut.
     */
    input: unknown;
};

/**
 * The result of an action, so far.
 */
export type ActionResultBlock = {
    type: 'action_result';
    /**
     * The id of the action.
     */
    action_id: string;
    /**
     * The kind of action.
     */
    category: 'command' | 'files' | 'search' | 'integration' | 'documents' | 'computer' | 'review' | 'skill';
    /**
     * The name that the agent uses.
     */
    name: string;
    /**
     * `denied`: a person or a policy refused the action.
     */
    state: 'running' | 'completed' | 'failed' | 'denied';
    /**
     * The output so far: `text`, and `content` with all parts if some are no text, such as changes of files. Or the agent's own object, or `value` with any other value. Empty if there is none. Long texts are cut.
     */
    output: {
        [key: string]: unknown;
    };
};

/**
 * An event of the run that belongs to the conversation.
 */
export type EventBlock = {
    type: 'event';
    /**
     * What happened. New names may be added.
     */
    name: string;
    /**
     * The members of this event.
     */
    data: unknown;
};

/**
 * A part of a message. `type` names its kind.
 */
export type ContentBlock = TextBlock | ActionBlock | ActionResultBlock | EventBlock;

/**
 * A message of the user, the agent, a tool or the system.
 */
export type ConversationMessage = {
    /**
     * The author of the message.
     */
    role: 'user' | 'assistant' | 'tool' | 'system';
    /**
     * The parts of the message, in order.
     */
    content: Array<ContentBlock>;
    /**
     * When the message began.
     */
    timestamp?: string;
};

/**
 * One turn.
 */
export type ConversationStep = {
    /**
     * An id that is the same at each read.
     */
    id: string;
    /**
     * The subject of the step, in one line.
     */
    description?: string;
    /**
     * The agent's final answer, shortened if it is long.
     */
    summary?: string;
    /**
     * When the step started. Absent while it waits.
     */
    started_at?: string;
    /**
     * When the step ended. Absent while it is in progress.
     */
    completed_at?: string;
    /**
     * Ordered by the time at which each message began.
     */
    messages: Array<ConversationMessage>;
    /**
     * Steps within this one. Always empty in this version.
     */
    steps: Array<ConversationStep>;
};

/**
 * All messages and actions, in a format that is the same for every agent.
 */
export type Conversation = {
    /**
     * The conversation's id. All its runs have the same.
     */
    conversation_id: string;
    /**
     * One step per turn, of all runs of the conversation, the oldest first.
     */
    steps: Array<ConversationStep>;
    /**
     * Whether there are steps before the first one here.
     */
    has_more_before: boolean;
};

/**
 * An entry of `RunTimelineEvents`.
 */
export type RunTimelineEvent = {
    /**
     * An id that is the same at each read.
     */
    event_uuid: string;
    /**
     * The run's id.
     */
    run_id: string;
    /**
     * The number of the attempt: 1, 2, 3 … Absent while no worker executes the run.
     */
    execution_id?: number;
    /**
     * What happened. The names are those of the public client; `GET …/events` has every event.
     */
    event_type: 'oz_run_created' | 'oz_run_claimed' | 'worker_container_ready' | 'shared_session_started' | 'agent_started' | 'oz_run_done' | 'oz_run_blocked' | 'oz_run_cancelled' | 'oz_run_failed' | 'oz_run_errored' | 'vm_shutdown';
    /**
     * When the event was stored.
     */
    occurred_at: string;
    /**
     * The members of the event, as in `RunEvent`.
     */
    payload?: {
        [key: string]: unknown;
    };
};

/**
 * The steps of a run from its creation to its end.
 */
export type RunTimeline = {
    /**
     * In the order in which they happened.
     */
    events: Array<RunTimelineEvent>;
};

/**
 * Opens one run to everyone who has the link, without an account.
 */
export type ShareLink = {
    /**
     * The link's id.
     */
    id: string;
    /**
     * `VIEWER`: guests see the run. `EDITOR`: they may also send follow-ups, as long as the team allows it.
     */
    access: 'VIEWER' | 'EDITOR';
    /**
     * The uid of the principal that created the link.
     */
    created_by: string;
    /**
     * When the link was created.
     */
    created_at: string;
    /**
     * When the link expires.
     */
    expires_at: string;
};

/**
 * A new link.
 */
export type IssuedShareLink = {
    /**
     * The link's id.
     */
    id: string;
    /**
     * `VIEWER`: guests see the run. `EDITOR`: they may also send follow-ups, as long as the team allows it.
     */
    access: 'VIEWER' | 'EDITOR';
    /**
     * The uid of the principal that created the link.
     */
    created_by: string;
    /**
     * When the link was created.
     */
    created_at: string;
    /**
     * When the link expires.
     */
    expires_at: string;
    /**
     * The URL of the link. It is shown only once.
     */
    url: string;
};

/**
 * The links of a run.
 */
export type ListShareLinksResponse = {
    /**
     * The oldest link comes first. Expired links are listed for 30 days.
     */
    share_links: Array<ShareLink>;
    page_info: PageInfo;
};

/**
 * What guests may do, and the lifetime of the link. At most one of the two times.
 */
export type CreateShareLinkRequest = {
    /**
     * Default: `VIEWER`. `EDITOR` requires that the team's `sharing` is `editor`.
     */
    access?: 'VIEWER' | 'EDITOR';
    /**
     * When the link expires: in the future, and within a year.
     */
    expires_at?: string;
    /**
     * The lifetime of the link, instead of `expires_at`. Default: 7 days; maximum: one year.
     */
    expires_in_seconds?: number;
};

/**
 * The newest version.
 */
export type FileArtifactDetailsData = {
    /**
     * The media type, derived from the file's name.
     */
    content_type: string;
    /**
     * The file. The URL works without a key until `expires_at`.
     */
    download_url: string;
    /**
     * When `download_url` stops to work.
     */
    expires_at: string;
    /**
     * What the file shows, if the agent said so.
     */
    description?: string;
    /**
     * The last segment of the path.
     */
    filename: string;
    /**
     * The path in the workspace.
     */
    filepath: string;
    /**
     * The size in bytes.
     */
    size_bytes?: number;
};

/**
 * A file that a run made.
 */
export type FileArtifactDetails = {
    /**
     * The artifact's id.
     */
    artifact_uid: string;
    artifact_type: 'FILE';
    /**
     * When the artifact was first created. Newer versions keep this time.
     */
    created_at: string;
    /**
     * The newest version.
     */
    data: FileArtifactDetailsData;
};

/**
 * The newest version.
 */
export type ScreenshotArtifactDetailsData = {
    /**
     * The media type, derived from the file's name.
     */
    content_type: string;
    /**
     * The file. The URL works without a key until `expires_at`.
     */
    download_url: string;
    /**
     * When `download_url` stops to work.
     */
    expires_at: string;
    /**
     * What the file shows, if the agent said so.
     */
    description?: string;
};

/**
 * A picture that a run made.
 */
export type ScreenshotArtifactDetails = {
    /**
     * The artifact's id.
     */
    artifact_uid: string;
    artifact_type: 'SCREENSHOT';
    /**
     * When the artifact was first created. Newer versions keep this time.
     */
    created_at: string;
    /**
     * The newest version.
     */
    data: ScreenshotArtifactDetailsData;
};

/**
 * The newest version.
 */
export type PlanArtifactDetailsData = {
    /**
     * The text of the plan. Empty: the plan has none.
     */
    content: string;
    /**
     * The media type of the text.
     */
    content_type: string;
    /**
     * The plan's id.
     */
    document_uid: string;
    /**
     * The same as `document_uid`.
     */
    notebook_uid: string;
    /**
     * A title for people.
     */
    title?: string;
    /**
     * The URL where it can be viewed.
     */
    url?: string;
};

/**
 * A plan that a run made.
 */
export type PlanArtifactDetails = {
    /**
     * The artifact's id.
     */
    artifact_uid: string;
    artifact_type: 'PLAN';
    /**
     * When the artifact was first created. Newer versions keep this time.
     */
    created_at: string;
    /**
     * The newest version.
     */
    data: PlanArtifactDetailsData;
};

/**
 * An artifact with its content, or with an address where it can be downloaded.
 */
export type ArtifactDetails = FileArtifactDetails | ScreenshotArtifactDetails | PlanArtifactDetails;

/**
 * A file of the last ended turn.
 */
export type HandoffAttachment = {
    /**
     * The id of the artifact.
     */
    attachment_id: string;
    /**
     * The name of the file.
     */
    filename: string;
    /**
     * The media type, derived from the file's name.
     */
    mime_type: string;
    /**
     * The file. The URL works for five minutes without a key.
     */
    download_url: string;
};

/**
 * The patches and files that the last ended turn of a run left.
 */
export type HandoffAttachments = {
    /**
     * Oldest first.
     */
    attachments: Array<HandoffAttachment>;
};

/**
 * A file that a run changed.
 */
export type ChangedFile = {
    /**
     * The path in the repository.
     */
    path: string;
    /**
     * The path before the file was renamed.
     */
    old_path?: string;
    /**
     * What happened to the file.
     */
    status: 'added' | 'modified' | 'deleted' | 'renamed';
    /**
     * Added lines. null: the file is binary.
     */
    additions: number | null;
    /**
     * Deleted lines. null: the file is binary.
     */
    deletions: number | null;
};

/**
 * What a run has changed in a repository since it was cloned.
 */
export type RepositoryChanges = {
    /**
     * `owner/name`.
     */
    repository: string;
    /**
     * The branch that was pushed last.
     */
    branch?: string;
    /**
     * The commit that was cloned.
     */
    base: string;
    /**
     * The commit that was pushed last. null: none was pushed.
     */
    head: string | null;
    /**
     * The URL of the pull request of the branch.
     */
    pull_request?: string;
    /**
     * The changed files.
     */
    files: Array<ChangedFile>;
    /**
     * true: the files or the diff are incomplete, because they are too long.
     */
    truncated?: boolean;
    /**
     * The unified diff (`text/x-diff`). The URL works for five minutes without a key.
     */
    diff_url: string;
};

/**
 * What a run has changed in its repositories.
 */
export type RunChanges = {
    /**
     * The turn after which the changes were recorded. 0: no turn has ended.
     */
    turn: number;
    /**
     * The repositories that the run has changed.
     */
    repositories: Array<RepositoryChanges>;
};

/**
 * Who made a change.
 */
export type AuditActor = {
    /**
     * The principal, or the share link of a guest. Of a system actor: the part of the server, for example `start`, `adapter:chat` or `server`.
     */
    uid: string;
    /**
     * What made the change: a caller, or the server itself.
     */
    type: 'user' | 'service_account' | 'guest' | 'system';
    /**
     * The API key that the caller used.
     */
    key_id?: string;
    /**
     * The caller's network address.
     */
    address?: string;
};

/**
 * The object that was changed.
 */
export type AuditTarget = {
    /**
     * The type of the object.
     */
    type: string;
    /**
     * Its id.
     */
    id: string;
};

/**
 * One change to one object. It contains no secret: such values are shown as `[redacted]`.
 */
export type AuditEntry = {
    /**
     * The entry's id.
     */
    id: string;
    /**
     * When the change was made.
     */
    at: string;
    actor: AuditActor;
    /**
     * The type of the target and what happened to it, for example `key.created`.
     */
    action: string;
    target: AuditTarget;
    /**
     * The members that changed, as they were. Absent for a new object.
     */
    before?: {
        [key: string]: unknown;
    };
    /**
     * The members that changed, as they are. Absent for a deleted object.
     */
    after?: {
        [key: string]: unknown;
    };
    /**
     * The `X-Request-Id` of the request. Changes without a request name their transaction.
     */
    request_id: string;
};

/**
 * A page of audit entries.
 */
export type ListAuditResponse = {
    /**
     * The newest entry comes first.
     */
    entries: Array<AuditEntry>;
    page_info: PageInfo;
};

/**
 * The runs to cancel: their ids, or a filter and the number of runs that it matches.
 */
export type CancelRunsRequest = {
    /**
     * The ids of the runs, at most 100.
     */
    run_ids?: Array<string>;
    filter?: RunFilter;
    /**
     * With `filter`: how many runs that have not ended it matches. If the number differs by more than a tenth, nothing is cancelled, and `matching_runs` of the 409 is the number.
     */
    expected?: number;
};

/**
 * `cancelled`: this request cancelled the run. `already_cancelled`: it was cancelled before. `ended`: it had ended in another state. `not_found`: it does not exist, or the caller cannot see it. `not_authorized`: a policy forbids it.
 */
export type CancelStatus = 'cancelled' | 'already_cancelled' | 'ended' | 'not_found' | 'not_authorized';

/**
 * The result for one run.
 */
export type CancelResult = {
    /**
     * The id as requested.
     */
    run_id: string;
    status: CancelStatus;
};

/**
 * The result for each requested run.
 */
export type CancelRunsResponse = {
    /**
     * In the order of the request, or by age.
     */
    results: Array<CancelResult>;
};

/**
 * The turn ends.
 */
export type RunInterrupted = {
    [key: string]: unknown;
};

/**
 * The turn ends.
 */
export type ConversationInterrupted = {
    /**
     * The run whose turn ends.
     */
    run_id: string;
};

/**
 * The operation succeeded. There is no other result.
 */
export type Success = {
    /**
     * The operation succeeded.
     */
    success: true;
};

/**
 * An entry of `RunOfBatchImages`.
 */
export type RunOfBatchImage = {
    /**
     * The bytes, encoded as base64.
     */
    data: string;
    /**
     * The media type of the bytes.
     */
    mime_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
};

/**
 * An entry of `RunOfBatchAttachments`.
 */
export type RunOfBatchAttachment = {
    /**
     * The name of the file in `attachments/`. Unsafe characters are replaced, and a number is added if the name is already used.
     */
    file_name: string;
    /**
     * The media type of the bytes.
     */
    mime_type: string;
    /**
     * The bytes, encoded as base64.
     */
    data: string;
};

/**
 * A new run, as in `POST /agent/runs`, and its key.
 */
export type RunOfBatch = {
    /**
     * The task, in words.
     */
    prompt?: string;
    config?: AmbientAgentConfig;
    /**
     * The title of the run. Default: the beginning of the prompt.
     */
    title?: string;
    /**
     * `[owner/]repo:name` or `[owner/]repo:path`. It takes precedence over `config.skill_spec`.
     */
    skill?: string;
    /**
     * A conversation to continue, with its files and, if the agent is the same, its memory. Values that `config` and `team` leave out are taken from the newest run of the conversation, except `name` and `skill_spec`.
     */
    conversation_id?: string;
    /**
     * The parent of the run.
     */
    parent_run_id?: string;
    /**
     * false: only the creator and administrators can see the run. Default: true.
     */
    team?: boolean;
    /**
     * Images that belong to the prompt, for agents that accept images.
     */
    images?: Array<RunOfBatchImage>;
    /**
     * Files that belong to the prompt.
     */
    attachments?: Array<RunOfBatchAttachment>;
    /**
     * The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: `normal`.
     */
    mode?: 'normal' | 'plan' | 'orchestrate';
    /**
     * true: `config.permission_policy` defaults to `ask`.
     */
    interactive?: boolean;
    /**
     * The caller's own labels of the run, by which runs can be listed. At most 20 pairs. Names have up to 64 characters of `a-z A-Z 0-9 . _ -`, values up to 256 bytes.
     */
    metadata?: {
        [key: string]: string;
    };
    /**
     * The uid of the named agent that executes the run. Values that `config` leaves out are taken from it. Default: the caller, if its key belongs to a named agent.
     */
    agent_identity_uid?: string;
    /**
     * The uid or the email address of an active member, who becomes the creator of the run. The run gets no personal secrets, and the member cannot approve it. For administrators, and for named agents with `on_behalf_of_enabled`.
     */
    on_behalf_of?: string;
    webhook?: RunWebhook;
    /**
     * The key of this run, as the header `Idempotency-Key` of a single request. Default: one that is made from the header of this request and the position of the run.
     */
    idempotency_key?: string;
};

/**
 * Several new runs. Each is accepted or refused by itself.
 */
export type CreateRunsRequest = {
    /**
     * The runs to start, at most 50.
     */
    runs: Array<RunOfBatch>;
};

/**
 * What a single request for this run would have returned.
 */
export type CreateRunsResult = {
    /**
     * The new run's id.
     */
    run_id?: string;
    /**
     * The same as `run_id`.
     */
    task_id?: string;
    state?: RunState;
    /**
     * Whether all workers that can execute the run are busy, more runs wait than slots are free, or no worker exists, or the quota `running_runs` of the team leaves no room.
     */
    at_capacity?: boolean;
    waiting_for?: RunWaitingFor;
    /**
     * The address of the run's page for guests, if `config.session_sharing` asked for it and the team allows it. Only this response contains it. It expires after 7 days.
     */
    share_url?: string;
    /**
     * The paths of members that were accepted and have no effect: unknown ones, and known ones that this server does not use. Absent if there are none. At most 100; then `...` is the last entry.
     */
    ignored?: Array<string>;
    /**
     * Why the run was not started. Then no other member is there.
     */
    error?: Error;
};

/**
 * The result for each run.
 */
export type CreateRunsResponse = {
    /**
     * In the order of the request.
     */
    results: Array<CreateRunsResult>;
};

/**
 * What a key allows at most. A write scope includes the read scope; `admin` includes all scopes.
 */
export type KeyScope = 'runs:read' | 'runs:write' | 'settings:read' | 'settings:write' | 'admin';

/**
 * A key, without its secret.
 */
export type ApiKey = {
    /**
     * The key's id.
     */
    id: string;
    /**
     * The name that the owner chose.
     */
    name: string;
    /**
     * The beginning of the key, so that its owner recognises it.
     */
    hint: string;
    /**
     * The scopes of the key.
     */
    scopes: Array<KeyScope>;
    /**
     * The uid of the principal that owns the key.
     */
    principal_uid: string;
    /**
     * The uid of the principal that created the key. Absent for the server's own key.
     */
    created_by?: string;
    /**
     * The id of the key with which it was created. Absent for a key that was created without one.
     */
    created_by_key?: string;
    /**
     * When the key was created.
     */
    created_at: string;
    /**
     * When the key expires. Absent if it does not expire.
     */
    expires_at?: string;
    /**
     * When the key was last used, to the minute.
     */
    last_used_at?: string;
    /**
     * When the key was revoked.
     */
    revoked_at?: string;
};

/**
 * A new key.
 */
export type IssuedApiKey = {
    /**
     * The key's id.
     */
    id: string;
    /**
     * The name that the owner chose.
     */
    name: string;
    /**
     * The beginning of the key, so that its owner recognises it.
     */
    hint: string;
    /**
     * The scopes of the key.
     */
    scopes: Array<KeyScope>;
    /**
     * The uid of the principal that owns the key.
     */
    principal_uid: string;
    /**
     * The uid of the principal that created the key. Absent for the server's own key.
     */
    created_by?: string;
    /**
     * The id of the key with which it was created. Absent for a key that was created without one.
     */
    created_by_key?: string;
    /**
     * When the key was created.
     */
    created_at: string;
    /**
     * When the key expires. Absent if it does not expire.
     */
    expires_at?: string;
    /**
     * When the key was last used, to the minute.
     */
    last_used_at?: string;
    /**
     * When the key was revoked.
     */
    revoked_at?: string;
    /**
     * The key itself. It is shown only once.
     */
    key: string;
};

/**
 * An administrator gets all keys of the team, others get their own.
 */
export type ListKeysResponse = {
    /**
     * The newest key comes first. Revoked keys are included, and expired ones for 30 days.
     */
    keys: Array<ApiKey>;
    page_info: PageInfo;
};

/**
 * How many keys were revoked.
 */
export type RevokedKeys = {
    /**
     * The number of keys that were valid until now.
     */
    revoked: number;
};

/**
 * A new key.
 */
export type CreateKeyRequest = {
    /**
     * A name for the list of keys.
     */
    name: string;
    /**
     * At most the scopes of the caller's own key. Default: `runs:write`.
     */
    scopes?: Array<KeyScope>;
    /**
     * When the key expires: no later than the caller's own key, which is the default.
     */
    expires_at?: string;
    /**
     * The lifetime in days, instead of `expires_at`.
     */
    expires_in_days?: number;
    /**
     * For administrators: the uid of the principal that will own the key. Default: the caller.
     */
    principal_uid?: string;
};

/**
 * The members to change. Other members keep their value.
 */
export type UpdateKeyRequest = {
    /**
     * A name for the list of keys.
     */
    name?: string;
    /**
     * When the key expires.
     */
    expires_at?: string;
};

/**
 * How the old key ends.
 */
export type RotateKeyRequest = {
    /**
     * For how long the old key continues to work. Default: 0.
     */
    overlap_seconds?: number;
};

/**
 * The proof of what a CI workflow is.
 */
export type ExchangeKeyRequest = {
    /**
     * The OpenID Connect token of the workflow's job.
     */
    token: string;
    /**
     * The lifetime of the key in seconds. Default: an hour, which is also the most.
     */
    expires_in?: number;
    /**
     * The team whose policy gives the key. Needed only if policies of several teams do.
     */
    team_uid?: string;
};

/**
 * A program that wants a key of the person in front of it.
 */
export type DeviceCodeRequest = {
    /**
     * What the program calls itself. The person sees it, and it becomes the name of the key.
     */
    client_name?: string;
};

/**
 * The codes of one program.
 */
export type DeviceCodeResponse = {
    /**
     * The secret with which the program asks for the key.
     */
    device_code: string;
    /**
     * What the person enters at `verification_uri`.
     */
    user_code: string;
    /**
     * The page that the person opens.
     */
    verification_uri: string;
    /**
     * The seconds until both codes expire.
     */
    expires_in: number;
    /**
     * The seconds to wait between two requests for the key.
     */
    interval: number;
};

/**
 * Asks for the key of a device code.
 */
export type DeviceTokenRequest = {
    /**
     * The secret of the program.
     */
    device_code: string;
};

/**
 * One check of the server.
 */
export type DoctorCheck = {
    /**
     * The name of the check.
     */
    name: string;
    /**
     * `fail`: something does not work. `warn`: something may soon fail or is not safe.
     */
    status: 'ok' | 'warn' | 'fail';
    /**
     * The result of the check.
     */
    message: string;
    /**
     * How to fix the problem.
     */
    remedy?: string;
};

/**
 * The health of the server.
 */
export type DoctorResponse = {
    /**
     * The worst status of all checks.
     */
    status: 'ok' | 'warn' | 'fail';
    /**
     * The results of all checks, made now by the process that answers.
     */
    checks: Array<DoctorCheck>;
};

/**
 * The networks from which agents connect to other servers.
 */
export type EgressRanges = {
    /**
     * IPv4 and IPv6 networks, such as `203.0.113.0/24`.
     */
    cidrs: Array<string>;
};

/**
 * An entry of `EnvironmentConfigGithubRepos`.
 */
export type EnvironmentConfigGithubRepo = {
    /**
     * The owner of the repository.
     */
    owner: string;
    /**
     * The name of the repository.
     */
    repo: string;
};

/**
 * What an agent works in: repositories, image and setup.
 */
export type EnvironmentConfig = {
    /**
     * The name shown to people.
     */
    name: string;
    /**
     * The purpose of the environment.
     */
    description?: string;
    /**
     * The container image in which the setup commands and the agent run. Requires the docker sandbox.
     */
    docker_image?: string;
    /**
     * The repositories. Each run begins with a clone of each, and can use their skills.
     */
    github_repos?: Array<EnvironmentConfigGithubRepo>;
    /**
     * The only folders of its repositories that are checked out, for large repositories. Files beside and above them, and folders of the root whose names begin with a dot, are there as well. The agent can widen the checkout with `git sparse-checkout add`. A repository that has none of them is checked out completely. Absent or empty: all.
     */
    sparse?: Array<string>;
    /**
     * Shell commands that prepare the workspace, run one after the other in the sandbox. If one fails, the run ends.
     */
    setup_commands?: Array<string>;
    /**
     * `none` (default): the commands and the agent reach only the model, the run's repositories and its MCP servers. `internet`: they also reach public addresses.
     */
    network?: 'none' | 'internet';
    /**
     * What Errand does with changes in its repositories, if neither a request nor a routing rule says it. Default: requests of people in chats make a draft pull request where the team can open one, others none.
     */
    pull_request?: 'off' | 'draft' | 'ready';
    /**
     * The only secrets of the team that its runs get, and no personal ones, if neither a request nor a named agent says it. Absent or empty: all of them.
     */
    secrets?: Array<SecretRef>;
    /**
     * How long a run that FAILED keeps its agent and workspace, so that a follow-up can look into the failure there. Its secrets stay in use for that time. Absent: its processes end at once.
     */
    failure_session_retention_minutes?: number;
};

/**
 * A new environment.
 */
export type CreateEnvironmentRequest = {
    config: EnvironmentConfig;
    /**
     * false: only the creator and administrators can see and use it. Default: true.
     */
    team?: boolean;
};

/**
 * The new configuration of the environment. Its owner does not change.
 */
export type ReplaceEnvironmentRequest = {
    config: EnvironmentConfig;
};

/**
 * The newest run in the environment, of the runs that you can see.
 */
export type EnvironmentLastTaskCreated = {
    /**
     * The run's id.
     */
    id: string;
    /**
     * The run's title.
     */
    title: string;
    /**
     * The prompt of the run.
     */
    prompt: string;
    state: RunState;
    /**
     * When the run was accepted.
     */
    created_at: string;
    /**
     * When the run last changed. A new event counts as a change.
     */
    updated_at: string;
    /**
     * When the agent first received the prompt.
     */
    started_at?: string;
};

/**
 * An environment and its most recent runs.
 */
export type Environment = {
    /**
     * 22 letters and digits, used as `config.environment_id` of a run.
     */
    uid: string;
    config: EnvironmentConfig;
    /**
     * When the environment was last changed.
     */
    last_updated: string;
    /**
     * Whether the setup commands failed at their last execution.
     */
    setup_failed: boolean;
    /**
     * When the most recent run in the environment started, of the runs that you can see.
     */
    last_task_run_timestamp?: string;
    /**
     * The newest run in the environment, of the runs that you can see.
     */
    last_task_created?: EnvironmentLastTaskCreated;
    /**
     * Who can see and use the environment.
     */
    scope?: Scope;
    creator?: RunCreatorInfo;
    last_editor?: RunCreatorInfo;
};

/**
 * The environments that you can use.
 */
export type ListEnvironmentsResponse = {
    /**
     * In the order of `sort_by`.
     */
    environments: Array<Environment>;
    page_info: PageInfo;
};

/**
 * A run.
 */
export type RunReference = {
    /**
     * The run's id.
     */
    run_id: string;
};

/**
 * The author of a follow-up.
 */
export type FollowupAuthor = {
    /**
     * The principal's id; for a guest, the id of the share link.
     */
    uid: string;
    /**
     * `user`: a person. `service_account`: a program. `guest`: the guest of a share link.
     */
    type: 'user' | 'service_account' | 'guest';
    /**
     * The name shown on the pages.
     */
    display_name?: string;
    /**
     * The email address, if known.
     */
    email?: string;
    /**
     * The URL of a picture, if known.
     */
    photo_url?: string;
};

/**
 * A message to a run after its creation.
 */
export type RunFollowup = {
    /**
     * The follow-up's id.
     */
    followup_id: string;
    /**
     * The text that the agent reads, with the comments. After a change, the new one.
     */
    message: string;
    /**
     * The comments on changed lines that came with it. A change of the text replaces them.
     */
    comments?: Array<LineComment>;
    author: FollowupAuthor;
    /**
     * Where it was sent from.
     */
    source: RunSourceType;
    /**
     * When it was received.
     */
    created_at: string;
    /**
     * How it was to be delivered.
     */
    delivery: 'queue' | 'interrupt' | 'steer';
    /**
     * `private`: it is not posted to threads. Everyone who sees the run can read it here.
     */
    visibility: 'thread' | 'private';
    /**
     * `held`: it waits for the next turn. `waiting_approval`: a policy requires its approval; no later follow-up is given before it. `given`: a turn has taken it. `withdrawn`, `refused`: the agent never gets it.
     */
    status: 'held' | 'waiting_approval' | 'given' | 'withdrawn' | 'refused';
    /**
     * The mode that it asks for.
     */
    mode?: 'normal' | 'plan' | 'orchestrate';
    /**
     * The turn that has taken it.
     */
    turn?: number;
    /**
     * The approval that a policy requires of this follow-up alone. Before a run starts, its follow-ups are approved with it.
     */
    approval?: RunApproval;
    /**
     * When its text was last changed.
     */
    edited_at?: string;
};

/**
 * A page of the follow-ups of a run.
 */
export type ListRunFollowupsResponse = {
    /**
     * The oldest comes first.
     */
    followups: Array<RunFollowup>;
    page_info: PageInfo;
};

/**
 * The new text of a follow-up that is held or waits for approval.
 */
export type UpdateRunFollowupRequest = {
    /**
     * The text of the follow-up.
     */
    message: string;
};

/**
 * The tokens that the program of the agent reported.
 */
export type HarnessUsage = {
    /**
     * Whether there is `usage`.
     */
    available: boolean;
    /**
     * The conversation of the run.
     */
    conversation_id: string;
    /**
     * The run's id.
     */
    run_id: string;
    /**
     * The age of `usage`.
     */
    age_seconds?: number;
    /**
     * The sum over the finished turns. Its members have the names of the public client.
     */
    usage?: {
        [key: string]: unknown;
    };
};

/**
 * Links an external account to a principal.
 */
export type IdentityLink = {
    /**
     * The link's id.
     */
    id: string;
    /**
     * The external account, as its adapter names it.
     */
    subject: string;
    /**
     * The adapter of the account: the part of `subject` before the first colon.
     */
    adapter: string;
    /**
     * The uid of the principal that owns the account.
     */
    principal_uid: string;
    /**
     * When the account was first seen or linked.
     */
    created_at: string;
};

/**
 * The external accounts of the team's principals.
 */
export type ListIdentityLinksResponse = {
    /**
     * The oldest link comes first.
     */
    links: Array<IdentityLink>;
    page_info: PageInfo;
};

/**
 * Links an external account to a principal.
 */
export type LinkIdentityRequest = {
    /**
     * The external account, as its adapter names it. It may be an account that has not been seen yet.
     */
    subject: string;
    /**
     * The uid of the principal that will own the account.
     */
    principal_uid: string;
};

/**
 * The result: a run, a follow-up, a changed or withdrawn request, a cancellation, an answer, a reply, or the reason why nothing was done.
 */
export type InboxEventDisposition = 'run_created' | 'follow_up' | 'changed' | 'withdrawn' | 'asked' | 'cancelled' | 'answered' | 'replied' | 'refused' | 'ignored' | 'duplicate' | 'failed';

/**
 * An incoming event and its result. The content of the event is not shown.
 */
export type InboxEvent = {
    /**
     * The event's id.
     */
    id: string;
    /**
     * The integration that received the event.
     */
    integration: string;
    /**
     * The name of the event on its platform.
     */
    name: string;
    /**
     * When the event was stored and acknowledged.
     */
    received_at: string;
    /**
     * The result; null while the event waits.
     */
    disposition: InboxEventDisposition | null;
    /**
     * The reason for the result, or the error of the last attempt.
     */
    reason?: string;
    /**
     * The run that the event created, continued or cancelled.
     */
    run_id?: string;
};

/**
 * A page of incoming events.
 */
export type ListInboxResponse = {
    /**
     * The newest event comes first.
     */
    events: Array<InboxEvent>;
    page_info: PageInfo;
};

/**
 * A link to the platform.
 */
export type GuideLink = {
    /**
     * The text of the link.
     */
    title: string;
    /**
     * The address. It contains `{input}` if `input` is present.
     */
    url: string;
    /**
     * The label of a text that the reader enters for `{input}`.
     */
    input?: string;
};

/**
 * A text to copy.
 */
export type GuideSnippet = {
    /**
     * What the text is.
     */
    title: string;
    /**
     * The text to copy.
     */
    text: string;
};

/**
 * An environment variable of the server.
 */
export type GuideVariable = {
    /**
     * The name of the variable.
     */
    name: string;
    /**
     * Where the platform shows the value.
     */
    source: string;
};

/**
 * One step.
 */
export type GuideStep = {
    /**
     * The heading of the step.
     */
    title: string;
    /**
     * What to do.
     */
    text: string;
    /**
     * Where to do it.
     */
    links?: Array<GuideLink>;
    /**
     * Texts to copy.
     */
    snippets?: Array<GuideSnippet>;
    /**
     * Variables to set.
     */
    variables?: Array<GuideVariable>;
};

/**
 * One way to connect a platform.
 */
export type GuideWay = {
    /**
     * The heading of the way.
     */
    title: string;
    /**
     * How events reach the server.
     */
    summary: string;
    /**
     * Why this way does not work with the present address of the server, and what to change.
     */
    obstacle?: string;
    /**
     * In their order.
     */
    steps: Array<GuideStep>;
};

/**
 * A scope, permission or event that the server asks for.
 */
export type GuideNeed = {
    /**
     * What the platform calls it.
     */
    kind: 'scope' | 'permission' | 'event';
    /**
     * The platform's name for it.
     */
    name: string;
    /**
     * The access that a permission gives.
     */
    access?: 'read' | 'write';
    /**
     * What the server does with it.
     */
    use: string;
};

/**
 * A field of a form.
 */
export type GuideField = {
    /**
     * The name in the query.
     */
    name: string;
    /**
     * What the reader enters. It may stay empty.
     */
    label: string;
};

/**
 * A page of the server that creates the app on the platform and stores its credentials.
 */
export type GuideCreation = {
    /**
     * The address of the page. The inputs are members of its query.
     */
    url: string;
    /**
     * The text of the button.
     */
    title: string;
    /**
     * What happens.
     */
    text: string;
    /**
     * What the reader chooses.
     */
    inputs: Array<GuideField>;
};

/**
 * An app that the server creates and updates with a token of an operator.
 */
export type ManagedApp = {
    /**
     * Whether the server created the app, and can update it.
     */
    created: boolean;
    /**
     * Which tokens are needed, and what for.
     */
    text: string;
    /**
     * Where they are made.
     */
    link: GuideLink;
};

/**
 * A variable of an adapter that the server keeps encrypted. Its value is never shown.
 */
export type StoredSetting = {
    /**
     * The name of the variable in whose place the setting is used.
     */
    name: string;
    /**
     * When it was stored.
     */
    updated_at: string;
    /**
     * The uid of the principal who stored it.
     */
    updated_by: string;
};

/**
 * How to connect an external platform with this server.
 */
export type InstallationGuide = {
    /**
     * The adapter. The names of its checks in the doctor begin with this name and `_`.
     */
    adapter: string;
    /**
     * The name of the platform.
     */
    title: string;
    /**
     * Whether the variables of the adapter are set, or stored by the server.
     */
    enabled: boolean;
    /**
     * Why the stored settings do not switch the adapter on.
     */
    problem?: string;
    /**
     * What the server stored when it created the app. A variable of a process is used in place of the setting of the same name.
     */
    stored_settings?: Array<StoredSetting>;
    /**
     * Where an administrator installs the app in a workspace, if the server is set up for that.
     */
    install_url?: string;
    /**
     * The page that creates the app. Absent: the app exists, or cannot be created in that way.
     */
    create?: GuideCreation;
    /**
     * Absent: a token cannot create the app.
     */
    managed_app?: ManagedApp;
    /**
     * Follow the steps of one of them.
     */
    ways: Array<GuideWay>;
    /**
     * What the server asks for on the platform.
     */
    needs: Array<GuideNeed>;
};

/**
 * How to connect external platforms with this server.
 */
export type ListInstallationGuidesResponse = {
    /**
     * One per platform that the server knows.
     */
    guides: Array<InstallationGuide>;
};

/**
 * The tokens for the app of an external platform.
 */
export type ApplyPlatformAppRequest = {
    /**
     * A token of the platform that may create and update apps. Default: the stored one.
     */
    token?: string;
    /**
     * Replaces the token when it has expired. Needed with `token`.
     */
    refresh_token?: string;
};

/**
 * The app on an external platform.
 */
export type PlatformApp = {
    /**
     * The platform's id of the app.
     */
    app_id: string;
    /**
     * What was done.
     */
    change: 'created' | 'updated' | 'unchanged';
    /**
     * Whether workspaces get the change only when the app is installed there again.
     */
    needs_install: boolean;
    /**
     * The page that installs the app in a workspace.
     */
    install_url: string;
};

/**
 * A workspace, organisation or account of an external platform that is connected to the server.
 */
export type Installation = {
    /**
     * The installation's id.
     */
    id: string;
    /**
     * The adapter that connects the installation.
     */
    adapter: string;
    /**
     * The id on the external platform.
     */
    external_id: string;
    /**
     * The name that an administrator chose.
     */
    name?: string;
    /**
     * false: events from the installation are refused, and the sender is told the reason.
     */
    enabled: boolean;
    /**
     * The uid of the team that owns the runs from this installation.
     */
    team_uid: string;
    /**
     * The uid of the team that will own the installation once one of its administrators accepts it.
     */
    offered_team_uid?: string;
    /**
     * Why the platform refuses the app there, and what an operator can do. Absent: it works, as far as is known.
     */
    problem?: string;
    /**
     * When the installation was first seen.
     */
    created_at: string;
};

/**
 * A workspace that sent messages in the last days and is not connected, so that they have no answer. Once the app is installed there, the messages of the last hour are processed.
 */
export type UnconnectedWorkspace = {
    /**
     * The adapter of the platform.
     */
    adapter: string;
    /**
     * The id of the workspace on the external platform.
     */
    external_id: string;
    /**
     * When its last message came.
     */
    last_received_at: string;
    /**
     * Where an administrator installs the app in it.
     */
    install_url: string;
};

/**
 * The installations of the team, and after them those that are offered to it; for operators, of all teams.
 */
export type ListInstallationsResponse = {
    /**
     * The oldest installation comes first.
     */
    installations: Array<Installation>;
    /**
     * For operators: workspaces that write to the server and are not connected, the newest first.
     */
    unconnected?: Array<UnconnectedWorkspace>;
    page_info: PageInfo;
};

/**
 * The members to change. Other members keep their value.
 */
export type UpdateInstallationRequest = {
    /**
     * A name for the list of installations.
     */
    name?: string;
    /**
     * false: events from the installation are refused. Operators cannot enable what belongs to another team with an administrator.
     */
    enabled?: boolean;
    /**
     * For operators: the uid of the team that will own the installation. A team with an administrator is offered it (`offered_team_uid`), and an administrator of that team accepts by sending the uid of the team here. The uid of the present team takes an offer back. Existing runs keep their team.
     */
    team_uid?: string;
};

/**
 * An MCP server of the team.
 */
export type McpServer = {
    /**
     * The server's id. Runs name it, or the server's name, by `warp_id`.
     */
    uid: string;
    /**
     * Unique in the team.
     */
    name: string;
    /**
     * What the server is for.
     */
    description?: string;
    /**
     * The values of `env` and `headers` are shown as `[redacted]`.
     */
    config: MCPServerConfig;
    /**
     * When the server was created.
     */
    created_at: string;
    /**
     * When the server was last changed.
     */
    updated_at: string;
    /**
     * The uid of the principal that created the server.
     */
    created_by: string;
};

/**
 * The MCP servers of the team.
 */
export type ListMcpServersResponse = {
    /**
     * In alphabetical order.
     */
    mcp_servers: Array<McpServer>;
    page_info: PageInfo;
};

/**
 * The whole content of the server. Members that are left out become empty.
 */
export type McpServerRequest = {
    /**
     * Unique in the team.
     */
    name: string;
    /**
     * What the server is for.
     */
    description?: string;
    /**
     * Exactly one of `command` and `url`. Values of `env` and `headers` are encrypted and never shown. A value that is sent back as `[redacted]` stays as it is.
     */
    config: MCPServerConfig;
};

/**
 * The agent program that does the work of its runs.
 */
export type CreateNamedAgentRequestHarness = {
    /**
     * A name of the agent catalogue. `oz` is the server's default agent.
     */
    type?: string;
    /**
     * The model of this agent. It takes precedence over `model_id` of the configuration.
     */
    model_id?: string;
    /**
     * The reasoning level, as the agent names it.
     */
    reasoning_level?: string;
    [key: string]: unknown;
};

/**
 * A new named agent. Its runs take values that their requests leave out from it.
 */
export type CreateNamedAgentRequest = {
    /**
     * The name of the agent.
     */
    name: string;
    /**
     * What the agent is for.
     */
    description?: string;
    /**
     * The base prompt of its runs: instructions for the whole session.
     */
    prompt?: string;
    /**
     * The model of its runs.
     */
    base_model?: string;
    /**
     * The agent program that does the work of its runs.
     */
    harness?: CreateNamedAgentRequestHarness;
    /**
     * The environment of its runs: one of the team.
     */
    environment_id?: string;
    /**
     * The MCP servers of its runs.
     */
    mcp_servers?: {
        [key: string]: MCPServerConfig;
    };
    /**
     * The skills of its runs.
     */
    skills?: Array<string>;
    /**
     * The only secrets of the team that its runs get. Empty: all of them. A request can name fewer of them.
     */
    secrets?: Array<SecretRef>;
    /**
     * The workers that execute its runs, by their name.
     */
    worker_host?: string;
    /**
     * Whether its keys may start runs in the name of members (`on_behalf_of`). Default: false.
     */
    on_behalf_of_enabled?: boolean;
    /**
     * Stored and returned, but without effect: the response that accepts it names it as ignored.
     */
    harness_auth_secrets?: unknown;
    /**
     * Stored and returned, but without effect: the response that accepts it names it as ignored.
     */
    base_harness?: unknown;
    /**
     * Stored and returned, but without effect: the response that accepts it names it as ignored.
     */
    credential_strategy?: unknown;
};

/**
 * The agent program that does the work of its runs.
 */
export type UpdateNamedAgentRequestHarness = {
    /**
     * A name of the agent catalogue. `oz` is the server's default agent.
     */
    type?: string;
    /**
     * The model of this agent. It takes precedence over `model_id` of the configuration.
     */
    model_id?: string;
    /**
     * The reasoning level, as the agent names it.
     */
    reasoning_level?: string;
    [key: string]: unknown;
};

/**
 * The members to change. A member that is missing or null keeps its value. An empty text, list or object removes the value. Any other value replaces the old one as a whole.
 */
export type UpdateNamedAgentRequest = {
    /**
     * The name of the agent.
     */
    name?: string;
    /**
     * What the agent is for.
     */
    description?: string;
    /**
     * The base prompt of its runs: instructions for the whole session.
     */
    prompt?: string;
    /**
     * The model of its runs.
     */
    base_model?: string;
    /**
     * The agent program that does the work of its runs.
     */
    harness?: UpdateNamedAgentRequestHarness;
    /**
     * The environment of its runs: one of the team.
     */
    environment_id?: string;
    /**
     * The MCP servers of its runs.
     */
    mcp_servers?: {
        [key: string]: MCPServerConfig;
    };
    /**
     * The skills of its runs.
     */
    skills?: Array<string>;
    /**
     * The only secrets of the team that its runs get. Empty: all of them. A request can name fewer of them.
     */
    secrets?: Array<SecretRef>;
    /**
     * The workers that execute its runs, by their name.
     */
    worker_host?: string;
    /**
     * Whether its keys may start runs in the name of members (`on_behalf_of`). Default: false.
     */
    on_behalf_of_enabled?: boolean;
    /**
     * Stored and returned, but without effect: the response that accepts it names it as ignored.
     */
    harness_auth_secrets?: unknown;
    /**
     * Stored and returned, but without effect: the response that accepts it names it as ignored.
     */
    base_harness?: unknown;
    /**
     * Stored and returned, but without effect: the response that accepts it names it as ignored.
     */
    credential_strategy?: unknown;
};

/**
 * This server has no memory stores.
 */
export type NamedAgentMemory = {
    /**
     * Always empty.
     */
    attached_stores: Array<string>;
    /**
     * Not available.
     */
    auto_memory: NamedAgentMemoryAutoMemory;
};

/**
 * Not available.
 */
export type NamedAgentMemoryAutoMemory = {
    /**
     * Always false.
     */
    enabled: boolean;
};

/**
 * The agent program that does the work of its runs.
 */
export type NamedAgentHarness = {
    /**
     * A name of the agent catalogue. `oz` is the server's default agent.
     */
    type?: string;
    /**
     * The model of this agent. It takes precedence over `model_id` of the configuration.
     */
    model_id?: string;
    /**
     * The reasoning level, as the agent names it.
     */
    reasoning_level?: string;
    [key: string]: unknown;
};

/**
 * A service account with defaults, which executes runs.
 */
export type NamedAgent = {
    /**
     * The uid of the agent's principal.
     */
    uid: string;
    /**
     * The name of the agent.
     */
    name: string;
    /**
     * Whether it can execute runs: its principal is enabled, and this server has its agent and model.
     */
    available: boolean;
    /**
     * When the agent was created.
     */
    created_at: string;
    /**
     * When the agent was last changed.
     */
    updated_at: string;
    /**
     * Always empty.
     */
    default_runner_uid: string;
    /**
     * This server has no memory stores.
     */
    memory: NamedAgentMemory;
    /**
     * What the agent is for.
     */
    description?: string;
    /**
     * The base prompt of its runs: instructions for the whole session.
     */
    prompt?: string;
    /**
     * The model of its runs.
     */
    base_model?: string;
    /**
     * The agent program that does the work of its runs.
     */
    harness?: NamedAgentHarness;
    /**
     * The environment of its runs: one of the team.
     */
    environment_id?: string;
    /**
     * The MCP servers of its runs.
     */
    mcp_servers?: {
        [key: string]: MCPServerConfig;
    };
    /**
     * The skills of its runs.
     */
    skills: Array<string>;
    /**
     * The only secrets of the team that its runs get. Empty: all of them.
     */
    secrets: Array<SecretRef>;
    /**
     * The workers that execute its runs, by their name.
     */
    worker_host?: string;
    /**
     * Whether its keys may start runs in the name of members (`on_behalf_of`). Default: false.
     */
    on_behalf_of_enabled?: boolean;
    /**
     * Stored and returned, but without effect: the response that accepts it names it as ignored.
     */
    harness_auth_secrets?: unknown;
    /**
     * Stored and returned, but without effect: the response that accepts it names it as ignored.
     */
    base_harness?: unknown;
    /**
     * Stored and returned, but without effect: the response that accepts it names it as ignored.
     */
    credential_strategy?: unknown;
    /**
     * Members of this request that were accepted and have no effect. Absent if there are none.
     */
    ignored?: Array<string>;
};

/**
 * All named agents of the team.
 */
export type ListNamedAgentsResponse = {
    /**
     * The oldest agent comes first.
     */
    agents: Array<NamedAgent>;
    page_info: PageInfo;
};

/**
 * `pending`: it waits or is tried again. `delivered`: the thread shows it. `replaced`: a newer card was shown instead, or it could not be shown and nobody needs it any more. `dead`: it was given up.
 */
export type NoticeState = 'pending' | 'delivered' | 'replaced' | 'dead';

/**
 * A message to a thread and its delivery. The text of the message is not shown.
 */
export type Notice = {
    /**
     * The notice's id.
     */
    id: string;
    /**
     * The run of the notice. Absent for replies that belong to no run.
     */
    run_id?: string;
    /**
     * The thread that shows the notice.
     */
    thread_id: string;
    /**
     * `card`: the status of a run. `answer` and `question`: of an agent. `other`: any other message.
     */
    kind: 'card' | 'answer' | 'question' | 'other';
    state: NoticeState;
    /**
     * The number of attempts to deliver it.
     */
    attempts: number;
    /**
     * When the notice was stored.
     */
    created_at: string;
    /**
     * When it was delivered.
     */
    delivered_at?: string;
    /**
     * Present while the platform's limits hold it back: when it is sent.
     */
    held_until?: string;
    /**
     * Why the last attempt failed.
     */
    error?: string;
    /**
     * The address of the message in the thread.
     */
    permalink?: string;
};

/**
 * A page of notices.
 */
export type ListNoticesResponse = {
    /**
     * The newest notice comes first.
     */
    notices: Array<Notice>;
    page_info: PageInfo;
};

/**
 * CI workflows, by the OpenID Connect token of their job.
 */
export type PolicyWorkflow = {
    /**
     * The issuer of the token, exactly as the token names it.
     */
    issuer: string;
    /**
     * Whom the token is for. Default: the public URL of this server.
     */
    audience?: string;
    /**
     * The ids of the repositories on their platform. Unlike a name, an id never belongs to another repository later.
     */
    repository_ids: Array<string>;
    /**
     * The branches or tags that the workflow runs on, such as `refs/heads/main`. `*` matches any characters.
     */
    refs: Array<string>;
    /**
     * What starts the workflow, such as `push`, `schedule` or `workflow_dispatch`.
     */
    events: Array<string>;
};

/**
 * The action on a run. `steer` is a follow-up with the delivery `interrupt` or `steer`: a policy for `follow_up` also applies to it, unless a policy that names `steer` matches. `approve` is allowed to administrators, and to principals that a policy allows by name.
 */
export type PolicyMatchAction = 'create' | 'follow_up' | 'steer' | 'cancel' | 'answer' | 'approve';

/**
 * How a message asks for work. `mention`: it names the bot. `command`: a line begins with `/errand`. `description`: the text of a new issue or pull request names the bot. `review`: the text of a review does. `review_requested`: a person asks the account of the bot for a review. `label`: a person puts the label of the bot on an issue or pull request. Nobody names the bot with `changes_requested` (a review of a pull request of a run requests changes), `failing_checks` and `merge_conflict` (of such a pull request), `pull_request_opened` (which is reviewed only if a policy that allows it names this kind) and `new_commits` (of a pull request that is reviewed).
 */
export type PolicyMatchRequestKind = 'mention' | 'command' | 'description' | 'review' | 'review_requested' | 'label' | 'changes_requested' | 'failing_checks' | 'merge_conflict' | 'pull_request_opened' | 'new_commits';

/**
 * An entry of `PolicyMatchPrincipalTypes`.
 */
export type PolicyMatchPrincipalType = 'user' | 'service_account';

/**
 * Integrations prove one of these about the author of a message. `write`: may push to the repository. `member`: a full member of the workspace. The others are outsiders: `read` (may read the repository; a public one is read by everybody), `guest` (a guest of the workspace), `external` (of another workspace), `bot` (a program) and `outside` (without any permission). A caller of the API has none of these; the guest of a share link is a `guest`. `administrator`: an administrator of the team, wherever the request comes from.
 */
export type PolicyMatchRole = 'write' | 'read' | 'member' | 'guest' | 'external' | 'bot' | 'outside' | 'participant' | 'administrator';

/**
 * An entry of `PolicyMatchPriorities`.
 */
export type PolicyMatchPriority = 'high' | 'normal' | 'low';

/**
 * All conditions must hold. A list holds if one of its values matches. A condition about an unknown value does not hold. Without conditions, everything matches.
 */
export type PolicyMatch = {
    /**
     * The actions.
     */
    actions?: Array<PolicyMatchAction>;
    /**
     * The sources of the request. API callers choose `CLI`, `GITHUB_ACTION` and `LOCAL` themselves. Therefore a policy that denies or requires approval for `API` also applies to these three.
     */
    sources?: Array<RunSourceType>;
    /**
     * Names of integrations.
     */
    integrations?: Array<string>;
    /**
     * Workspaces, organisations or accounts, by the ids of their platform.
     */
    installations?: Array<string>;
    /**
     * Channels or repositories, as the integration names them. `*` matches any characters.
     */
    places?: Array<string>;
    /**
     * How messages ask for work, on platforms with several ways. Other requests have no kind.
     */
    request_kinds?: Array<PolicyMatchRequestKind>;
    /**
     * The uids of the principals that act.
     */
    principals?: Array<string>;
    /**
     * `user` (people), `service_account` (programs), or both.
     */
    principal_types?: Array<PolicyMatchPrincipalType>;
    /**
     * The uids of the run's environments.
     */
    environments?: Array<string>;
    /**
     * Names of the agent catalogue.
     */
    agents?: Array<string>;
    /**
     * What the caller is. One of the caller's roles is enough. A policy that allows or requires approval applies to outsiders of an integration only if it names their role.
     */
    roles?: Array<PolicyMatchRole>;
    /**
     * Ids of bots, as their platform gives them, such as `B024BE7LD`. Together with the role `bot`, it admits programs without an account, such as workflows and incoming webhooks.
     */
    bots?: Array<string>;
    /**
     * Groups of the caller, as the OpenID Connect issuer named them at the caller's last sign-in. One of them is enough. Callers who never signed in that way have none.
     */
    groups?: Array<string>;
    /**
     * Ids of models, as the configuration of the run names them. A default model is not known.
     */
    models?: Array<string>;
    /**
     * The priorities, as the configuration of the run names them. A run without one is `normal`.
     */
    priorities?: Array<PolicyMatchPriority>;
    /**
     * Repositories as `owner/name`; `*` matches any characters. A policy that allows matches if all repositories of the run do; any other policy matches if one does.
     */
    repositories?: Array<string>;
    /**
     * `own`: the caller created, requested or executes the run. `others`: every other run.
     */
    relation?: 'own' | 'others';
    /**
     * With this condition the policy decides on no action. It lets workflows exchange the token of their job for a key of the principal in `principals` (`POST /agent/keys/exchange`), or, with the effect `deny`, not. `principals` must name one principal, and no other condition may be given.
     */
    workflow?: PolicyWorkflow;
};

/**
 * A new or replaced policy.
 */
export type PolicyRequest = {
    /**
     * Unique in the team.
     */
    name: string;
    /**
     * The lowest priority is evaluated first. Of equal priorities, the oldest is first. Default: 100.
     */
    priority?: number;
    /**
     * Whether the rule is active. Default: true.
     */
    enabled?: boolean;
    /**
     * `require_approval` applies only to words for an agent (`create`, `follow_up`, `steer`). A new run is BLOCKED until a person approves it. A follow-up waits, and the run keeps its state.
     */
    effect: 'allow' | 'deny' | 'require_approval';
    match?: PolicyMatch;
    /**
     * Shown to callers that are refused or must wait.
     */
    reason?: string;
    /**
     * How a message that the policy refuses is answered in its thread: by a comment with the reason, by a reaction, or not at all. The inbox has the reason in each case. Default: as the file of the repository says, otherwise by a comment. Calls of the API always get the reason.
     */
    refusal?: 'comment' | 'reaction' | 'silent';
};

/**
 * A rule about who may do what, and from where. The first policy that matches decides. The built-in ones come last and match every action.
 */
export type Policy = {
    /**
     * The rule's id.
     */
    id: string;
    /**
     * Unique in the team.
     */
    name: string;
    /**
     * The lowest priority is evaluated first. Of equal priorities, the oldest is first.
     */
    priority: number;
    /**
     * Whether the rule is active.
     */
    enabled: boolean;
    /**
     * The uid of the principal that created the rule. Absent for a built-in one.
     */
    created_by?: string;
    /**
     * When the rule was created.
     */
    created_at: string;
    /**
     * When the rule was last changed.
     */
    updated_at: string;
    /**
     * `require_approval` applies only to words for an agent (`create`, `follow_up`, `steer`). A new run is BLOCKED until a person approves it. A follow-up waits, and the run keeps its state.
     */
    effect: 'allow' | 'deny' | 'require_approval';
    match: PolicyMatch;
    /**
     * Shown to callers that are refused or must wait.
     */
    reason?: string;
    /**
     * How a message that the policy refuses is answered in its thread: by a comment with the reason, by a reaction, or not at all. The inbox has the reason in each case. Default: as the file of the repository says, otherwise by a comment. Calls of the API always get the reason.
     */
    refusal?: 'comment' | 'reaction' | 'silent';
    /**
     * One of the defaults, which come after all others. It cannot be changed or deleted.
     */
    builtin?: true;
};

/**
 * All policies of the team, including disabled ones, and the built-in ones after them.
 */
export type ListPoliciesResponse = {
    /**
     * In the order of evaluation.
     */
    policies: Array<Policy>;
    page_info: PageInfo;
};

/**
 * Integrations prove one of these about the author of a message. `write`: may push to the repository. `member`: a full member of the workspace. The others are outsiders: `read` (may read the repository; a public one is read by everybody), `guest` (a guest of the workspace), `external` (of another workspace), `bot` (a program) and `outside` (without any permission). A caller of the API has none of these; the guest of a share link is a `guest`. `administrator`: an administrator of the team, wherever the request comes from.
 */
export type EvaluatePolicyRequestRole = 'write' | 'read' | 'member' | 'guest' | 'external' | 'bot' | 'outside' | 'participant' | 'administrator';

/**
 * A hypothetical action.
 */
export type EvaluatePolicyRequest = {
    /**
     * The action on a run. `steer` is a follow-up with the delivery `interrupt` or `steer`: a policy for `follow_up` also applies to it, unless a policy that names `steer` matches. `approve` is allowed to administrators, and to principals that a policy allows by name.
     */
    action: 'create' | 'follow_up' | 'steer' | 'cancel' | 'answer' | 'approve';
    /**
     * Default: `API`.
     */
    source?: RunSourceType;
    /**
     * The uid of the principal that acts.
     */
    principal_uid?: string;
    /**
     * The integration of the request.
     */
    integration?: string;
    /**
     * The workspace, organisation or account.
     */
    installation?: string;
    /**
     * The channel or repository.
     */
    place?: string;
    /**
     * How a message asks for work.
     */
    request_kind?: 'mention' | 'command' | 'description' | 'review' | 'review_requested' | 'label' | 'changes_requested' | 'failing_checks' | 'merge_conflict' | 'pull_request_opened' | 'new_commits';
    /**
     * The environment of the run.
     */
    environment_id?: string;
    /**
     * The agent of the run.
     */
    agent?: string;
    /**
     * The roles of the caller.
     */
    roles?: Array<EvaluatePolicyRequestRole>;
    /**
     * The id of the bot that asks.
     */
    bot?: string;
    /**
     * The groups of the caller.
     */
    groups?: Array<string>;
    /**
     * The model that the configuration of the run names.
     */
    model?: string;
    /**
     * The priority of the run. Unknown if absent.
     */
    priority?: 'high' | 'normal' | 'low';
    /**
     * The repositories of the run, as `owner/name`.
     */
    repositories?: Array<string>;
    /**
     * Whether the run is the caller's own. Unknown if absent.
     */
    relation?: 'own' | 'others';
};

/**
 * The policy that decides. It may be a built-in one.
 */
export type PolicyVerdictPolicy = {
    /**
     * The policy's id.
     */
    id: string;
    /**
     * The policy's name.
     */
    name: string;
};

/**
 * An entry of `PolicyVerdictConsidered`.
 */
export type PolicyVerdictConsidered = {
    /**
     * The policy's id.
     */
    id: string;
    /**
     * The policy's name.
     */
    name: string;
    /**
     * `require_approval` applies only to words for an agent (`create`, `follow_up`, `steer`). A new run is BLOCKED until a person approves it. A follow-up waits, and the run keeps its state.
     */
    effect: 'allow' | 'deny' | 'require_approval';
    /**
     * Whether the policy matches and therefore decides.
     */
    matches: boolean;
    /**
     * The first condition that does not hold.
     */
    mismatch?: string;
};

/**
 * The decision of the policies and its reason. The action itself is not performed.
 */
export type PolicyVerdict = {
    /**
     * `require_approval` applies only to words for an agent (`create`, `follow_up`, `steer`). A new run is BLOCKED until a person approves it. A follow-up waits, and the run keeps its state.
     */
    effect: 'allow' | 'deny' | 'require_approval';
    /**
     * The reason that the caller would see.
     */
    reason: string;
    /**
     * The policy that decides. It may be a built-in one.
     */
    policy: PolicyVerdictPolicy;
    /**
     * All evaluated policies, in order.
     */
    considered: Array<PolicyVerdictConsidered>;
};

/**
 * A user or a service account of a team.
 */
export type Principal = {
    /**
     * The principal's id.
     */
    uid: string;
    /**
     * The uid of the principal's team.
     */
    team_uid: string;
    /**
     * `user`: a person. `service_account`: a program.
     */
    type: 'user' | 'service_account';
    /**
     * The name shown on the pages.
     */
    display_name?: string;
    /**
     * Visible to administrators and to the principal itself.
     */
    email?: string;
    /**
     * The URL of a picture, if known.
     */
    photo_url?: string;
    /**
     * Whether the principal can see and manage everything of the team.
     */
    administrator: boolean;
    /**
     * Whether the principal is disabled. Its runs are kept.
     */
    disabled: boolean;
    /**
     * When the principal was created.
     */
    created_at: string;
};

/**
 * All principals of the team.
 */
export type ListPrincipalsResponse = {
    /**
     * The oldest principal comes first. Disabled principals are included.
     */
    principals: Array<Principal>;
    page_info: PageInfo;
};

/**
 * A new user or service account.
 */
export type CreatePrincipalRequest = {
    /**
     * `user`: a person. `service_account`: a program.
     */
    type: 'user' | 'service_account';
    /**
     * The name shown on the pages.
     */
    display_name: string;
    /**
     * The email address.
     */
    email?: string;
    /**
     * The URL of a picture for the pages.
     */
    photo_url?: string;
    /**
     * Whether the principal manages the team. Default: false.
     */
    administrator?: boolean;
    /**
     * For operators: the uid of another team. Default: the caller's team.
     */
    team_uid?: string;
};

/**
 * The members to change. Other members keep their value.
 */
export type UpdatePrincipalRequest = {
    /**
     * The name shown on the pages. For a principal with exactly one external account, the name of that account replaces it.
     */
    display_name?: string;
    /**
     * The email address.
     */
    email?: string;
    /**
     * The URL of a picture for the pages.
     */
    photo_url?: string;
    /**
     * Whether the principal manages the team. A team always keeps at least one administrator.
     */
    administrator?: boolean;
    /**
     * true: the principal is disabled, and its keys stop working at once.
     */
    disabled?: boolean;
};

/**
 * The most that a team may use.
 */
export type Quota = {
    /**
     * `running_runs`: runs that a worker works on, without those that wait for a person. `queued_runs`: runs that wait for a worker. `runs_per_day`: runs created since midnight, UTC. `cost_usd_per_month`: what the runs created since the first of the month, UTC, have cost so far.
     */
    name: 'running_runs' | 'queued_runs' | 'runs_per_day' | 'cost_usd_per_month';
    /**
     * A request for a run above it is refused. A run above `running_runs` is accepted, and waits.
     */
    limit: number;
    /**
     * What is used now. For the scope `key`: by the API key of this request; 0 without one.
     */
    used: number;
    /**
     * `team`: counted for the whole team. `key`: counted for each API key; only `runs_per_day`.
     */
    scope: 'team' | 'key';
};

/**
 * The quotas of a team with their use.
 */
export type ListQuotasResponse = {
    /**
     * The quotas that are set. Nothing else is limited.
     */
    quotas: Array<Quota>;
};

/**
 * A quota to set.
 */
export type QuotaRequest = {
    /**
     * `running_runs`: runs that a worker works on, without those that wait for a person. `queued_runs`: runs that wait for a worker. `runs_per_day`: runs created since midnight, UTC. `cost_usd_per_month`: what the runs created since the first of the month, UTC, have cost so far.
     */
    name: 'running_runs' | 'queued_runs' | 'runs_per_day' | 'cost_usd_per_month';
    /**
     * A request for a run above it is refused. A run above `running_runs` is accepted, and waits.
     */
    limit: number;
    /**
     * `team`: counted for the whole team. `key`: counted for each API key; only `runs_per_day`.
     */
    scope?: 'team' | 'key';
};

/**
 * The quotas of a team.
 */
export type SetQuotasRequest = {
    /**
     * All quotas of the team. One that is left out is removed.
     */
    quotas: Array<QuotaRequest>;
};

/**
 * The target of a session.
 */
export type SessionRedirect = {
    /**
     * Absent if the session does not exist.
     */
    conversation_id?: string;
};

/**
 * The target of a conversation.
 */
export type ConversationRedirect = {
    /**
     * Absent if the conversation does not exist.
     */
    session_id?: string;
};

/**
 * All conditions must hold. A list holds if one of its values matches.
 */
export type RoutingMatch = {
    /**
     * Names of integrations.
     */
    integrations?: Array<string>;
    /**
     * Workspaces, organisations or accounts, by the ids of their platform.
     */
    installations?: Array<string>;
    /**
     * Channels or repositories, as the integration names them. `*` matches any characters.
     */
    places?: Array<string>;
    /**
     * Words or phrases of the request. Case is ignored.
     */
    text?: Array<string>;
    /**
     * The sources of the request. A request that did not come through an integration is matched only by rules that name its source.
     */
    sources?: Array<RunSourceType>;
};

/**
 * A new or replaced routing rule.
 */
export type RoutingRuleRequest = {
    /**
     * Unique in the team.
     */
    name: string;
    /**
     * The lowest priority is evaluated first. Of equal priorities, the oldest is first. Default: 100.
     */
    priority?: number;
    /**
     * Whether the rule is active. Default: true.
     */
    enabled?: boolean;
    match?: RoutingMatch;
    /**
     * The environment that the request gets.
     */
    environment_id?: string;
    config?: AmbientAgentConfig;
};

/**
 * Assigns an environment to a request that names none, and values for members that the request does not configure. The first rule that matches decides.
 */
export type RoutingRule = {
    /**
     * The rule's id.
     */
    id: string;
    /**
     * Unique in the team.
     */
    name: string;
    /**
     * The lowest priority is evaluated first. Of equal priorities, the oldest is first.
     */
    priority: number;
    /**
     * Whether the rule is active.
     */
    enabled: boolean;
    /**
     * The uid of the principal that created the rule.
     */
    created_by: string;
    /**
     * When the rule was created.
     */
    created_at: string;
    /**
     * When the rule was last changed.
     */
    updated_at: string;
    match: RoutingMatch;
    /**
     * The environment that the request gets.
     */
    environment_id?: string;
    /**
     * Values for members that the request does not configure.
     */
    config: AmbientAgentConfig;
};

/**
 * All routing rules of the team, including disabled ones.
 */
export type ListRoutingRulesResponse = {
    /**
     * In the order of evaluation.
     */
    routing_rules: Array<RoutingRule>;
    page_info: PageInfo;
};

/**
 * A hypothetical request.
 */
export type EvaluateRoutingRequest = {
    /**
     * The text of the request.
     */
    text?: string;
    /**
     * Default: `API`.
     */
    source?: RunSourceType;
    /**
     * The integration of the request.
     */
    integration?: string;
    /**
     * The workspace, organisation or account.
     */
    installation?: string;
    /**
     * The channel or repository.
     */
    place?: string;
    config?: AmbientAgentConfig;
};

/**
 * The rule that decides. Absent if none matches.
 */
export type RoutingResultRule = {
    /**
     * The rule's id.
     */
    id: string;
    /**
     * The rule's name.
     */
    name: string;
};

/**
 * An entry of `RoutingResultConsidered`.
 */
export type RoutingResultConsidered = {
    /**
     * The rule's id.
     */
    id: string;
    /**
     * The rule's name.
     */
    name: string;
    /**
     * Whether the rule matches and therefore decides.
     */
    matches: boolean;
    /**
     * The first condition that does not hold.
     */
    mismatch?: string;
};

/**
 * The routing of the request and its reason. No run is started.
 */
export type RoutingResult = {
    /**
     * The rule that decides. Absent if none matches.
     */
    rule?: RoutingResultRule;
    /**
     * The reason for the result.
     */
    reason: string;
    /**
     * The configuration that the run would get.
     */
    config: AmbientAgentConfig;
    /**
     * The source of each value: `request`, `routing_rule` or `default`.
     */
    config_layers: {
        [key: string]: string;
    };
    /**
     * All evaluated rules, in order.
     */
    considered: Array<RoutingResultConsidered>;
};

/**
 * The answer to a permission request.
 */
export type PermissionAnswerRequest = {
    /**
     * One of the agent's options: `permission.options` of the run.
     */
    option_id: string;
};

/**
 * The decision about a run or a follow-up that waits for approval.
 */
export type ApprovalRequest = {
    /**
     * false: the run is refused and cancelled, or the follow-up is withdrawn and the run continues.
     */
    approve: boolean;
    /**
     * `approval.inputs_hash` of the run, or of one follow-up. It says what the decision is about.
     */
    inputs_hash: string;
    /**
     * Published together with the decision.
     */
    comment?: string;
};

/**
 * The current state of the run.
 */
export type RunStateResponse = {
    state: RunState;
};

/**
 * `waiting`: the next try is pending. `delivered`: the receiver accepted it. `dead`: all tries failed.
 */
export type WebhookDeliveryState = 'waiting' | 'delivered' | 'dead';

/**
 * A message for a webhook and its result.
 */
export type WebhookDelivery = {
    /**
     * The delivery's id, and the header `webhook-id` of its messages.
     */
    id: string;
    /**
     * The webhook's id.
     */
    webhook_id: string;
    /**
     * The type of the message.
     */
    type: string;
    /**
     * The run that the message is about.
     */
    run_id?: string;
    /**
     * The event of the run that the message is about.
     */
    seq?: number;
    state: WebhookDeliveryState;
    /**
     * The number of tries.
     */
    tries: number;
    /**
     * Why the last try failed, or why there are no more tries.
     */
    error?: string;
    /**
     * The earliest time of the next try.
     */
    next_try_at?: string;
    /**
     * When the delivery was created.
     */
    created_at: string;
    /**
     * When the message was delivered or given up.
     */
    settled_at?: string;
};

/**
 * One try of a delivery.
 */
export type WebhookTry = {
    /**
     * 1, 2, 3 …
     */
    number: number;
    /**
     * When the try ended.
     */
    at: string;
    /**
     * The duration of the try.
     */
    duration_ms: number;
    /**
     * The HTTP status of the response. Absent if there was no response.
     */
    status?: number;
    /**
     * Why the try failed.
     */
    error?: string;
};

/**
 * A delivery with its message and its tries.
 */
export type WebhookDeliveryDetail = {
    /**
     * The delivery's id, and the header `webhook-id` of its messages.
     */
    id: string;
    /**
     * The webhook's id.
     */
    webhook_id: string;
    /**
     * The type of the message.
     */
    type: string;
    /**
     * The run that the message is about.
     */
    run_id?: string;
    /**
     * The event of the run that the message is about.
     */
    seq?: number;
    state: WebhookDeliveryState;
    /**
     * The number of tries.
     */
    tries: number;
    /**
     * Why the last try failed, or why there are no more tries.
     */
    error?: string;
    /**
     * The earliest time of the next try.
     */
    next_try_at?: string;
    /**
     * When the delivery was created.
     */
    created_at: string;
    /**
     * When the message was delivered or given up.
     */
    settled_at?: string;
    /**
     * The exact message.
     */
    body: string;
    /**
     * All tries, the first one first.
     */
    history: Array<WebhookTry>;
};

/**
 * A page of a webhook's deliveries.
 */
export type ListWebhookDeliveriesResponse = {
    /**
     * The newest delivery comes first.
     */
    deliveries: Array<WebhookDelivery>;
    page_info: PageInfo;
};

/**
 * Selects dead deliveries to send again.
 */
export type ReplayWebhookDeliveriesRequest = {
    /**
     * Deliveries created at or after this time.
     */
    since: string;
    /**
     * Deliveries created before this time.
     */
    until?: string;
};

/**
 * The result of a replay.
 */
export type ReplayedWebhookDeliveries = {
    /**
     * The number of deliveries that are sent again: at most 5000, the oldest first. Repeat the request for the rest.
     */
    count: number;
};

/**
 * A new schedule.
 */
export type ScheduleRequest = {
    /**
     * The name of the schedule and the title of its runs.
     */
    name: string;
    /**
     * Five fields: minute, hour, day of month, month, day of week, in UTC. Numbers, names, lists, ranges and steps are allowed.
     */
    cron_schedule: string;
    /**
     * The prompt of the runs. Required unless a skill is named.
     */
    prompt?: string;
    /**
     * The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: `normal`.
     */
    mode?: 'normal' | 'plan' | 'orchestrate';
    /**
     * The uid of the named agent that executes the runs. Default: the creator.
     */
    agent_uid?: string;
    agent_config?: AmbientAgentConfig;
    /**
     * The caller's own labels of the run, by which runs can be listed. At most 20 pairs. Names have up to 64 characters of `a-z A-Z 0-9 . _ -`, values up to 256 bytes.
     */
    metadata?: {
        [key: string]: string;
    };
    /**
     * Whether the schedule is active. Default: true.
     */
    enabled?: boolean;
    /**
     * false: only the creator and administrators can see the schedule and its runs. Default: true.
     */
    team?: boolean;
};

/**
 * The new content of the schedule. Members that are left out become empty.
 */
export type ScheduleUpdateRequest = {
    /**
     * The name of the schedule and the title of its runs.
     */
    name: string;
    /**
     * Five fields: minute, hour, day of month, month, day of week, in UTC. Numbers, names, lists, ranges and steps are allowed.
     */
    cron_schedule: string;
    /**
     * The prompt of the runs. Required unless a skill is named.
     */
    prompt?: string;
    /**
     * The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: `normal`.
     */
    mode?: 'normal' | 'plan' | 'orchestrate';
    /**
     * The uid of the named agent that executes the runs. Default: the creator.
     */
    agent_uid?: string;
    agent_config?: AmbientAgentConfig;
    /**
     * The caller's own labels of the run, by which runs can be listed. At most 20 pairs. Names have up to 64 characters of `a-z A-Z 0-9 . _ -`, values up to 256 bytes.
     */
    metadata?: {
        [key: string]: string;
    };
    /**
     * Whether the schedule is active.
     */
    enabled: boolean;
};

/**
 * The last run and the next due time.
 */
export type ScheduledAgentItemHistory = {
    /**
     * When the schedule last started a run.
     */
    last_ran?: string;
    /**
     * When the schedule is next due. Absent while it is paused.
     */
    next_run?: string;
};

/**
 * The current state of a schedule.
 */
export type ScheduledAgentItem = {
    /**
     * The schedule's id.
     */
    id: string;
    /**
     * The name of the schedule.
     */
    name: string;
    /**
     * Five fields, in UTC.
     */
    cron_schedule: string;
    /**
     * Whether the schedule is active.
     */
    enabled: boolean;
    /**
     * The prompt of the runs.
     */
    prompt: string;
    /**
     * The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: `normal`.
     */
    mode?: 'normal' | 'plan' | 'orchestrate';
    /**
     * The uid of the named agent that executes the runs.
     */
    agent_uid?: string;
    /**
     * When the schedule was created.
     */
    created_at: string;
    /**
     * When the schedule was last changed.
     */
    updated_at: string;
    agent_config?: AmbientAgentConfig;
    /**
     * The metadata of the runs.
     */
    metadata?: {
        [key: string]: string;
    };
    environment?: EnvironmentConfig;
    created_by?: RunCreatorInfo;
    updated_by?: RunCreatorInfo;
    /**
     * The last run and the next due time.
     */
    history?: ScheduledAgentItemHistory;
    /**
     * Why the last due time started no run.
     */
    last_spawn_error?: string;
    /**
     * Who can see the schedule and its runs.
     */
    scope?: Scope;
};

/**
 * All schedules that you can see.
 */
export type ListSchedulesResponse = {
    /**
     * In alphabetical order.
     */
    schedules: Array<ScheduledAgentItem>;
    page_info: PageInfo;
};

/**
 * A secret without its value. The value is never shown.
 */
export type Secret = {
    /**
     * The name of the environment variable.
     */
    name: string;
    /**
     * `Team`: for all runs of the team. `User`: for the runs that you start; it takes precedence over the team's secret.
     */
    scope: Scope;
    /**
     * When the secret was created.
     */
    created_at: string;
    /**
     * When the value was last set.
     */
    updated_at: string;
};

/**
 * The team's secrets and your own.
 */
export type ListSecretsResponse = {
    /**
     * In alphabetical order.
     */
    secrets: Array<Secret>;
    page_info: PageInfo;
};

/**
 * The value of a secret.
 */
export type PutSecretRequest = {
    /**
     * The exact value. A value of at least 8 characters is replaced by `[redacted]` in all output of the runs that use it.
     */
    value: string;
    /**
     * false: only for your own runs. Default: true.
     */
    team?: boolean;
};

/**
 * How the principal proved who it is.
 */
export type SignInMethod = 'api_key' | 'slack' | 'github' | 'oidc' | 'link';

/**
 * A browser that is signed in to the pages.
 */
export type SignIn = {
    /**
     * The sign-in's id.
     */
    id: string;
    /**
     * The uid of the principal that is signed in.
     */
    principal_uid: string;
    method: SignInMethod;
    /**
     * When the principal signed in.
     */
    created_at: string;
    /**
     * When the browser was last seen, accurate to a few minutes.
     */
    last_seen_at: string;
    /**
     * When the sign-in ends by itself.
     */
    expires_at: string;
    /**
     * The address that signed in.
     */
    address?: string;
    /**
     * The browser, in its own words.
     */
    user_agent?: string;
    /**
     * Whether the request was made with this sign-in.
     */
    current: boolean;
};

/**
 * An administrator gets all sign-ins of the team, others get their own.
 */
export type ListSignInsResponse = {
    /**
     * The open sign-ins, at most 1000. The last seen come first.
     */
    sign_ins: Array<SignIn>;
    page_info: PageInfo;
};

/**
 * An entry of `AgentSkillVariants`.
 */
export type AgentSkillVariant = {
    /**
     * `owner/repo:path`, the value for `skill` and `config.skill_spec` of a new run.
     */
    id: string;
    /**
     * The instructions in SKILL.md.
     */
    base_prompt: string;
    /**
     * The purpose of the skill, from its SKILL.md. May be empty.
     */
    description: string;
    /**
     * The environments that contain the repository.
     */
    environments: Array<AgentSkillVariantEnvironment>;
    /**
     * The location of the skill.
     */
    source: AgentSkillVariantSource;
    /**
     * When a run of the skill last started, of the runs that you can see.
     */
    last_run_timestamp?: string;
};

/**
 * An entry of `AgentSkillVariantEnvironments`.
 */
export type AgentSkillVariantEnvironment = {
    /**
     * The environment's uid.
     */
    uid: string;
    /**
     * The name of the environment.
     */
    name: string;
};

/**
 * The location of the skill.
 */
export type AgentSkillVariantSource = {
    /**
     * The owner of the repository.
     */
    owner: string;
    /**
     * The name of the repository.
     */
    name: string;
    /**
     * The path of its SKILL.md in the repository.
     */
    skill_path: string;
};

/**
 * Instructions for agents, stored in a repository.
 */
export type AgentSkill = {
    /**
     * The name in SKILL.md, otherwise the name of the folder.
     */
    name: string;
    /**
     * The skills with this name, of all repositories.
     */
    variants: Array<AgentSkillVariant>;
};

/**
 * The skills that can start a run.
 */
export type ListAgentsResponse = {
    /**
     * One entry per name.
     */
    agents: Array<AgentSkill>;
    page_info: PageInfo;
};

/**
 * A group of principals. Its data is separate from that of other teams.
 */
export type Team = {
    /**
     * The team's id.
     */
    uid: string;
    /**
     * Unique on this server.
     */
    name: string;
    /**
     * What runs of the team may share with guests because their `config.session_sharing` says so: nothing, a link for viewing, or also a link for editing. Share links for editing exist only with `editor`.
     */
    sharing: 'off' | 'viewer' | 'editor';
    /**
     * When the team was created.
     */
    created_at: string;
};

/**
 * The caller's team; for operators, all teams.
 */
export type ListTeamsResponse = {
    /**
     * The oldest team comes first.
     */
    teams: Array<Team>;
    page_info: PageInfo;
};

/**
 * The name of a team.
 */
export type TeamRequest = {
    /**
     * Unique on this server.
     */
    name: string;
};

/**
 * The members to change. Those that are left out stay as they are.
 */
export type TeamUpdateRequest = {
    /**
     * Unique on this server.
     */
    name?: string;
    /**
     * What runs of the team may share with guests because their `config.session_sharing` says so: nothing, a link for viewing, or also a link for editing. Share links for editing exist only with `editor`.
     */
    sharing?: 'off' | 'viewer' | 'editor';
};

/**
 * How often the status card of the thread is updated.
 */
export type ThreadChange = {
    /**
     * `quiet`: the status card changes only for a question and at the end. Messages are posted in both modes.
     */
    verbosity: 'normal' | 'quiet';
};

/**
 * Present while messages of the run wait here, because the platform limits how much is posted.
 */
export type ThreadHeld = {
    /**
     * When the first of them is posted.
     */
    until: string;
    /**
     * What it is.
     */
    kind: 'card' | 'answer' | 'question' | 'other';
};

/**
 * An external conversation in which a run reports.
 */
export type Thread = {
    /**
     * The thread's id.
     */
    id: string;
    /**
     * The integration that the thread belongs to.
     */
    integration: string;
    /**
     * The workspace or account, by the id of its platform.
     */
    installation: string;
    /**
     * The run to which the thread is or was bound.
     */
    run_id: string;
    /**
     * Whether messages in the thread go to this run.
     */
    is_current: boolean;
    /**
     * `quiet`: the status card changes only for a question and at the end. Messages are posted in both modes.
     */
    verbosity: 'normal' | 'quiet';
    /**
     * Present while messages of the run wait here, because the platform limits how much is posted.
     */
    held?: ThreadHeld;
    /**
     * When the thread was first seen.
     */
    created_at: string;
};

/**
 * The threads of a run.
 */
export type ListThreadsResponse = {
    /**
     * All threads that were ever bound to the run.
     */
    threads: Array<Thread>;
    page_info: PageInfo;
};

/**
 * What the runs of a row have in common.
 */
export type UsageGroup = 'day' | 'source' | 'creator' | 'environment' | 'repository' | 'agent' | 'model';

/**
 * The totals of a group of runs.
 */
export type UsageRow = {
    /**
     * The day in UTC on which the runs were created.
     */
    day?: string;
    source?: RunSourceType;
    /**
     * The uid of the principal that started the runs.
     */
    creator_uid?: string;
    /**
     * The environment. Absent for runs without one.
     */
    environment_id?: string;
    /**
     * `owner/name` of `config.repository`, in lower case. Absent for runs without one.
     */
    repository?: string;
    /**
     * The agent that did the runs.
     */
    agent?: string;
    /**
     * The model that the configuration names. Absent for runs that name none.
     */
    model_id?: string;
    /**
     * The number of runs, without tests of environments.
     */
    runs: number;
    /**
     * The number of runs that are SUCCEEDED now.
     */
    succeeded: number;
    /**
     * The number of runs that are FAILED or ERROR now.
     */
    failed: number;
    /**
     * `succeeded` divided by `succeeded` and `failed` together. Absent if both are 0.
     */
    success_rate?: number;
    /**
     * The median time from the creation to the end of the runs that are SUCCEEDED. Absent if there is none.
     */
    median_seconds_to_result?: number;
    /**
     * The time within which 95 % of these runs ended. Absent if there is none.
     */
    p95_seconds_to_result?: number;
    /**
     * The sum of `run_time` of the runs.
     */
    run_seconds: number;
    /**
     * The sum of `request_usage` of the runs.
     */
    total_tokens: number;
    /**
     * The sum of the known costs. Runs of unknown cost count as zero.
     */
    inference_cost_usd: number;
};

/**
 * The totals of the runs that you can see.
 */
export type UsageResponse = {
    /**
     * Ordered by the members of `group_by`.
     */
    usage: Array<UsageRow>;
};

/**
 * The principal's team.
 */
export type WhoamiTeam = {
    /**
     * The team's id.
     */
    uid: string;
    /**
     * The name of the team.
     */
    name: string;
};

/**
 * The key of this request, or the key that was used to sign in to the pages. Absent for a sign-in without a key.
 */
export type WhoamiKey = {
    /**
     * The key's id.
     */
    id: string;
    /**
     * The name that the owner chose.
     */
    name: string;
    /**
     * The beginning of the key.
     */
    hint: string;
    /**
     * The scopes of the key.
     */
    scopes: Array<KeyScope>;
    /**
     * When the key expires. Absent if it does not expire.
     */
    expires_at?: string;
};

/**
 * The caller and its rights.
 */
export type Whoami = {
    principal: Principal;
    /**
     * The principal's team.
     */
    team: WhoamiTeam;
    /**
     * What the caller may do at most.
     */
    scopes: Array<KeyScope>;
    /**
     * The key of this request, or the key that was used to sign in to the pages. Absent for a sign-in without a key.
     */
    key?: WhoamiKey;
    /**
     * The sign-in to the pages. Absent for a request with a key.
     */
    sign_in?: SignIn;
    /**
     * Whether the caller manages the team.
     */
    is_administrator: boolean;
    /**
     * Whether the caller manages the server and its teams.
     */
    is_operator: boolean;
};

/**
 * The live workers that share a name.
 */
export type WorkerHost = {
    /**
     * The value for `config.worker_host` of a run.
     */
    worker_host: string;
    /**
     * The number of worker processes with this name.
     */
    connection_count: number;
    /**
     * When the oldest of them started.
     */
    connected_at: string;
    /**
     * When one of them last reported.
     */
    last_seen_at: string;
    /**
     * The number of these workers that take no run, because their disk has too little free space.
     */
    disk_full_count: number;
};

/**
 * The worker names that a run can request.
 */
export type ListWorkersResponse = {
    /**
     * In alphabetical order. Workers without a name are left out.
     */
    workers: Array<WorkerHost>;
};

/**
 * The query of the operation `listRuns`.
 */
export type ListRunsQuery = {
    /**
     * Only these members of a run, separated by commas. Without it, all that the run has.
     */
    fields?: string;
    /**
     * The maximum number of runs per page. A page is shorter if its runs are long (4 MiB).
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same sort and the same filters.
     */
    cursor?: string;
    /**
     * The member by which the runs are sorted.
     */
    sort_by?: 'updated_at' | 'created_at' | 'title' | 'agent';
    /**
     * Descending (the newest first) or ascending order.
     */
    sort_order?: 'desc' | 'asc';
    /**
     * One of these states. Can be repeated.
     */
    state?: Array<RunState>;
    /**
     * The name of the run's configuration.
     */
    name?: string;
    /**
     * An alias of `name`.
     */
    config_name?: string;
    /**
     * The model of the run's configuration.
     */
    model_id?: string;
    /**
     * The uid of the principal that started the run.
     */
    creator?: string;
    /**
     * The uid of the principal that executes the run: its creator, unless the run names another one.
     */
    executor?: string;
    /**
     * One of these sources, values of `RunSourceType`. Any other value matches nothing. Can be repeated.
     */
    source?: string | Array<string>;
    /**
     * One of these states of the run together with the runs below it. `running`: one of them is neither ended nor blocked. The others are states of the run at the top. Can be repeated.
     */
    task_status?: Array<'running' | 'failed' | 'blocked' | 'cancelled' | 'complete'>;
    /**
     * Only runs created after this time (RFC 3339).
     */
    created_after?: string;
    /**
     * Only runs created before this time (RFC 3339).
     */
    created_before?: string;
    /**
     * Only runs changed after this time (RFC 3339).
     */
    updated_after?: string;
    /**
     * Only runs changed before this time (RFC 3339).
     */
    updated_before?: string;
    /**
     * The environment of the run. `empty-environment`: runs without an environment.
     */
    environment_id?: string;
    /**
     * The skill that started the run: `owner/repo:path/to/SKILL.md`, the format of `skill_spec` in `agent_config` and of the ids in `GET /agent`. A skill's name, or a repository without its owner, matches nothing.
     */
    skill?: string;
    /**
     * An alias of `skill`.
     */
    skill_spec?: string;
    /**
     * A repository in which the run works: its own or one of its environment. `owner/name` or an address, in any case.
     */
    repository?: string;
    /**
     * The schedule that started the run.
     */
    schedule_id?: string;
    /**
     * Only the runs of this conversation.
     */
    conversation_id?: string;
    /**
     * Only runs directly below this run.
     */
    parent_run_id?: string;
    /**
     * Only runs below this run, at any depth.
     */
    ancestor_run_id?: string;
    /**
     * Only runs that produced an artifact of this type.
     */
    artifact_type?: string;
    /**
     * Where the run is executed. Workers execute all runs, so `REMOTE` matches every run and `LOCAL` matches none.
     */
    execution_location?: 'LOCAL' | 'REMOTE';
    /**
     * `metadata[key]=value`: all of these pairs, at most 5.
     */
    metadata?: {
        [key: string]: string;
    };
    /**
     * Words that must all occur in the title, the prompt or the skill. Parts of words match, and case is ignored. Or the id of a run, or the address of its page.
     */
    q?: string;
    /**
     * The same as `metadata[automation_id]`.
     */
    automation_id?: string;
    /**
     * For clients of another server. No run of this one belongs to a factory, so any value matches nothing.
     */
    factory_uid?: Array<string>;
    /**
     * `true` matches nothing, see `factory_uid`.
     */
    factory_only?: boolean;
};

/**
 * The query of the operation `getRun`.
 */
export type GetRunQuery = {
    /**
     * The response comes when the run has ended or is BLOCKED, after this many seconds at the latest (at most 50). The request counts as an open stream meanwhile.
     */
    wait?: number;
    /**
     * Only these members of a run, separated by commas. Without it, all that the run has.
     */
    fields?: string;
};

/**
 * The query of the operation `listRunFollowups`.
 */
export type ListRunFollowupsQuery = {
    /**
     * The maximum number of follow-ups per page. A page is shorter if they are long (4 MiB).
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page of the same run.
     */
    cursor?: string;
};

/**
 * The query of the operation `getEvents`.
 */
export type GetEventsQuery = {
    /**
     * The id of the last event that you received, or `start`. Default: only new events.
     */
    after?: string;
    /**
     * The maximum number of events that a page reads. A page is shorter if its events are long (1 MiB). Events of runs that you cannot see are left out. A stream has no limit.
     */
    limit?: number;
};

/**
 * The query of the operation `getRunEvents`.
 */
export type GetRunEventsQuery = {
    /**
     * The sequence number of the last event that you received.
     */
    after?: number;
    /**
     * The last events before the one with this sequence number. Only for pages.
     */
    before?: number;
    /**
     * The last events, at most this many. A stream begins with them.
     */
    tail?: number;
    /**
     * The maximum number of events of a page. With `tail`, that number is the limit. A page is shorter if its events are long (1 MiB). A stream has no limit.
     */
    limit?: number;
    /**
     * true: the stream continues after the end of the run.
     */
    follow?: boolean;
};

/**
 * The query of the operation `getRunConversation`.
 */
export type GetRunConversationQuery = {
    /**
     * The maximum number of steps: the last ones. Default: all steps.
     */
    limit?: number;
    /**
     * The id of a step: only the steps before it.
     */
    before?: string;
};

/**
 * The query of the operation `getConversation`.
 */
export type GetConversationQuery = {
    /**
     * The maximum number of steps: the last ones. Default: all steps.
     */
    limit?: number;
    /**
     * The id of a step: only the steps before it.
     */
    before?: string;
};

/**
 * The query of the operation `getRunByExternalReference`.
 */
export type GetRunByExternalReferenceQuery = {
    /**
     * The address as the platform shows it, without a `/` at its end.
     */
    url?: string;
};

/**
 * The query of the operation `listDraftComments`.
 */
export type ListDraftCommentsQuery = {
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
};

/**
 * The query of the operation `listShareLinks`.
 */
export type ListShareLinksQuery = {
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
};

/**
 * The query of the operation `listSchedules`.
 */
export type ListSchedulesQuery = {
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
};

/**
 * The query of the operation `listPolicies`.
 */
export type ListPoliciesQuery = {
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
};

/**
 * The query of the operation `listRoutingRules`.
 */
export type ListRoutingRulesQuery = {
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
};

/**
 * The query of the operation `listThreads`.
 */
export type ListThreadsQuery = {
    /**
     * The run whose threads are listed.
     */
    run_id?: string;
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
};

/**
 * The query of the operation `listInbox`.
 */
export type ListInboxQuery = {
    /**
     * The number of events per page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters.
     */
    cursor?: string;
    /**
     * The result of the event. `open`: not processed yet.
     */
    disposition?: 'run_created' | 'follow_up' | 'changed' | 'withdrawn' | 'asked' | 'cancelled' | 'answered' | 'replied' | 'refused' | 'ignored' | 'duplicate' | 'failed' | 'open';
    /**
     * The integration that received the event.
     */
    integration?: string;
    /**
     * The run that the event created, continued or cancelled.
     */
    run_id?: string;
};

/**
 * The query of the operation `listNotices`.
 */
export type ListNoticesQuery = {
    /**
     * The number of notices per page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters.
     */
    cursor?: string;
    /**
     * Only notices of this run.
     */
    run_id?: string;
    /**
     * Only notices to this thread.
     */
    thread_id?: string;
    state?: NoticeState;
};

/**
 * The query of the operation `listEnvironments`.
 */
export type ListEnvironmentsQuery = {
    /**
     * `last_updated`: the most recently changed first. `name`: in alphabetical order.
     */
    sort_by?: 'last_updated' | 'name';
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
};

/**
 * The query of the operation `listSecrets`.
 */
export type ListSecretsQuery = {
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
};

/**
 * The query of the operation `getSecret`.
 */
export type GetSecretQuery = {
    /**
     * `false`: your own secret of that name.
     */
    team?: boolean;
};

/**
 * The query of the operation `deleteSecret`.
 */
export type DeleteSecretQuery = {
    /**
     * `false`: your own secret of that name.
     */
    team?: boolean;
};

/**
 * The query of the operation `listMcpServers`.
 */
export type ListMcpServersQuery = {
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
};

/**
 * The query of the operation `listAgents`.
 */
export type ListAgentsQuery = {
    /**
     * `owner/repo`: only the skills of this repository. Default: the skills of all environments of the team.
     */
    repo?: string;
    /**
     * `true`: read the repositories now. Default: a copy that is at most one minute old.
     */
    refresh?: boolean;
    /**
     * `last_run`: the most recently used skill first, unused skills last.
     */
    sort_by?: 'name' | 'last_run';
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
};

/**
 * The query of the operation `listWebhooks`.
 */
export type ListWebhooksQuery = {
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
};

/**
 * The query of the operation `listWebhookDeliveries`.
 */
export type ListWebhookDeliveriesQuery = {
    /**
     * The maximum number of deliveries.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters.
     */
    cursor?: string;
    state?: WebhookDeliveryState;
};

/**
 * The query of the operation `listRunWebhookDeliveries`.
 */
export type ListRunWebhookDeliveriesQuery = {
    /**
     * The maximum number of deliveries.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters.
     */
    cursor?: string;
    state?: WebhookDeliveryState;
};

/**
 * The query of the operation `listKeys`.
 */
export type ListKeysQuery = {
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
    /**
     * Only the keys of the principal with this uid.
     */
    principal?: string;
};

/**
 * The query of the operation `revokeKey`.
 */
export type RevokeKeyQuery = {
    /**
     * Whether to revoke also all keys that were created with it, with one of those, and so on.
     */
    descendants?: boolean;
};

/**
 * The query of the operation `listSignIns`.
 */
export type ListSignInsQuery = {
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
};

/**
 * The query of the operation `listPrincipals`.
 */
export type ListPrincipalsQuery = {
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
};

/**
 * The query of the operation `listNamedAgents`.
 */
export type ListNamedAgentsQuery = {
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
};

/**
 * The query of the operation `listTeams`.
 */
export type ListTeamsQuery = {
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
};

/**
 * The query of the operation `listIdentityLinks`.
 */
export type ListIdentityLinksQuery = {
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
};

/**
 * The query of the operation `listInstallations`.
 */
export type ListInstallationsQuery = {
    /**
     * The maximum number of entries per page. Default: all entries, on one page.
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters and the same sort.
     */
    cursor?: string;
};

/**
 * The query of the operation `listAuditEntries`.
 */
export type ListAuditEntriesQuery = {
    /**
     * The maximum number of entries per page. A page is shorter if they are long (4 MiB).
     */
    limit?: number;
    /**
     * `next_cursor` of the previous page. Requires the same filters.
     */
    cursor?: string;
    /**
     * The uid of the actor.
     */
    actor?: string;
    /**
     * The action, for example `key.revoked`.
     */
    action?: string;
    /**
     * The type of the target, for example `policy`.
     */
    target_type?: string;
    /**
     * The id of the target.
     */
    target_id?: string;
    /**
     * Only entries after this time (RFC 3339).
     */
    created_after?: string;
    /**
     * Only entries before this time (RFC 3339).
     */
    created_before?: string;
};

/**
 * The query of the operation `getUsage`.
 */
export type GetUsageQuery = {
    /**
     * The first day in UTC, such as `2026-03-01`. Default: 29 days ago, which gives 30 days with today.
     */
    from?: string;
    /**
     * The last day in UTC. Default: today. At most 366 days.
     */
    to?: string;
    /**
     * Can be repeated: one row per combination. Default: by day.
     */
    group_by?: Array<UsageGroup>;
};
