# Written by scripts/models.py from docs/openapi.json. Do not edit.

from __future__ import annotations

from errand._model import Model
from typing import Annotated, Any, Literal
from datetime import datetime
from typing_extensions import TypeAliasType
from pydantic import Field


class RunApprovalAttachment(Model):
    """
    A file of the request.
    """

    name: str
    """
    The name that the caller gave.
    """
    sha256: str
    """
    The SHA-256 of the content, in hexadecimal digits.
    """


class RunApprovalItem(Model):
    """
    Words for the agent. The request of a run has its prompt first, then the text around it, the base prompt and the instructions of its skills, as far as it has them.
    """

    followup_id: str | None = None
    """
    The follow-up. Absent for a part of the request of the run.
    """
    text: str
    """
    The words as the agent gets them.
    """
    attachments: list[RunApprovalAttachment]
    """
    The files. Only the request of a run has any.
    """


class RunExecutedConfigRepository(Model):
    """
    An entry of `RunExecutedConfigRepositories`.
    """

    repository: str
    """
    `owner/name`
    """
    ref: str | None = None
    """
    What is checked out. Absent: the default branch.
    """


class RunExecutedConfigMcpServer(Model):
    """
    An entry of `RunExecutedConfigMcpServers`.
    """

    command: str | None = None
    """
    The program.
    """
    args: list[str] | None = None
    """
    Its arguments.
    """
    url: str | None = None
    """
    The address.
    """
    env: list[str] | None = None
    """
    The names of its variables.
    """
    headers: list[str] | None = None
    """
    The names of its headers.
    """
    warp_id: str | None = None
    """
    The uid of the team's MCP server.
    """


class RunExecutedConfig(Model):
    """
    What the run executes besides the words, as it was when the approval was asked for.
    """

    agent: str
    """
    A name of the agent catalogue.
    """
    model_id: str | None = None
    """
    The model. Absent: the agent's default model.
    """
    reasoning_level: str | None = None
    """
    The reasoning level of the model.
    """
    permission_policy: Literal["allow", "ask"] | str
    """
    `allow`: the agent does not ask before it acts.
    """
    repositories: list[RunExecutedConfigRepository]
    """
    The repositories of the workspace.
    """
    pull_request: str | None = None
    """
    Whether a pull request is opened: `off`, `draft` or `ready`.
    """
    environment_id: str | None = None
    """
    The environment.
    """
    image: str | None = None
    """
    The image of the environment.
    """
    sparse: list[str] | None = None
    """
    The only folders that are checked out. Absent: all.
    """
    setup_commands: list[str]
    """
    The setup commands of the environment.
    """
    network: Literal["none", "internet"] | str
    """
    The network access of the environment.
    """
    mcp_servers: dict[str, Any]
    """
    The MCP servers, those of the team resolved.
    """
    secrets: list[str]
    """
    The names of the secrets.
    """
    skills: list[str]
    """
    The skills, with the commits that were read.
    """
    budget: dict[str, Any] | None = None
    """
    What the run may use.
    """
    worker_host: str | None = None
    """
    The workers that may take the run.
    """


class RunApprovalDetail(Model):
    """
    A part of what is executed, as an approver reads it.
    """

    label: str
    """
    What it is, for people.
    """
    values: list[str]
    """
    One text for each command, server, secret …
    """


class RunApproval(Model):
    """
    An approval that a policy requires before an agent gets these words.
    """

    id: str
    """
    The id of the approval. It stays the same while nobody has decided.
    """
    policy_id: str
    """
    The policy that requires the approval.
    """
    reason: str
    """
    Why the approval is required.
    """
    inputs_hash: str
    """
    Identifies the inputs and what is executed. A decision names it. It changes whenever one of them changes.
    """
    inputs: list[RunApprovalItem]
    """
    Everything that is approved, in the order of delivery.
    """
    executes: RunExecutedConfig | None = None
    """
    What the run executes if it is approved, in its first and later attempts. Later changes of the environment and of MCP servers do not reach it. Absent for an approval that an earlier version asked for.
    """
    details: list[RunApprovalDetail] | None = None
    """
    The same for people, in the order in which it is to be shown.
    """
    not_covered: list[str] | None = None
    """
    What the hash does not cover, for people. A client tells it to the approver.
    """
    decided: Literal["approved", "refused"] | str | None = None
    """
    The decision. Absent while the approval is open.
    """
    decided_by: str | None = None
    """
    The uid of the principal that decided.
    """
    decided_at: datetime | None = None
    """
    When it was decided.
    """


class FileArtifactData(Model):
    """
    Details that depend on the type.
    """

    artifact_uid: str
    """
    The artifact's id.
    """
    filepath: str
    """
    The path in the workspace.
    """
    filename: str
    """
    The last segment of the path.
    """
    mime_type: str
    """
    The media type, derived from the file's name.
    """
    size_bytes: int | None = None
    """
    The size of the newest version.
    """


class FileArtifact(Model):
    """
    An artifact of the type `FILE`.
    """

    artifact_type: Literal["FILE"]
    created_at: datetime
    """
    When the artifact was first created. Newer versions keep this time.
    """
    data: FileArtifactData
    """
    Details that depend on the type.
    """


class PullRequestArtifactData(Model):
    """
    Details that depend on the type.
    """

    url: str
    """
    The URL where it can be viewed.
    """
    branch: str
    """
    The branch that the pull request merges.
    """
    status: Literal["open", "draft", "merged", "closed", "unknown"] | str
    """
    What the platform last said. `unknown`: it has not been asked, or another one is newer.
    """


class PullRequestArtifact(Model):
    """
    An artifact of the type `PULL_REQUEST`.
    """

    artifact_type: Literal["PULL_REQUEST"]
    created_at: datetime
    """
    When the artifact was first created. Newer versions keep this time.
    """
    data: PullRequestArtifactData
    """
    Details that depend on the type.
    """


class PlanArtifactData(Model):
    """
    Details that depend on the type.
    """

    document_uid: str
    """
    The plan's id.
    """
    title: str | None = None
    """
    A title for people.
    """


class PlanArtifact(Model):
    """
    An artifact of the type `PLAN`.
    """

    artifact_type: Literal["PLAN"]
    created_at: datetime
    """
    When the artifact was first created. Newer versions keep this time.
    """
    data: PlanArtifactData
    """
    Details that depend on the type.
    """


class ScreenshotArtifactData(Model):
    """
    Details that depend on the type.
    """

    artifact_uid: str
    """
    The artifact's id.
    """
    mime_type: str
    """
    The media type that the bytes of the picture have.
    """
    description: str | None = None
    """
    What the agent did when it made the picture.
    """


class ScreenshotArtifact(Model):
    """
    An artifact of the type `SCREENSHOT`.
    """

    artifact_type: Literal["SCREENSHOT"]
    created_at: datetime
    """
    When the artifact was first created. Newer versions keep this time.
    """
    data: ScreenshotArtifactData
    """
    Details that depend on the type.
    """


class ExternalReferenceArtifactData(Model):
    """
    Details that depend on the type.
    """

    reference_type: str
    """
    The kind of reference, as the agent names it.
    """
    url: str
    """
    The URL where it can be viewed.
    """
    title: str | None = None
    """
    A title for people.
    """


class ExternalReferenceArtifact(Model):
    """
    An artifact of the type `EXTERNAL_REFERENCE`.
    """

    artifact_type: Literal["EXTERNAL_REFERENCE"]
    created_at: datetime
    """
    When the artifact was first created. Newer versions keep this time.
    """
    data: ExternalReferenceArtifactData
    """
    Details that depend on the type.
    """


class PageInfo(Model):
    """
    Describes the next page.
    """

    has_next_page: bool
    """
    Whether there are more results.
    """
    next_cursor: str | None = None
    """
    The value of `cursor` for the next page, with the same sort and filters.
    """


class RunPullRequestStatusChecks(Model):
    """
    The checks of the newest commit, at most 50.
    """

    total: int
    """
    The checks that decide something: neither skipped nor neutral.
    """
    passed: int
    """
    How many of them passed.
    """
    failed: int
    """
    How many of them failed. The others are running.
    """


class RunPullRequestStatusCheckRun(Model):
    """
    An entry of `RunPullRequestStatusCheckRuns`.
    """

    name: str
    """
    The name on the platform.
    """
    state: Literal["running", "passed", "failed", "skipped"] | str
    """
    `skipped`: it decided nothing.
    """
    url: str | None = None
    """
    Where the platform shows it.
    """


class RunPullRequestStatus(Model):
    """
    What the platform last said about the newest pull request of the run.
    """

    url: str
    """
    The URL of the pull request.
    """
    state: Literal["draft", "open", "merged", "closed"] | str
    """
    `draft` and `open`: it can be merged.
    """
    checks: RunPullRequestStatusChecks
    """
    The checks of the newest commit, at most 50.
    """
    check_runs: list[RunPullRequestStatusCheckRun] | None = None
    """
    Each check, failed ones first. Absent in lists.
    """


class SecretRef(Model):
    """
    A secret of the team, by its name.
    """

    name: str
    """
    The name of a secret of the team.
    """


class MCPServerProgram(Model):
    """
    A program in the sandbox, next to the agent.
    """

    command: str
    """
    A program that speaks MCP on its standard streams.
    """
    args: list[str] | None = None
    """
    The arguments of the program. They must not refer to secrets.
    """
    env: dict[str, Any] | None = None
    """
    Values may refer to secrets: `$` and the name in braces. They are filled in when the run starts.
    """


class MCPServerAddress(Model):
    """
    A remote server. The agent reaches it without access to its keys.
    """

    url: str
    """
    The URL of the server.
    """
    headers: dict[str, Any] | None = None
    """
    Values may refer to secrets: `$` and the name in braces. They are filled in when the run starts.
    """


class MCPServerReference(Model):
    """
    A shared server.
    """

    warp_id: str
    """
    The id or name of the server.
    """


class AmbientAgentConfigHarness(Model):
    """
    The agent that does the work.
    """

    type: str | None = None
    """
    A name of the agent catalogue. `oz` is the server's default agent.
    """
    model_id: str | None = None
    """
    The model of this agent. It takes precedence over `model_id` of the configuration.
    """
    reasoning_level: str | None = None
    """
    The reasoning level, as the agent names it.
    """


class AmbientAgentConfigSessionSharing(Model):
    """
    Shares the new run by a link, which the response contains as `share_url`. If the team does not allow it (`sharing` of the team), nothing is shared and the response names the member as ignored.
    """

    public_access: Literal["VIEWER", "EDITOR"] | str | None = None
    """
    What users outside the team may do: see the run, or also send follow-ups.
    """


class AmbientAgentConfigBudget(Model):
    """
    The limits of all turns together. When a limit is reached, the turn is stopped and the run becomes FAILED with `budget_exceeded`.
    """

    max_turns: int | None = None
    """
    The maximum number of prompts to the agent.
    """
    max_minutes: float | None = None
    """
    The maximum working time of the agent. Time in which it waits for a person or a worker does not count.
    """
    max_tokens: int | None = None
    """
    The maximum number of input and output tokens of all turns.
    """
    max_cost_usd: float | None = None
    """
    The maximum cost, computed by the agent or from the price list, whichever is higher.
    """


class AmbientAgentConfig(Model):
    """
    The configuration of a run. Unknown members are stored and returned, and the response that accepts them names them as ignored.
    """

    name: str | None = None
    """
    A name by which runs can be listed.
    """
    model_id: str | None = None
    """
    The model, as the agent names it. If the agent does not know it, the run logs this and uses the agent's default model.
    """
    base_prompt: str | None = None
    """
    Instructions for the whole session. The agent receives them at its start or before its first prompt.
    """
    environment_id: str | None = None
    """
    The environment in which the run works: one of your own or of the team.
    """
    skill_spec: str | None = None
    """
    `owner/repo:skill-name` or `owner/repo:path/to/SKILL.md`.
    """
    skills: list[str] | None = None
    """
    Skills for the agent, named like `skill_spec`, with which it must not be combined. They are put where the agent looks for skills. Without a prompt the first one is the task. At most 50.
    """
    mcp_servers: dict[str, Any] | None = None
    """
    MCP servers for the agent, at most 20. Names have 1 to 64 letters, digits, `_` and `-`.
    """
    computer_use_enabled: bool | None = None
    """
    Stored and returned, but not used by any agent of this version: the response that accepts it names it as ignored.
    """
    computer_use_model_id: str | None = None
    """
    Stored and returned, but not used by any agent of this version: the response that accepts it names it as ignored.
    """
    worker_host: str | None = None
    """
    Only workers with this name may execute the run, even if it has to wait for one.
    """
    priority: Literal["high", "normal", "low"] | str | None = None
    """
    Which of the queued runs of the team start first. Other teams do not wait longer because of it. A `low` run that has waited for an hour counts as `normal` (default). The condition `priorities` of a policy says who may use it.
    """
    secrets: list[SecretRef] | None = None
    """
    The only secrets of the team that the run gets, and no personal ones. They must be among those of the named agent that executes the run, if it has a list. Absent or empty: those of the named agent, else those of the environment, else all.
    """
    idle_timeout_minutes: int | None = None
    """
    How long an agent that waits for a person is kept running. 0: not at all.
    """
    harness: AmbientAgentConfigHarness | None = None
    """
    The agent that does the work.
    """
    session_sharing: AmbientAgentConfigSessionSharing | None = None
    """
    Shares the new run by a link, which the response contains as `share_url`. If the team does not allow it (`sharing` of the team), nothing is shared and the response names the member as ignored.
    """
    budget: AmbientAgentConfigBudget | None = None
    """
    The limits of all turns together. When a limit is reached, the turn is stopped and the run becomes FAILED with `budget_exceeded`.
    """
    permission_policy: Literal["allow", "ask"] | str | None = None
    """
    `ask`: a person decides each permission that the agent requests, and the run is BLOCKED until then. `allow` (default): all permissions are granted, within the sandbox.
    """
    repository: str | None = None
    """
    `owner/name`: a repository in which the run works. It is added to those of the environment, if there is one.
    """
    repository_guessed: bool | None = None
    """
    `true`: nobody named `repository`; the client guessed it, for example from the clone in which a command ran. If it cannot be read, the run works without it and says so, instead of failing.
    """
    ref: str | None = None
    """
    What of `repository` is checked out: a branch, a tag or the full id of a commit. Default: its default branch. Without `repository` it counts for the repository of the environment, which must have exactly one.
    """
    pull_request: Literal["off", "draft", "ready"] | str | None = None
    """
    What Errand does at the end of a turn with changes in `repository` that the agent did not push. `draft` and `ready`: it pushes them and opens a pull request. `off`: it opens none. Without `repository` it counts for each repository of the environment. Default: `pull_request` of the environment, otherwise `off`, except for requests of people in chats.
    """
    output_schema: dict[str, Any] | None = None
    """
    A JSON Schema (2020-12, at most 64 KiB) for the answer of each turn. The agent is told to end its answer with a matching JSON value, which `result.data` of the run contains. If it does not match, the agent may repair it once in the same turn; after that the run is FAILED with `invalid_request` and the problems. `$ref` must begin with `#`.
    """


class RunCreatorInfo(Model):
    """
    A principal: the creator or the executor of a run.
    """

    uid: str
    """
    The principal's id.
    """
    type: Literal["user", "service_account"] | str
    """
    `user`: a person. `service_account`: a program.
    """
    display_name: str | None = None
    """
    The name shown on the pages.
    """
    email: str | None = None
    """
    The email address, if known.
    """
    photo_url: str | None = None
    """
    The URL of a picture, if known.
    """


class RunOutcomePullRequest(Model):
    """
    The newest pull request of the run.
    """

    url: str
    """
    The URL of the newest pull request.
    """
    state: Literal["draft", "open", "merged", "closed"] | str | None = None
    """
    What the platform last said about it.
    """
    number: int | None = None
    """
    Its number on the platform.
    """


class RunOutcomeChanges(Model):
    """
    What the run has changed in all repositories since they were cloned. Absent: unknown.
    """

    files: int
    """
    The changed files.
    """
    additions: int
    """
    Added lines.
    """
    deletions: int
    """
    Deleted lines.
    """


class RunOutcomeRefused(Model):
    """
    An entry of `RunOutcomeRefused`.
    """

    what: Literal["push", "pull_request", "file"] | str
    """
    The part of the work that was not handed over.
    """
    by: str
    """
    The host that refused it, or `Errand`.
    """
    message: str
    """
    The reason, in the words of the one who refused it.
    """
    remedy: str | None = None
    """
    What you can do about it.
    """
    patch_url: str | None = None
    """
    The page with the patch. Absent in events.
    """


class RunOutcome(Model):
    """
    What came of a run that has ended.
    """

    summary: str
    """
    The outcome in one line.
    """
    pull_request: RunOutcomePullRequest | None = None
    """
    The newest pull request of the run.
    """
    changes: RunOutcomeChanges | None = None
    """
    What the run has changed in all repositories since they were cloned. Absent: unknown.
    """
    refused: list[RunOutcomeRefused] | None = None
    """
    What the last turn could not hand over, although the run SUCCEEDED: a push or a pull request that the host refused. Absent: nothing is missing.
    """


class LineComment(Model):
    """
    A comment on one or several lines of the changes of a run.
    """

    repository: str | None = None
    """
    `owner/name`, as the changes of the run name it. It may be left out if there is only one.
    """
    path: str
    """
    The path of the file, at most 4096 characters.
    """
    side: Literal["left", "right"] | str
    """
    `left`: the file before the changes. `right`: the file after them.
    """
    line: int
    """
    The line, counted from 1 on its side. Of several lines, the last one.
    """
    start_line: int | None = None
    """
    The first of several lines.
    """
    hunk: str
    """
    The lines of the diff that the comment is about. The last one is `line`. At most 16000 characters.
    """
    commit_id: str | None = None
    """
    The commit whose version was commented on, if it is pushed.
    """
    body: str
    """
    The comment, at most 10000 characters.
    """


class SentLineComment(Model):
    """
    A comment on one or several lines, sent with a follow-up.
    """

    repository: str | None = None
    """
    `owner/name`, as the changes of the run name it. It may be left out if there is only one.
    """
    path: str
    """
    The path of the file, at most 4096 characters.
    """
    side: Literal["left", "right"] | str
    """
    `left`: the file before the changes. `right`: the file after them.
    """
    line: int
    """
    The line, counted from 1 on its side. Of several lines, the last one.
    """
    start_line: int | None = None
    """
    The first of several lines.
    """
    hunk: str
    """
    The lines of the diff that the comment is about. The last one is `line`. At most 16000 characters.
    """
    commit_id: str | None = None
    """
    The commit whose version was commented on, if it is pushed.
    """
    body: str
    """
    The comment, at most 10000 characters.
    """
    draft_id: str | None = None
    """
    The draft of the sender that it was. It is deleted.
    """


class DraftComment(Model):
    """
    A comment that its author has not sent yet.
    """

    repository: str | None = None
    """
    `owner/name`, as the changes of the run name it. It may be left out if there is only one.
    """
    path: str
    """
    The path of the file, at most 4096 characters.
    """
    side: Literal["left", "right"] | str
    """
    `left`: the file before the changes. `right`: the file after them.
    """
    line: int
    """
    The line, counted from 1 on its side. Of several lines, the last one.
    """
    start_line: int | None = None
    """
    The first of several lines.
    """
    hunk: str
    """
    The lines of the diff that the comment is about. The last one is `line`. At most 16000 characters.
    """
    commit_id: str | None = None
    """
    The commit whose version was commented on, if it is pushed.
    """
    body: str
    """
    The comment, at most 10000 characters.
    """
    draft_id: str
    """
    The draft's id, chosen by its author.
    """
    created_at: datetime
    """
    When it was stored first.
    """
    updated_at: datetime
    """
    When it was stored last.
    """


class ListDraftCommentsResponse(Model):
    """
    The comments of the caller on a run that are not sent yet.
    """

    draft_comments: list[DraftComment]
    """
    The oldest comes first. At most 50.
    """
    page_info: PageInfo


class RunWaitingFor(Model):
    """
    What the run waits for before it can start or continue.
    """

    reason: (
        Literal[
            "approval",
            "question",
            "instructions",
            "worker_host",
            "capacity",
            "quota",
            "disk",
        ]
        | str
    )
    """
    `approval`: a person must approve the run, or a follow-up to a run that has ended. `question`: a person must answer the agent. `worker_host`: no worker with the name `worker_host` is connected. `capacity`: no worker is free, or the agent has an answer and waits for a slot of its worker. `quota`: the team has as many runs at work as its quota `running_runs` allows. `disk`: the disks of the free workers are nearly full.
    """
    message: str
    """
    A text for people.
    """
    since: datetime
    """
    When the run got its present state.
    """
    position: int | None = None
    """
    The place among the queued runs of the same creator, counted from 1. Only of a queued run, and not in lists.
    """
    may_decide: bool | None = None
    """
    Whether the policies let the caller answer or approve. Only if a person has to.
    """
    deciders: list[RunCreatorInfo] | None = None
    """
    Members who may answer or approve, at most five. Absent if the caller may.
    """


WebhookEventType = TypeAliasType(
    "WebhookEventType",
    Literal[
        "run.created",
        "run.queued",
        "run.pending",
        "run.claimed",
        "run.inprogress",
        "run.blocked",
        "run.succeeded",
        "run.failed",
        "run.error",
        "run.cancelled",
        "webhook.disabled",
    ]
    | str,
)
"""
`run.created`, `run.` with the name of the run's new state, and `webhook.disabled`: another webhook of the team was disabled because it failed.
"""


class WebhookRequest(Model):
    """
    A new webhook.
    """

    url: str
    """
    The receiver's URL. It must be https, and outside the server's own network unless the operator allows it.
    """
    description: str | None = None
    """
    A description for people.
    """
    events: list[WebhookEventType] | None = None
    """
    The events that are sent. An empty list means all that begin with `run.`.
    """
    enabled: bool | None = None
    """
    Whether messages are sent. Events that happen while the webhook is disabled are never sent. Default: true.
    """


class RunWebhook(Model):
    """
    Receives all messages that begin with `run.` about this run alone. A retry does not copy it.
    """

    url: str
    """
    The receiver's URL. It must be https, and outside the server's own network unless the operator allows it.
    """
    secret: str
    """
    Signs the messages: `whsec_` and the base64 of 24 to 64 bytes. It is stored encrypted and never returned.
    """


class WebhookChange(Model):
    """
    The members to change. Other members keep their value. Enabling a webhook also resets `failing_since`.
    """

    url: str | None = None
    """
    The receiver's URL. It must be https, and outside the server's own network unless the operator allows it.
    """
    description: str | None = None
    """
    A description for people.
    """
    events: list[WebhookEventType] | None = None
    """
    The events that are sent. An empty list means all that begin with `run.`.
    """
    enabled: bool | None = None
    """
    Whether messages are sent. Events that happen while the webhook is disabled are never sent. Default: true.
    """


class RotateWebhookSecretRequest(Model):
    """
    The end of the old secret.
    """

    overlap_seconds: int | None = None
    """
    For how long messages are also signed with the old secret.
    """


class Webhook(Model):
    """
    A URL that receives events of runs.
    """

    id: str
    """
    The webhook's id.
    """
    url: str
    """
    The receiver's URL.
    """
    description: str | None = None
    """
    A description for people.
    """
    events: list[WebhookEventType]
    """
    The events that are sent.
    """
    enabled: bool
    """
    Whether messages are sent.
    """
    disabled_reason: str | None = None
    """
    Why the server disabled the webhook.
    """
    failing_since: datetime | None = None
    """
    Since when all tries have failed.
    """
    previous_secret_expires_at: datetime | None = None
    """
    Until this time, messages are also signed with the previous secret.
    """
    created_by: str
    """
    The uid of the principal that created the webhook.
    """
    created_at: datetime
    """
    When the webhook was created.
    """
    updated_at: datetime
    """
    When the webhook was last changed.
    """


class RevealedWebhook(Model):
    """
    A webhook with its new secret.
    """

    id: str
    """
    The webhook's id.
    """
    url: str
    """
    The receiver's URL.
    """
    description: str | None = None
    """
    A description for people.
    """
    events: list[WebhookEventType]
    """
    The events that are sent.
    """
    enabled: bool
    """
    Whether messages are sent.
    """
    disabled_reason: str | None = None
    """
    Why the server disabled the webhook.
    """
    failing_since: datetime | None = None
    """
    Since when all tries have failed.
    """
    previous_secret_expires_at: datetime | None = None
    """
    Until this time, messages are also signed with the previous secret.
    """
    created_by: str
    """
    The uid of the principal that created the webhook.
    """
    created_at: datetime
    """
    When the webhook was created.
    """
    updated_at: datetime
    """
    When the webhook was last changed.
    """
    secret: str
    """
    The secret that signs messages. It is shown only once.
    """


class ListWebhooksResponse(Model):
    """
    All webhooks of the team.
    """

    webhooks: list[Webhook]
    """
    The oldest webhook comes first.
    """
    page_info: PageInfo


RunState = TypeAliasType(
    "RunState",
    Literal[
        "QUEUED",
        "PENDING",
        "CLAIMED",
        "INPROGRESS",
        "BLOCKED",
        "SUCCEEDED",
        "FAILED",
        "ERROR",
        "CANCELLED",
    ]
    | str,
)
"""
`QUEUED`: the run waits for a worker. `PENDING` and `CLAIMED`: a worker prepares it. `INPROGRESS`: the agent works. `BLOCKED`: the run waits for a person. `SUCCEEDED`, `FAILED` (a problem of the request), `ERROR` (a problem of the platform) and `CANCELLED`: the run has ended. A follow-up continues an ended run.
"""


class RunAgentRequestImage(Model):
    """
    An entry of `RunAgentRequestImages`.
    """

    data: str
    """
    The bytes, encoded as base64.
    """
    mime_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"] | str
    """
    The media type of the bytes.
    """


class RunAgentRequestAttachment(Model):
    """
    An entry of `RunAgentRequestAttachments`.
    """

    file_name: str
    """
    The name of the file in `attachments/`. Unsafe characters are replaced, and a number is added if the name is already used.
    """
    mime_type: str
    """
    The media type of the bytes.
    """
    data: str
    """
    The bytes, encoded as base64.
    """


class RunAgentRequest(Model):
    """
    A new run. At least one of `prompt`, `skill`, `config.skill_spec`, `config.skills` and `conversation_id` is required.
    """

    prompt: str | None = None
    """
    The task, in words.
    """
    config: AmbientAgentConfig | None = None
    title: str | None = None
    """
    The title of the run. Default: the beginning of the prompt.
    """
    skill: str | None = None
    """
    `[owner/]repo:name` or `[owner/]repo:path`. It takes precedence over `config.skill_spec`.
    """
    conversation_id: str | None = None
    """
    A conversation to continue, with its files and, if the agent is the same, its memory. Values that `config` and `team` leave out are taken from the newest run of the conversation, except `name` and `skill_spec`.
    """
    parent_run_id: str | None = None
    """
    The parent of the run.
    """
    team: bool | None = None
    """
    false: only the creator and administrators can see the run. Default: true.
    """
    images: list[RunAgentRequestImage] | None = None
    """
    Images that belong to the prompt, for agents that accept images.
    """
    attachments: list[RunAgentRequestAttachment] | None = None
    """
    Files that belong to the prompt.
    """
    mode: Literal["normal", "plan", "orchestrate"] | str | None = None
    """
    The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: `normal`.
    """
    interactive: bool | None = None
    """
    true: `config.permission_policy` defaults to `ask`.
    """
    metadata: dict[str, Any] | None = None
    """
    The caller's own labels of the run, by which runs can be listed. At most 20 pairs. Names have up to 64 characters of `a-z A-Z 0-9 . _ -`, values up to 256 bytes.
    """
    agent_identity_uid: str | None = None
    """
    The uid of the named agent that executes the run. Values that `config` leaves out are taken from it. Default: the caller, if its key belongs to a named agent.
    """
    on_behalf_of: str | None = None
    """
    The uid or the email address of an active member, who becomes the creator of the run. The run gets no personal secrets, and the member cannot approve it. For administrators, and for named agents with `on_behalf_of_enabled`.
    """
    webhook: RunWebhook | None = None


class RunUpdate(Model):
    """
    The members to change. Other members keep their value.
    """

    title: str | None = None
    """
    The new title.
    """
    metadata: dict[str, Any] | None = None
    """
    Replaces all pairs.
    """


class RunAgentResponse(Model):
    """
    The run was accepted and stored.
    """

    run_id: str
    """
    The new run's id.
    """
    task_id: str
    """
    The same as `run_id`.
    """
    state: RunState
    at_capacity: bool | None = None
    """
    Whether all workers that can execute the run are busy, more runs wait than slots are free, or no worker exists, or the quota `running_runs` of the team leaves no room.
    """
    waiting_for: RunWaitingFor | None = None
    share_url: str | None = None
    """
    The address of the run's page for guests, if `config.session_sharing` asked for it and the team allows it. Only this response contains it. It expires after 7 days.
    """
    ignored: list[str] | None = None
    """
    The paths of members that were accepted and have no effect: unknown ones, and known ones that this server does not use. Absent if there are none. At most 100; then `...` is the last entry.
    """


class FollowupAttachment(Model):
    """
    A file that belongs to a follow-up: `file_name`, `mime_type` and `data`.
    """

    file_name: str | None = None
    """
    The name of the file in `attachments/`. Unsafe characters are replaced, and a number is added if the name is already used.
    """
    mime_type: str | None = None
    """
    The media type of the bytes.
    """
    data: str | None = None
    """
    The bytes, encoded as base64.
    """
    attachment_id: str | None = None
    """
    For clients of another server: no id is known here, and the response is 422. Send `data`.
    """


class RunFollowupRequestImage(Model):
    """
    An entry of `RunFollowupRequestImages`.
    """

    data: str
    """
    The bytes, encoded as base64.
    """
    mime_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"] | str
    """
    The media type of the bytes.
    """


class RunFollowupRequest(Model):
    """
    A message to an existing run.
    """

    message: str | None = None
    """
    The text of the follow-up. It may be empty if there are files or comments.
    """
    comments: list[SentLineComment] | None = None
    """
    Comments on lines of the run's changes, at most 50. The agent reads them below the message, each with the lines that it is about. A follow-up with comments never answers a question.
    """
    attachments: list[FollowupAttachment] | None = None
    """
    Files that belong to the message, at most 25.
    """
    images: list[RunFollowupRequestImage] | None = None
    """
    Images that belong to the message, for agents that accept images.
    """
    mode: Literal["normal", "plan", "orchestrate"] | str | None = None
    """
    The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: `normal`.
    """
    delivery: Literal["queue", "interrupt", "steer"] | str | None = None
    """
    queue (default): the next turn processes it. interrupt: it stops the current turn. steer: it is added to the current turn if the agent supports that, otherwise it is queued; no agent of this version supports it.
    """
    visibility: Literal["thread", "private"] | str | None = None
    """
    thread (default): it is posted to the threads of the run. private: neither it nor the answer of a turn with only private follow-ups is posted. The run's state and the agent's questions are still posted.
    """


class RunFollowupResponse(Model):
    """
    The follow-up was accepted. The agent has not read it yet.
    """

    outcome: (
        Literal["live_session", "queued_prompt", "handoff_execution", "queue_pending"]
        | str
    )
    """
    `live_session`: the running turn gets it, or it answered the question of a running agent. If the agent takes nothing within its turn, the event `followup.queued` follows. `queued_prompt`: the run has not started; its first turn gets it with the prompt. `handoff_execution`: the run had ended and continues. `queue_pending`: it waits for the next turn, an answer or an approval.
    """
    followup_id: str | None = None
    """
    null if the message answered a question of the run, and so became no follow-up.
    """
    state: RunState
    answered: str | None = None
    """
    The `option_id` that the message chose. Absent if it was no answer, and after a refusal for which the agent offers no option that holds once.
    """
    question_open: Literal[True] | None = None
    """
    The message was no answer. It is held, and the run still waits for an answer.
    """


class ConversationFollowupResponse(Model):
    """
    The follow-up was accepted. The agent has not read it yet.
    """

    outcome: (
        Literal["live_session", "queued_prompt", "handoff_execution", "queue_pending"]
        | str
    )
    """
    `live_session`: the running turn gets it, or it answered the question of a running agent. If the agent takes nothing within its turn, the event `followup.queued` follows. `queued_prompt`: the run has not started; its first turn gets it with the prompt. `handoff_execution`: the run had ended and continues. `queue_pending`: it waits for the next turn, an answer or an approval.
    """
    followup_id: str | None = None
    """
    null if the message answered a question of the run, and so became no follow-up.
    """
    state: RunState
    answered: str | None = None
    """
    The `option_id` that the message chose. Absent if it was no answer, and after a refusal for which the agent offers no option that holds once.
    """
    question_open: Literal[True] | None = None
    """
    The message was no answer. It is held, and the run still waits for an answer.
    """
    run_id: str
    """
    The newest run of the conversation, which gets the follow-up.
    """


class RunStatusMessage(Model):
    """
    Why the run ended, or what it waits for.
    """

    message: str
    """
    A text for people.
    """
    error_code: (
        Literal[
            "invalid_request",
            "authentication_required",
            "external_authentication_required",
            "not_authorized",
            "insufficient_credits",
            "budget_exceeded",
            "feature_not_available",
            "integration_disabled",
            "content_policy_violation",
            "integration_not_configured",
            "resource_not_found",
            "conflict",
            "operation_not_supported",
            "resource_unavailable",
            "internal_error",
            "environment_setup_failed",
        ]
        | str
        | None
    ) = None
    """
    A code for programs: one of the codes of `Error`.
    """
    retryable: bool | None = None
    """
    Whether a repeat of the same run may succeed.
    """
    reason: str | None = None
    """
    A finer cause than the code, such as `infrastructure_timeout`, `agent_process_failed`, `agent_error`.
    """
    remedy: str | None = None
    """
    What you can do about it.
    """
    session_debug_until: datetime | None = None
    """
    Until when the failed run keeps its agent and workspace. A follow-up continues there. Present only until then.
    """


RunSourceType = TypeAliasType(
    "RunSourceType",
    Literal[
        "API",
        "SLACK",
        "LINEAR",
        "LOCAL",
        "SCHEDULED_AGENT",
        "WEB_APP",
        "GITHUB_ACTION",
        "CLOUD_MODE",
        "CLI",
        "JIRA",
        "GITHUB_WEBHOOK",
        "GITLAB_WEBHOOK",
    ]
    | str,
)
"""
The source of a run. `API` if nothing more specific is known.
"""


class Scope(Model):
    """
    Who can see something.
    """

    type: Literal["User", "Team"] | str
    """
    `Team`: all members of the team. `User`: the creator and administrators.
    """
    uid: str | None = None
    """
    The uid of the creator, if the type is `User`.
    """


class RunAgent(Model):
    """
    The agent that does the work of the run.
    """

    name: str
    """
    A name of the agent catalogue.
    """
    version: str | None = None
    """
    The version that the agent reported when it last started.
    """
    model_id: str | None = None
    """
    The model of the configuration. Absent: the agent's default model.
    """


class RunResult(Model):
    """
    What the agent answered in the last turn that it finished.
    """

    text: str
    """
    The answer, at most 64 KiB of UTF-8.
    """
    turn: int
    """
    The number of the turn.
    """
    truncated: bool | None = None
    """
    true: the answer is longer. The transcript has more of it.
    """
    data: Any | None = None
    """
    The JSON value in the answer. Present if the run has an `output_schema`, which it matches.
    """


class RunItemAgentSkill(Model):
    """
    The skill that started the run, as it was at that time.
    """

    name: str
    """
    The name in SKILL.md, otherwise the name of the folder.
    """
    description: str
    """
    The purpose of the skill, from its SKILL.md.
    """
    full_path: str
    """
    The path of SKILL.md in the repository that `skill_spec` names.
    """


class RunItemSchedule(Model):
    """
    The schedule that started the run, as it was at that time.
    """

    schedule_id: str
    """
    The schedule's id.
    """
    schedule_name: str
    """
    The name of the schedule at that time.
    """
    cron_schedule: str
    """
    The cron expression at that time.
    """


class RunItemPermissionOption(Model):
    """
    An entry of `RunItemPermissionOptions`.
    """

    option_id: str
    """
    The value of the answer.
    """
    name: str
    """
    A text for people.
    """
    kind: Literal["allow_once", "allow_always", "reject_once", "reject_always"] | str
    """
    Whether the option allows or rejects, and for how long.
    """


class RunItemRequestUsage(Model):
    """
    The usage of the model, as far as it is known.
    """

    total_tokens: int | None = None
    """
    Input and output tokens of all turns, as reported by the agent or counted by the gateway, whichever is higher.
    """
    inference_cost_usd: float | None = None
    """
    The cost reported by the agent or computed from the price list, whichever is higher. Absent if both are unknown.
    """


RunFilterTaskStatu = TypeAliasType(
    "RunFilterTaskStatu",
    Literal["running", "failed", "blocked", "cancelled", "complete"] | str,
)
"""
An entry of `RunFilterTaskStatus`.
"""


class RunFilter(Model):
    """
    Filters as in the query of `GET /agent/runs`. All must match. An unknown or empty one is refused.
    """

    state: list[RunState] | None = None
    """
    One of these states. Can be repeated.
    """
    name: str | None = None
    """
    The name of the run's configuration.
    """
    config_name: str | None = None
    """
    An alias of `name`.
    """
    model_id: str | None = None
    """
    The model of the run's configuration.
    """
    creator: str | None = None
    """
    The uid of the principal that started the run.
    """
    executor: str | None = None
    """
    The uid of the principal that executes the run: its creator, unless the run names another one.
    """
    source: str | list[str] | None = None
    """
    One of these sources, values of `RunSourceType`. Any other value matches nothing. Can be repeated.
    """
    task_status: list[RunFilterTaskStatu] | None = None
    """
    One of these states of the run together with the runs below it. `running`: one of them is neither ended nor blocked. The others are states of the run at the top. Can be repeated.
    """
    created_after: datetime | None = None
    """
    Only runs created after this time (RFC 3339).
    """
    created_before: datetime | None = None
    """
    Only runs created before this time (RFC 3339).
    """
    updated_after: datetime | None = None
    """
    Only runs changed after this time (RFC 3339).
    """
    updated_before: datetime | None = None
    """
    Only runs changed before this time (RFC 3339).
    """
    environment_id: str | None = None
    """
    The environment of the run. `empty-environment`: runs without an environment.
    """
    skill: str | None = None
    """
    The skill that started the run: `owner/repo:path/to/SKILL.md`, the format of `skill_spec` in `agent_config` and of the ids in `GET /agent`. A skill's name, or a repository without its owner, matches nothing.
    """
    skill_spec: str | None = None
    """
    An alias of `skill`.
    """
    repository: str | None = None
    """
    A repository in which the run works: its own or one of its environment. `owner/name` or an address, in any case.
    """
    schedule_id: str | None = None
    """
    The schedule that started the run.
    """
    conversation_id: str | None = None
    """
    Only the runs of this conversation.
    """
    parent_run_id: str | None = None
    """
    Only runs directly below this run.
    """
    ancestor_run_id: str | None = None
    """
    Only runs below this run, at any depth.
    """
    artifact_type: str | None = None
    """
    Only runs that produced an artifact of this type.
    """
    execution_location: Literal["LOCAL", "REMOTE"] | str | None = None
    """
    Where the run is executed. Workers execute all runs, so `REMOTE` matches every run and `LOCAL` matches none.
    """
    metadata: dict[str, Any] | None = None
    """
    `metadata[key]=value`: all of these pairs, at most 5.
    """
    q: str | None = None
    """
    Words that must all occur in the title, the prompt or the skill. Parts of words match, and case is ignored. Or the id of a run, or the address of its page.
    """
    automation_id: str | None = None
    """
    The same as `metadata[automation_id]`.
    """
    factory_uid: list[str] | None = None
    """
    For clients of another server. No run of this one belongs to a factory, so any value matches nothing.
    """
    factory_only: Literal["true", "false"] | str | None = None
    """
    `true` matches nothing, see `factory_uid`.
    """


class ErrorIssue(Model):
    """
    An entry of `ErrorIssues`.
    """

    path: str
    """
    The path of the member, separated by dots.
    """
    message: str
    """
    The requirement that is not met.
    """
    pointer: str | None = None
    """
    For a member of the body: its JSON Pointer (RFC 6901), such as `/config/harness/type`.
    """


class Error(Model):
    """
    Every error, as `application/problem+json`.
    """

    type: str
    """
    A URI whose last segment is the code.
    """
    title: str
    """
    The meaning of the code.
    """
    status: int
    """
    The HTTP status.
    """
    error: str
    """
    For people: the title, and the detail if there is one.
    """
    detail: str | None = None
    """
    What went wrong with this request.
    """
    instance: str | None = None
    """
    The path of the request.
    """
    retryable: bool | None = None
    """
    Whether the same request may succeed later.
    """
    trace_id: str | None = None
    """
    The same value as X-Request-Id of the response.
    """
    code: (
        Literal[
            "invalid_request",
            "authentication_required",
            "external_authentication_required",
            "not_authorized",
            "insufficient_credits",
            "budget_exceeded",
            "feature_not_available",
            "integration_disabled",
            "content_policy_violation",
            "integration_not_configured",
            "resource_not_found",
            "conflict",
            "operation_not_supported",
            "resource_unavailable",
            "internal_error",
            "environment_setup_failed",
        ]
        | str
        | None
    ) = None
    """
    Programs should decide by this code, never by the text.
    """
    remedy: str | None = None
    """
    How to fix the problem.
    """
    issues: list[ErrorIssue] | None = None
    """
    For invalid input: each member that is not valid. For a run that a policy refuses: the members that the policy looks at.
    """
    reason: str | None = None
    """
    For a device code, why there is no key: `authorization_pending`, `slow_down`, `expired_token`, `access_denied`.
    """
    auth_url: str | None = None
    """
    Where to sign in, if that would help.
    """
    provider: str | None = None
    """
    The provider of the model or service, if known.
    """
    integration_name: str | None = None
    """
    The name of the integration, if there is one.
    """
    setup_url: str | None = None
    """
    Where to set up what is missing, if there is such a page.
    """
    current_etag: str | None = None
    """
    For a failed If-Match: the ETag of the resource as it is now.
    """
    matching_runs: int | None = None
    """
    For a cancellation by filter that expected another number: how many runs match.
    """


class PullRequestDetails(Model):
    """
    A pull request.
    """

    type: Literal["PULL_REQUEST"]
    url: str
    """
    The URL where it can be viewed.
    """
    branch: str
    """
    The branch that the pull request merges.
    """


class PlanDetails(Model):
    """
    A plan.
    """

    type: Literal["PLAN"]
    document_uid: str
    """
    The plan's id.
    """
    title: str | None = None
    """
    A title for people.
    """


class FileDetails(Model):
    """
    A file.
    """

    type: Literal["FILE"]
    filepath: str
    """
    The path in the workspace.
    """
    filename: str
    """
    The last segment of the path.
    """
    mime_type: str
    """
    The media type, derived from the file's name.
    """


class ScreenshotDetails(Model):
    """
    A screenshot.
    """

    type: Literal["SCREENSHOT"]
    mime_type: str
    """
    The media type that the bytes of the picture have.
    """
    description: str | None = None
    """
    What the agent did when it made the picture.
    """


class ExternalReferenceDetails(Model):
    """
    A reference to another system.
    """

    type: Literal["EXTERNAL_REFERENCE"]
    reference_type: str
    """
    The kind of reference, as the agent names it.
    """
    url: str
    """
    The URL where it can be viewed.
    """
    title: str | None = None
    """
    A title for people.
    """


class TextContent(Model):
    """
    A text.
    """

    type: Literal["text"]
    text: str
    """
    The text.
    """


class DiffContent(Model):
    """
    A change of a file.
    """

    type: Literal["diff"]
    path: str
    """
    The path of the file.
    """
    old_text: str | None
    """
    The old text. null if the file is new.
    """
    new_text: str
    """
    The new text.
    """


class TerminalContent(Model):
    """
    The output of a terminal.
    """

    type: Literal["terminal"]
    terminal_id: str
    """
    The agent's id of the terminal.
    """
    output: str | None = None
    """
    The output of the terminal.
    """


class OtherContent(Model):
    """
    Content of a kind that Errand does not know.
    """

    type: Literal["other"]
    data: Any | None = None
    """
    The content as the agent sent it.
    """


class RunCreatedEventFile(Model):
    """
    An entry of `RunCreatedEventFiles`.
    """

    path: str
    """
    The path in the workspace.
    """
    kind: Literal["attachment", "image"] | str
    """
    The kind of input.
    """
    mime_type: str
    """
    The media type.
    """
    size_bytes: int
    """
    The size in bytes.
    """


class RunCreatedEvent(Model):
    """
    The run was accepted.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["run.created"]
    state: RunState
    files: list[RunCreatedEventFile] | None = None
    """
    The input files, as stored in the workspace.
    """


class RunStateEventStatus(Model):
    """
    Why the run ended, or what it waits for.
    """

    message: str
    """
    A text for people.
    """
    error_code: (
        Literal[
            "invalid_request",
            "authentication_required",
            "external_authentication_required",
            "not_authorized",
            "insufficient_credits",
            "budget_exceeded",
            "feature_not_available",
            "integration_disabled",
            "content_policy_violation",
            "integration_not_configured",
            "resource_not_found",
            "conflict",
            "operation_not_supported",
            "resource_unavailable",
            "internal_error",
            "environment_setup_failed",
        ]
        | str
        | None
    ) = None
    """
    A code for programs: one of the codes of `Error`.
    """
    retryable: bool | None = None
    """
    Whether a repeat of the same run may succeed.
    """
    reason: str | None = None
    """
    A finer cause than the code, such as `infrastructure_timeout`, `agent_process_failed`, `agent_error`.
    """
    remedy: str | None = None
    """
    What you can do about it.
    """


class RunStateEvent(Model):
    """
    The state of the run changed.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["run.state"]
    from_: RunState = Field(..., alias="from")
    to: RunState
    reason: str | None = None
    """
    The reason, for people.
    """
    status: RunStateEventStatus | None = None
    """
    Why the run ended, or what it waits for.
    """
    outcome: RunOutcome | None = None
    """
    What came of the run, if it ended.
    """


RunUpdatedEventMember = TypeAliasType(
    "RunUpdatedEventMember", Literal["title", "metadata", "prompt"] | str
)
"""
An entry of `RunUpdatedEventMembers`.
"""


class RunUpdatedEvent(Model):
    """
    The title, the metadata or the prompt of the run changed. The new values are members of the run.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["run.updated"]
    members: list[RunUpdatedEventMember]
    """
    The members that changed.
    """


class AttemptStartedEvent(Model):
    """
    A worker started to execute the run.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["attempt.started"]
    attempt: int
    """
    1, 2, 3 …
    """
    worker: str
    """
    The name of the worker.
    """


class AttemptEndedEvent(Model):
    """
    The worker stopped executing the run.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["attempt.ended"]
    attempt: int
    """
    The number of the attempt that ended.
    """
    reason: str
    """
    The reason, for people.
    """


class WorkspaceStepEvent(Model):
    """
    A step that prepares the workspace. Later events with the same id continue it.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["workspace.step"]
    step_id: str
    """
    The step's id.
    """
    title: str
    """
    The title of the step.
    """
    status: Literal["running", "completed", "failed"] | str
    """
    The state of the step.
    """
    output: str | None = None
    """
    The output, or a further part of it.
    """


class WorkspaceReadyEvent(Model):
    """
    The workspace is ready.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["workspace.ready"]
    restored: bool
    """
    Whether the workspace was restored from an earlier attempt.
    """
    missing: str | None = None
    """
    What the run has lost, for people: files that no checkpoint contains. Absent: nothing.
    """


class WorkspaceStoredEventLeftOut(Model):
    """
    An entry of `WorkspaceStoredEventLeftOut`.
    """

    path: str
    """
    The path, below `workspace` or `home`.
    """
    reason: str
    """
    The reason, for people.
    """


class WorkspaceStoredEvent(Model):
    """
    The workspace was stored.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["workspace.stored"]
    checkpoint: str
    """
    The name of the checkpoint.
    """
    left_out: list[WorkspaceStoredEventLeftOut] | None = None
    """
    Files that could not be stored, such as one that cannot be read. At most 20 are named.
    """


class WorkspaceNotStoredEvent(Model):
    """
    The workspace could not be stored.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["workspace.not_stored"]
    reason: str
    """
    The reason, for people.
    """


class ChangesNotKeptEvent(Model):
    """
    The changes of the run, or its pull request, could not be published.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["changes.not_kept"]
    reason: str
    """
    The reason, for people.
    """


class AgentStartedEventPhases(Model):
    """
    How long the parts of the start took, in milliseconds. Absent in events of earlier versions and for guests.
    """

    process_ms: int
    """
    Until its process could be given a message, with the installation of the agent and the check of its MCP servers.
    """
    initialize_ms: int
    """
    Until it had answered the first message, so with the start of its program.
    """
    session_ms: int
    """
    Until its session was open.
    """


class AgentStartedEvent(Model):
    """
    The agent's process has started.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["agent.started"]
    agent: str
    """
    A name of the catalogue.
    """
    version: str | None = None
    """
    The version that the agent reports.
    """
    session: str
    """
    The agent's own id of the session.
    """
    resumed: bool
    """
    Whether the agent remembers the earlier turns.
    """
    phases: AgentStartedEventPhases | None = None
    """
    How long the parts of the start took, in milliseconds. Absent in events of earlier versions and for guests.
    """
    warm: Literal[True] | None = None
    """
    The agent was started and initialized before there was the run. Absent if not, and for guests.
    """


class TurnStartedEvent(Model):
    """
    The agent received a prompt.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["turn.started"]
    followup_ids: list[str]
    """
    The follow-ups in the prompt. Empty if the prompt is the run's own.
    """
    again: bool
    """
    Whether the turn is repeated because its worker was lost.
    """
    mode: Literal["normal", "plan", "orchestrate"] | str | None = None
    """
    The mode of the agent.
    """


class TurnEndedEventUsage(Model):
    """
    The tokens of the turn, if they are known.
    """

    input_tokens: int
    """
    The tokens that the models read.
    """
    output_tokens: int
    """
    The tokens that the models wrote.
    """
    total_tokens: int
    """
    All tokens.
    """


class TurnEndedEvent(Model):
    """
    The agent finished a turn.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["turn.ended"]
    stop_reason: str
    """
    The agent's reason; `end_turn` if it finished normally.
    """
    answer: str
    """
    The agent's final answer. May be empty.
    """
    data: Any | None = None
    """
    The part of the answer that `output_schema` asks for.
    """
    usage: TurnEndedEventUsage | None = None
    """
    The tokens of the turn, if they are known.
    """


class TurnRatedEvent(Model):
    """
    A person rated the answer of a turn. The last rating of a person counts.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["turn.rated"]
    rated_turn: int
    """
    The turn of the answer.
    """
    rating: Literal["good", "bad"] | str
    """
    What the person thinks of the answer.
    """
    rated_by: str
    """
    The uid of the principal that rated it. Empty for guests.
    """


class FollowupReceivedEventFile(Model):
    """
    An entry of `FollowupReceivedEventFiles`.
    """

    path: str
    """
    The path in the workspace.
    """
    kind: Literal["attachment", "image"] | str
    """
    The kind of input.
    """
    mime_type: str
    """
    The media type.
    """
    size_bytes: int
    """
    The size in bytes.
    """


class FollowupReceivedEvent(Model):
    """
    The run received a follow-up.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["followup.received"]
    followup_id: str
    """
    The follow-up's id.
    """
    message: str
    """
    The text of the follow-up.
    """
    author_id: str
    """
    The uid of the principal that wrote it; for a guest, the id of the share link.
    """
    author_type: Literal["guest"] | None = None
    """
    `guest`: the guest of a share link wrote it. Absent for a principal.
    """
    delivery: str
    """
    `queue`, `interrupt` or `steer`.
    """
    files: list[FollowupReceivedEventFile] | None = None
    """
    The files that came with it, as the workspace gets them.
    """


class FollowupEditedEvent(Model):
    """
    A follow-up that waits was rewritten.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["followup.edited"]
    followup_id: str
    """
    The follow-up's id.
    """
    message: str
    """
    The new text of the follow-up.
    """
    edited_by: str
    """
    The uid of the principal that rewrote it.
    """


class FollowupWithdrawnEvent(Model):
    """
    A follow-up that waited was withdrawn. The agent does not receive it.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["followup.withdrawn"]
    followup_id: str
    """
    The follow-up's id.
    """
    withdrawn_by: str
    """
    The uid of the principal that withdrew it.
    """


class FollowupSteeredEvent(Model):
    """
    The agent received a follow-up during its turn.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["followup.steered"]
    followup_id: str
    """
    The follow-up's id.
    """


class FollowupQueuedEvent(Model):
    """
    The agent takes nothing during this turn, so a follow-up with the delivery `steer` waits for the next one.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["followup.queued"]
    followup_id: str
    """
    The follow-up's id.
    """


class PermissionRequestedEventRequestOption(Model):
    """
    An entry of `PermissionRequestedEventRequestOptions`.
    """

    option_id: str
    """
    The value of the answer.
    """
    name: str
    """
    A text for people.
    """
    kind: Literal["allow_once", "allow_always", "reject_once", "reject_always"] | str
    """
    Whether the option allows or rejects, and for how long.
    """


class PermissionAnsweredEvent(Model):
    """
    A permission request was answered.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["permission.answered"]
    permission_id: str
    """
    The question's id.
    """
    option_id: str | None
    """
    The chosen option. null if the answer is a rejection that the agent does not offer.
    """


class ApprovalRequestedEvent(Model):
    """
    A policy requires approval before the run starts or before a follow-up is given; or the inputs of an open approval have changed.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["approval.requested"]
    approval_id: str | None = None
    """
    The approval's id. Absent in events of earlier versions.
    """
    inputs_hash: str | None = None
    """
    The hash of the inputs. Absent in events of earlier versions.
    """
    followup_id: str | None = None
    """
    The follow-up that the approval is about. Absent for the run as a whole.
    """
    policy_id: str
    """
    The policy's id.
    """
    reason: str
    """
    The reason, for people.
    """


class ApprovalDecidedEvent(Model):
    """
    The run or a follow-up was approved or refused.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["approval.decided"]
    approval_id: str | None = None
    """
    The approval's id. Absent in events of earlier versions.
    """
    inputs_hash: str | None = None
    """
    The hash of the inputs. Absent in events of earlier versions.
    """
    followup_id: str | None = None
    """
    The follow-up that the approval is about. Absent for the run as a whole.
    """
    approved: bool
    """
    false: the run was refused.
    """
    decided_by: str
    """
    The uid of the principal that decided.
    """
    comment: str | None = None
    """
    A comment on the decision.
    """


class NoticeDeadEvent(Model):
    """
    A message to a thread of the run was given up.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["notice.dead"]
    adapter: str
    """
    The adapter of the thread.
    """
    thread_id: str
    """
    The thread's id.
    """
    notice_id: str
    """
    The id by which an administrator can send it again.
    """
    reason: str
    """
    The reason, for people.
    """


class ThreadBoundEvent(Model):
    """
    The run was bound to a thread.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["thread.bound"]
    adapter: str
    """
    The adapter of the thread.
    """
    thread_id: str
    """
    The thread's id.
    """


class ArtifactLeftOutEventFile(Model):
    """
    An entry of `ArtifactLeftOutEventFiles`.
    """

    path: str
    """
    The path in `artifacts/`.
    """
    reason: str
    """
    The reason, for people.
    """


class ArtifactLeftOutEvent(Model):
    """
    Files in `artifacts/` that were not stored.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["artifact.left_out"]
    files: list[ArtifactLeftOutEventFile]
    """
    Each file with the reason.
    """


class AgentMessageEvent(Model):
    """
    The agent wrote a message.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["agent.message"]
    message_id: str | None = None
    """
    The same for all parts of one message.
    """
    text: str
    """
    The text or a part of it.
    """


class AgentThoughtEvent(Model):
    """
    The agent reported a thought.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["agent.thought"]
    message_id: str | None = None
    """
    The same for all parts of one message.
    """
    text: str
    """
    The text or a part of it.
    """


class AgentToolCallEventLocation(Model):
    """
    An entry of `AgentToolCallEventLocations`.
    """

    path: str
    """
    The path of the file.
    """
    line: int | None = None
    """
    The line number.
    """


class AgentPlanEventEntry(Model):
    """
    An entry of `AgentPlanEventEntries`.
    """

    content: str
    """
    The task.
    """
    status: str
    """
    The state of the task.
    """
    priority: str | None = None
    """
    The priority that the agent reports.
    """


class AgentPlanEvent(Model):
    """
    The complete plan of the agent. A newer plan replaces it.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["agent.plan"]
    entries: list[AgentPlanEventEntry]
    """
    In the order of the plan.
    """


class AgentUsageEvent(Model):
    """
    The usage of the agent's session so far.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["agent.usage"]
    used: float
    """
    The tokens in the agent's context.
    """
    size: float
    """
    The size of the agent's context in tokens.
    """
    cost_usd: float | None = None
    """
    The cost in US dollars that the agent reports.
    """


class AgentTitleEvent(Model):
    """
    The agent chose a title for its work.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["agent.title"]
    title: str
    """
    The title.
    """


class AgentNoticeEvent(Model):
    """
    A notice about the agent.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["agent.notice"]
    severity: str
    """
    `info`, `warning`, `error`, or another word of the agent.
    """
    text: str
    """
    A text for people.
    """


class AgentPermissionGrantedEvent(Model):
    """
    The agent asked for permission, and the run's permission policy granted it.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["agent.permission_granted"]
    title: str
    """
    The question of the agent.
    """
    option_id: str
    """
    The option that was chosen.
    """


class AgentOtherEvent(Model):
    """
    Other information from the agent.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["agent.other"]
    name: str
    """
    The agent's name of it.
    """
    data: Any | None = None
    """
    The content as the agent sent it.
    """


class UnknownRunEvent(Model):
    """
    An event of a later version of the server. Clients should ignore kinds that they do not know.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: str
    """
    A kind that this document does not list.
    """


class StreamedRunEvent(Model):
    """
    One message of an event stream. The lines of the stream begin with the names of these members.
    """

    id: str
    """
    The position of the event. Send it as `Last-Event-ID` to continue behind the event.
    """
    event: str
    """
    The `kind` of the event.
    """
    data: str = Field(
        ...,
        json_schema_extra={
            "contentMediaType": "application/json",
            "contentSchema": {
                "anyOf": [
                    {"$ref": "#/components/schemas/RunEvent"},
                    {"$ref": "#/components/schemas/StreamReset"},
                    {"$ref": "#/components/schemas/UnknownObject"},
                ]
            },
        },
    )
    """
    The event as JSON, in one line.
    """


class StreamReset(Model):
    """
    The server does not know the position of the reader. The stream continues behind the `id` of this message; clients should reload the data that they store.
    """

    kind: Literal["reset"]
    reason: str
    """
    A text for people.
    """


class AgentModel(Model):
    """
    A model that an agent can use.
    """

    id: str
    """
    `config.model_id` or `config.harness.model_id` of a run.
    """
    display_name: str
    """
    The name shown to people.
    """
    provider: Literal["OPENAI", "ANTHROPIC", "GOOGLE", "UNKNOWN"] | str
    """
    The provider of the model. `UNKNOWN`: any other.
    """
    vision_supported: bool
    """
    Whether the model accepts images.
    """
    description: str | None = None
    """
    What the model is good at.
    """


class ListModelsResponse(Model):
    """
    The models that the agents of this server are known to support.
    """

    default_model_id: str
    """
    The model of a run that names neither an agent nor a model.
    """
    models: list[AgentModel]
    """
    The models of all usable agents, those of the default agent first. An agent may accept other models, which a run can name as well.
    """


class CatalogueAgent(Model):
    """
    An agent that can do runs.
    """

    name: str
    """
    `config.harness.type` of a run.
    """
    display_name: str
    """
    The name shown to people.
    """
    description: str
    """
    What the agent is, in one sentence.
    """
    installed: bool
    """
    Whether the agent is installed on the machine that answers.
    """
    version: str | None = None
    """
    The version of the agent.
    """
    is_default: bool
    """
    Whether the agent does the runs that name no agent.
    """
    needs: list[str]
    """
    What is missing, or is installed at the first use. One sentence each.
    """
    usable: bool
    """
    Whether the agent can do a run now.
    """
    license: str | None = None
    """
    The license of the agent: an SPDX identifier or a text.
    """
    models: list[AgentModel]
    """
    The first model is used if a run names none.
    """


class ListCatalogueResponse(Model):
    """
    The agents of this server.
    """

    agents: list[CatalogueAgent]
    """
    The default agent comes first.
    """


class TextBlock(Model):
    """
    A part of a message in words.
    """

    type: Literal["text"]
    text: str
    """
    The text.
    """


class ActionBlock(Model):
    """
    An action of the agent.
    """

    type: Literal["action"]
    id: str
    """
    The id by which the result refers to the action.
    """
    category: (
        Literal[
            "command",
            "files",
            "search",
            "integration",
            "documents",
            "computer",
            "review",
            "skill",
        ]
        | str
    )
    """
    The kind of action.
    """
    name: str
    """
    The name that the agent uses.
    """
    input: Any
    """
    The input of the action. Long texts are cut.
    """


class ActionResultBlock(Model):
    """
    The result of an action, so far.
    """

    type: Literal["action_result"]
    action_id: str
    """
    The id of the action.
    """
    category: (
        Literal[
            "command",
            "files",
            "search",
            "integration",
            "documents",
            "computer",
            "review",
            "skill",
        ]
        | str
    )
    """
    The kind of action.
    """
    name: str
    """
    The name that the agent uses.
    """
    state: Literal["running", "completed", "failed", "denied"] | str
    """
    `denied`: a person or a policy refused the action.
    """
    output: dict[str, Any]
    """
    The output so far: `text`, and `content` with all parts if some are no text, such as changes of files. Or the agent's own object, or `value` with any other value. Empty if there is none. Long texts are cut.
    """


class EventBlock(Model):
    """
    An event of the run that belongs to the conversation.
    """

    type: Literal["event"]
    name: str
    """
    What happened. New names may be added.
    """
    data: Any
    """
    The members of this event.
    """


class RunTimelineEvent(Model):
    """
    An entry of `RunTimelineEvents`.
    """

    event_uuid: str
    """
    An id that is the same at each read.
    """
    run_id: str
    """
    The run's id.
    """
    execution_id: int | None = None
    """
    The number of the attempt: 1, 2, 3 … Absent while no worker executes the run.
    """
    event_type: (
        Literal[
            "oz_run_created",
            "oz_run_claimed",
            "worker_container_ready",
            "shared_session_started",
            "agent_started",
            "oz_run_done",
            "oz_run_blocked",
            "oz_run_cancelled",
            "oz_run_failed",
            "oz_run_errored",
            "vm_shutdown",
        ]
        | str
    )
    """
    What happened. The names are those of the public client; `GET …/events` has every event.
    """
    occurred_at: datetime
    """
    When the event was stored.
    """
    payload: dict[str, Any] | None = None
    """
    The members of the event, as in `RunEvent`.
    """


class RunTimeline(Model):
    """
    The steps of a run from its creation to its end.
    """

    events: list[RunTimelineEvent]
    """
    In the order in which they happened.
    """


class ShareLink(Model):
    """
    Opens one run to everyone who has the link, without an account.
    """

    id: str
    """
    The link's id.
    """
    access: Literal["VIEWER", "EDITOR"] | str
    """
    `VIEWER`: guests see the run. `EDITOR`: they may also send follow-ups, as long as the team allows it.
    """
    created_by: str
    """
    The uid of the principal that created the link.
    """
    created_at: datetime
    """
    When the link was created.
    """
    expires_at: datetime
    """
    When the link expires.
    """


class IssuedShareLink(Model):
    """
    A new link.
    """

    id: str
    """
    The link's id.
    """
    access: Literal["VIEWER", "EDITOR"] | str
    """
    `VIEWER`: guests see the run. `EDITOR`: they may also send follow-ups, as long as the team allows it.
    """
    created_by: str
    """
    The uid of the principal that created the link.
    """
    created_at: datetime
    """
    When the link was created.
    """
    expires_at: datetime
    """
    When the link expires.
    """
    url: str
    """
    The URL of the link. It is shown only once.
    """


class ListShareLinksResponse(Model):
    """
    The links of a run.
    """

    share_links: list[ShareLink]
    """
    The oldest link comes first. Expired links are listed for 30 days.
    """
    page_info: PageInfo


class CreateShareLinkRequest(Model):
    """
    What guests may do, and the lifetime of the link. At most one of the two times.
    """

    access: Literal["VIEWER", "EDITOR"] | str | None = None
    """
    Default: `VIEWER`. `EDITOR` requires that the team's `sharing` is `editor`.
    """
    expires_at: datetime | None = None
    """
    When the link expires: in the future, and within a year.
    """
    expires_in_seconds: int | None = None
    """
    The lifetime of the link, instead of `expires_at`. Default: 7 days; maximum: one year.
    """


class FileArtifactDetailsData(Model):
    """
    The newest version.
    """

    content_type: str
    """
    The media type, derived from the file's name.
    """
    download_url: str
    """
    The file. The URL works without a key until `expires_at`.
    """
    expires_at: datetime
    """
    When `download_url` stops to work.
    """
    description: str | None = None
    """
    What the file shows, if the agent said so.
    """
    filename: str
    """
    The last segment of the path.
    """
    filepath: str
    """
    The path in the workspace.
    """
    size_bytes: int | None = None
    """
    The size in bytes.
    """


class FileArtifactDetails(Model):
    """
    A file that a run made.
    """

    artifact_uid: str
    """
    The artifact's id.
    """
    artifact_type: Literal["FILE"]
    created_at: datetime
    """
    When the artifact was first created. Newer versions keep this time.
    """
    data: FileArtifactDetailsData
    """
    The newest version.
    """


class ScreenshotArtifactDetailsData(Model):
    """
    The newest version.
    """

    content_type: str
    """
    The media type, derived from the file's name.
    """
    download_url: str
    """
    The file. The URL works without a key until `expires_at`.
    """
    expires_at: datetime
    """
    When `download_url` stops to work.
    """
    description: str | None = None
    """
    What the file shows, if the agent said so.
    """


class ScreenshotArtifactDetails(Model):
    """
    A picture that a run made.
    """

    artifact_uid: str
    """
    The artifact's id.
    """
    artifact_type: Literal["SCREENSHOT"]
    created_at: datetime
    """
    When the artifact was first created. Newer versions keep this time.
    """
    data: ScreenshotArtifactDetailsData
    """
    The newest version.
    """


class PlanArtifactDetailsData(Model):
    """
    The newest version.
    """

    content: str
    """
    The text of the plan. Empty: the plan has none.
    """
    content_type: str
    """
    The media type of the text.
    """
    document_uid: str
    """
    The plan's id.
    """
    notebook_uid: str
    """
    The same as `document_uid`.
    """
    title: str | None = None
    """
    A title for people.
    """
    url: str | None = None
    """
    The URL where it can be viewed.
    """


class PlanArtifactDetails(Model):
    """
    A plan that a run made.
    """

    artifact_uid: str
    """
    The artifact's id.
    """
    artifact_type: Literal["PLAN"]
    created_at: datetime
    """
    When the artifact was first created. Newer versions keep this time.
    """
    data: PlanArtifactDetailsData
    """
    The newest version.
    """


class HandoffAttachment(Model):
    """
    A file of the last ended turn.
    """

    attachment_id: str
    """
    The id of the artifact.
    """
    filename: str
    """
    The name of the file.
    """
    mime_type: str
    """
    The media type, derived from the file's name.
    """
    download_url: str
    """
    The file. The URL works for five minutes without a key.
    """


class HandoffAttachments(Model):
    """
    The patches and files that the last ended turn of a run left.
    """

    attachments: list[HandoffAttachment]
    """
    Oldest first.
    """


class ChangedFile(Model):
    """
    A file that a run changed.
    """

    path: str
    """
    The path in the repository.
    """
    old_path: str | None = None
    """
    The path before the file was renamed.
    """
    status: Literal["added", "modified", "deleted", "renamed"] | str
    """
    What happened to the file.
    """
    additions: int | None
    """
    Added lines. null: the file is binary.
    """
    deletions: int | None
    """
    Deleted lines. null: the file is binary.
    """


class RepositoryChanges(Model):
    """
    What a run has changed in a repository since it was cloned.
    """

    repository: str
    """
    `owner/name`.
    """
    branch: str | None = None
    """
    The branch that was pushed last.
    """
    base: str
    """
    The commit that was cloned.
    """
    head: str | None
    """
    The commit that was pushed last. null: none was pushed.
    """
    pull_request: str | None = None
    """
    The URL of the pull request of the branch.
    """
    files: list[ChangedFile]
    """
    The changed files.
    """
    truncated: bool | None = None
    """
    true: the files or the diff are incomplete, because they are too long.
    """
    diff_url: str
    """
    The unified diff (`text/x-diff`). The URL works for five minutes without a key.
    """


class RunChanges(Model):
    """
    What a run has changed in its repositories.
    """

    turn: int
    """
    The turn after which the changes were recorded. 0: no turn has ended.
    """
    repositories: list[RepositoryChanges]
    """
    The repositories that the run has changed.
    """


class AuditActor(Model):
    """
    Who made a change.
    """

    uid: str
    """
    The principal, or the share link of a guest. Of a system actor: the part of the server, for example `start`, `adapter:chat` or `server`.
    """
    type: Literal["user", "service_account", "guest", "system"] | str
    """
    What made the change: a caller, or the server itself.
    """
    key_id: str | None = None
    """
    The API key that the caller used.
    """
    address: str | None = None
    """
    The caller's network address.
    """


class AuditTarget(Model):
    """
    The object that was changed.
    """

    type: str
    """
    The type of the object.
    """
    id: str
    """
    Its id.
    """


class AuditEntry(Model):
    """
    One change to one object. It contains no secret: such values are shown as `[redacted]`.
    """

    id: str
    """
    The entry's id.
    """
    at: datetime
    """
    When the change was made.
    """
    actor: AuditActor
    action: str
    """
    The type of the target and what happened to it, for example `key.created`.
    """
    target: AuditTarget
    before: dict[str, Any] | None = None
    """
    The members that changed, as they were. Absent for a new object.
    """
    after: dict[str, Any] | None = None
    """
    The members that changed, as they are. Absent for a deleted object.
    """
    request_id: str
    """
    The `X-Request-Id` of the request. Changes without a request name their transaction.
    """


class ListAuditResponse(Model):
    """
    A page of audit entries.
    """

    entries: list[AuditEntry]
    """
    The newest entry comes first.
    """
    page_info: PageInfo


class CancelRunsRequest(Model):
    """
    The runs to cancel: their ids, or a filter and the number of runs that it matches.
    """

    run_ids: list[str] | None = None
    """
    The ids of the runs, at most 100.
    """
    filter: RunFilter | None = None
    expected: int | None = None
    """
    With `filter`: how many runs that have not ended it matches. If the number differs by more than a tenth, nothing is cancelled, and `matching_runs` of the 409 is the number.
    """


CancelStatus = TypeAliasType(
    "CancelStatus",
    Literal["cancelled", "already_cancelled", "ended", "not_found", "not_authorized"]
    | str,
)
"""
`cancelled`: this request cancelled the run. `already_cancelled`: it was cancelled before. `ended`: it had ended in another state. `not_found`: it does not exist, or the caller cannot see it. `not_authorized`: a policy forbids it.
"""


class CancelResult(Model):
    """
    The result for one run.
    """

    run_id: str
    """
    The id as requested.
    """
    status: CancelStatus


class CancelRunsResponse(Model):
    """
    The result for each requested run.
    """

    results: list[CancelResult]
    """
    In the order of the request, or by age.
    """


class RunInterrupted(Model):
    """
    The turn ends.
    """


class ConversationInterrupted(Model):
    """
    The turn ends.
    """

    run_id: str
    """
    The run whose turn ends.
    """


class Success(Model):
    """
    The operation succeeded. There is no other result.
    """

    success: Literal[True]
    """
    The operation succeeded.
    """


class RunOfBatchImage(Model):
    """
    An entry of `RunOfBatchImages`.
    """

    data: str
    """
    The bytes, encoded as base64.
    """
    mime_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"] | str
    """
    The media type of the bytes.
    """


class RunOfBatchAttachment(Model):
    """
    An entry of `RunOfBatchAttachments`.
    """

    file_name: str
    """
    The name of the file in `attachments/`. Unsafe characters are replaced, and a number is added if the name is already used.
    """
    mime_type: str
    """
    The media type of the bytes.
    """
    data: str
    """
    The bytes, encoded as base64.
    """


class RunOfBatch(Model):
    """
    A new run, as in `POST /agent/runs`, and its key.
    """

    prompt: str | None = None
    """
    The task, in words.
    """
    config: AmbientAgentConfig | None = None
    title: str | None = None
    """
    The title of the run. Default: the beginning of the prompt.
    """
    skill: str | None = None
    """
    `[owner/]repo:name` or `[owner/]repo:path`. It takes precedence over `config.skill_spec`.
    """
    conversation_id: str | None = None
    """
    A conversation to continue, with its files and, if the agent is the same, its memory. Values that `config` and `team` leave out are taken from the newest run of the conversation, except `name` and `skill_spec`.
    """
    parent_run_id: str | None = None
    """
    The parent of the run.
    """
    team: bool | None = None
    """
    false: only the creator and administrators can see the run. Default: true.
    """
    images: list[RunOfBatchImage] | None = None
    """
    Images that belong to the prompt, for agents that accept images.
    """
    attachments: list[RunOfBatchAttachment] | None = None
    """
    Files that belong to the prompt.
    """
    mode: Literal["normal", "plan", "orchestrate"] | str | None = None
    """
    The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: `normal`.
    """
    interactive: bool | None = None
    """
    true: `config.permission_policy` defaults to `ask`.
    """
    metadata: dict[str, Any] | None = None
    """
    The caller's own labels of the run, by which runs can be listed. At most 20 pairs. Names have up to 64 characters of `a-z A-Z 0-9 . _ -`, values up to 256 bytes.
    """
    agent_identity_uid: str | None = None
    """
    The uid of the named agent that executes the run. Values that `config` leaves out are taken from it. Default: the caller, if its key belongs to a named agent.
    """
    on_behalf_of: str | None = None
    """
    The uid or the email address of an active member, who becomes the creator of the run. The run gets no personal secrets, and the member cannot approve it. For administrators, and for named agents with `on_behalf_of_enabled`.
    """
    webhook: RunWebhook | None = None
    idempotency_key: str | None = None
    """
    The key of this run, as the header `Idempotency-Key` of a single request. Default: one that is made from the header of this request and the position of the run.
    """


class CreateRunsRequest(Model):
    """
    Several new runs. Each is accepted or refused by itself.
    """

    runs: list[RunOfBatch]
    """
    The runs to start, at most 50.
    """


class CreateRunsResult(Model):
    """
    What a single request for this run would have returned.
    """

    run_id: str | None = None
    """
    The new run's id.
    """
    task_id: str | None = None
    """
    The same as `run_id`.
    """
    state: RunState | None = None
    at_capacity: bool | None = None
    """
    Whether all workers that can execute the run are busy, more runs wait than slots are free, or no worker exists, or the quota `running_runs` of the team leaves no room.
    """
    waiting_for: RunWaitingFor | None = None
    share_url: str | None = None
    """
    The address of the run's page for guests, if `config.session_sharing` asked for it and the team allows it. Only this response contains it. It expires after 7 days.
    """
    ignored: list[str] | None = None
    """
    The paths of members that were accepted and have no effect: unknown ones, and known ones that this server does not use. Absent if there are none. At most 100; then `...` is the last entry.
    """
    error: Error | None = None
    """
    Why the run was not started. Then no other member is there.
    """


class CreateRunsResponse(Model):
    """
    The result for each run.
    """

    results: list[CreateRunsResult]
    """
    In the order of the request.
    """


KeyScope = TypeAliasType(
    "KeyScope",
    Literal["runs:read", "runs:write", "settings:read", "settings:write", "admin"]
    | str,
)
"""
What a key allows at most. A write scope includes the read scope; `admin` includes all scopes.
"""


class ApiKey(Model):
    """
    A key, without its secret.
    """

    id: str
    """
    The key's id.
    """
    name: str
    """
    The name that the owner chose.
    """
    hint: str
    """
    The beginning of the key, so that its owner recognises it.
    """
    scopes: list[KeyScope]
    """
    The scopes of the key.
    """
    principal_uid: str
    """
    The uid of the principal that owns the key.
    """
    created_by: str | None = None
    """
    The uid of the principal that created the key. Absent for the server's own key.
    """
    created_by_key: str | None = None
    """
    The id of the key with which it was created. Absent for a key that was created without one.
    """
    created_at: datetime
    """
    When the key was created.
    """
    expires_at: datetime | None = None
    """
    When the key expires. Absent if it does not expire.
    """
    last_used_at: datetime | None = None
    """
    When the key was last used, to the minute.
    """
    revoked_at: datetime | None = None
    """
    When the key was revoked.
    """


class IssuedApiKey(Model):
    """
    A new key.
    """

    id: str
    """
    The key's id.
    """
    name: str
    """
    The name that the owner chose.
    """
    hint: str
    """
    The beginning of the key, so that its owner recognises it.
    """
    scopes: list[KeyScope]
    """
    The scopes of the key.
    """
    principal_uid: str
    """
    The uid of the principal that owns the key.
    """
    created_by: str | None = None
    """
    The uid of the principal that created the key. Absent for the server's own key.
    """
    created_by_key: str | None = None
    """
    The id of the key with which it was created. Absent for a key that was created without one.
    """
    created_at: datetime
    """
    When the key was created.
    """
    expires_at: datetime | None = None
    """
    When the key expires. Absent if it does not expire.
    """
    last_used_at: datetime | None = None
    """
    When the key was last used, to the minute.
    """
    revoked_at: datetime | None = None
    """
    When the key was revoked.
    """
    key: str
    """
    The key itself. It is shown only once.
    """


class ListKeysResponse(Model):
    """
    An administrator gets all keys of the team, others get their own.
    """

    keys: list[ApiKey]
    """
    The newest key comes first. Revoked keys are included, and expired ones for 30 days.
    """
    page_info: PageInfo


class RevokedKeys(Model):
    """
    How many keys were revoked.
    """

    revoked: int
    """
    The number of keys that were valid until now.
    """


class CreateKeyRequest(Model):
    """
    A new key.
    """

    name: str
    """
    A name for the list of keys.
    """
    scopes: list[KeyScope] | None = None
    """
    At most the scopes of the caller's own key. Default: `runs:write`.
    """
    expires_at: datetime | None = None
    """
    When the key expires: no later than the caller's own key, which is the default.
    """
    expires_in_days: int | None = None
    """
    The lifetime in days, instead of `expires_at`.
    """
    principal_uid: str | None = None
    """
    For administrators: the uid of the principal that will own the key. Default: the caller.
    """


class UpdateKeyRequest(Model):
    """
    The members to change. Other members keep their value.
    """

    name: str | None = None
    """
    A name for the list of keys.
    """
    expires_at: datetime | None = None
    """
    When the key expires.
    """


class RotateKeyRequest(Model):
    """
    How the old key ends.
    """

    overlap_seconds: int | None = None
    """
    For how long the old key continues to work. Default: 0.
    """


class ExchangeKeyRequest(Model):
    """
    The proof of what a CI workflow is.
    """

    token: str
    """
    The OpenID Connect token of the workflow's job.
    """
    expires_in: int | None = None
    """
    The lifetime of the key in seconds. Default: an hour, which is also the most.
    """
    team_uid: str | None = None
    """
    The team whose policy gives the key. Needed only if policies of several teams do.
    """


class DeviceCodeRequest(Model):
    """
    A program that wants a key of the person in front of it.
    """

    client_name: str | None = None
    """
    What the program calls itself. The person sees it, and it becomes the name of the key.
    """


class DeviceCodeResponse(Model):
    """
    The codes of one program.
    """

    device_code: str
    """
    The secret with which the program asks for the key.
    """
    user_code: str
    """
    What the person enters at `verification_uri`.
    """
    verification_uri: str
    """
    The page that the person opens.
    """
    expires_in: int
    """
    The seconds until both codes expire.
    """
    interval: int
    """
    The seconds to wait between two requests for the key.
    """


class DeviceTokenRequest(Model):
    """
    Asks for the key of a device code.
    """

    device_code: str
    """
    The secret of the program.
    """


class DoctorCheck(Model):
    """
    One check of the server.
    """

    name: str
    """
    The name of the check.
    """
    status: Literal["ok", "warn", "fail"] | str
    """
    `fail`: something does not work. `warn`: something may soon fail or is not safe.
    """
    message: str
    """
    The result of the check.
    """
    remedy: str | None = None
    """
    How to fix the problem.
    """


class DoctorResponse(Model):
    """
    The health of the server.
    """

    status: Literal["ok", "warn", "fail"] | str
    """
    The worst status of all checks.
    """
    checks: list[DoctorCheck]
    """
    The results of all checks, made now by the process that answers.
    """


class EgressRanges(Model):
    """
    The networks from which agents connect to other servers.
    """

    cidrs: list[str]
    """
    IPv4 and IPv6 networks, such as `203.0.113.0/24`.
    """


class EnvironmentConfigGithubRepo(Model):
    """
    An entry of `EnvironmentConfigGithubRepos`.
    """

    owner: str
    """
    The owner of the repository.
    """
    repo: str
    """
    The name of the repository.
    """


class EnvironmentConfig(Model):
    """
    What an agent works in: repositories, image and setup.
    """

    name: str
    """
    The name shown to people.
    """
    description: str | None = None
    """
    The purpose of the environment.
    """
    docker_image: str | None = None
    """
    The container image in which the setup commands and the agent run. Requires the docker sandbox.
    """
    github_repos: list[EnvironmentConfigGithubRepo] | None = None
    """
    The repositories. Each run begins with a clone of each, and can use their skills.
    """
    sparse: list[str] | None = None
    """
    The only folders of its repositories that are checked out, for large repositories. Files beside and above them, and folders of the root whose names begin with a dot, are there as well. The agent can widen the checkout with `git sparse-checkout add`. A repository that has none of them is checked out completely. Absent or empty: all.
    """
    setup_commands: list[str] | None = None
    """
    Shell commands that prepare the workspace, run one after the other in the sandbox. If one fails, the run ends.
    """
    network: Literal["none", "internet"] | str | None = None
    """
    `none` (default): the commands and the agent reach only the model, the run's repositories and its MCP servers. `internet`: they also reach public addresses.
    """
    pull_request: Literal["off", "draft", "ready"] | str | None = None
    """
    What Errand does with changes in its repositories, if neither a request nor a routing rule says it. Default: requests of people in chats make a draft pull request where the team can open one, others none.
    """
    secrets: list[SecretRef] | None = None
    """
    The only secrets of the team that its runs get, and no personal ones, if neither a request nor a named agent says it. Absent or empty: all of them.
    """
    failure_session_retention_minutes: int | None = None
    """
    How long a run that FAILED keeps its agent and workspace, so that a follow-up can look into the failure there. Its secrets stay in use for that time. Absent: its processes end at once.
    """


class CreateEnvironmentRequest(Model):
    """
    A new environment.
    """

    config: EnvironmentConfig
    team: bool | None = None
    """
    false: only the creator and administrators can see and use it. Default: true.
    """


class ReplaceEnvironmentRequest(Model):
    """
    The new configuration of the environment. Its owner does not change.
    """

    config: EnvironmentConfig


class EnvironmentLastTaskCreated(Model):
    """
    The newest run in the environment, of the runs that you can see.
    """

    id: str
    """
    The run's id.
    """
    title: str
    """
    The run's title.
    """
    prompt: str
    """
    The prompt of the run.
    """
    state: RunState
    created_at: datetime
    """
    When the run was accepted.
    """
    updated_at: datetime
    """
    When the run last changed. A new event counts as a change.
    """
    started_at: datetime | None = None
    """
    When the agent first received the prompt.
    """


class Environment(Model):
    """
    An environment and its most recent runs.
    """

    uid: str
    """
    22 letters and digits, used as `config.environment_id` of a run.
    """
    config: EnvironmentConfig
    last_updated: datetime
    """
    When the environment was last changed.
    """
    setup_failed: bool
    """
    Whether the setup commands failed at their last execution.
    """
    last_task_run_timestamp: datetime | None = None
    """
    When the most recent run in the environment started, of the runs that you can see.
    """
    last_task_created: EnvironmentLastTaskCreated | None = None
    """
    The newest run in the environment, of the runs that you can see.
    """
    scope: Scope | None = None
    """
    Who can see and use the environment.
    """
    creator: RunCreatorInfo | None = None
    last_editor: RunCreatorInfo | None = None


class ListEnvironmentsResponse(Model):
    """
    The environments that you can use.
    """

    environments: list[Environment]
    """
    In the order of `sort_by`.
    """
    page_info: PageInfo


class RunReference(Model):
    """
    A run.
    """

    run_id: str
    """
    The run's id.
    """


class FollowupAuthor(Model):
    """
    The author of a follow-up.
    """

    uid: str
    """
    The principal's id; for a guest, the id of the share link.
    """
    type: Literal["user", "service_account", "guest"] | str
    """
    `user`: a person. `service_account`: a program. `guest`: the guest of a share link.
    """
    display_name: str | None = None
    """
    The name shown on the pages.
    """
    email: str | None = None
    """
    The email address, if known.
    """
    photo_url: str | None = None
    """
    The URL of a picture, if known.
    """


class RunFollowup(Model):
    """
    A message to a run after its creation.
    """

    followup_id: str
    """
    The follow-up's id.
    """
    message: str
    """
    The text that the agent reads, with the comments. After a change, the new one.
    """
    comments: list[LineComment] | None = None
    """
    The comments on changed lines that came with it. A change of the text replaces them.
    """
    author: FollowupAuthor
    source: RunSourceType
    """
    Where it was sent from.
    """
    created_at: datetime
    """
    When it was received.
    """
    delivery: Literal["queue", "interrupt", "steer"] | str
    """
    How it was to be delivered.
    """
    visibility: Literal["thread", "private"] | str
    """
    `private`: it is not posted to threads. Everyone who sees the run can read it here.
    """
    status: Literal["held", "waiting_approval", "given", "withdrawn", "refused"] | str
    """
    `held`: it waits for the next turn. `waiting_approval`: a policy requires its approval; no later follow-up is given before it. `given`: a turn has taken it. `withdrawn`, `refused`: the agent never gets it.
    """
    mode: Literal["normal", "plan", "orchestrate"] | str | None = None
    """
    The mode that it asks for.
    """
    turn: int | None = None
    """
    The turn that has taken it.
    """
    approval: RunApproval | None = None
    """
    The approval that a policy requires of this follow-up alone. Before a run starts, its follow-ups are approved with it.
    """
    edited_at: datetime | None = None
    """
    When its text was last changed.
    """


class ListRunFollowupsResponse(Model):
    """
    A page of the follow-ups of a run.
    """

    followups: list[RunFollowup]
    """
    The oldest comes first.
    """
    page_info: PageInfo


class UpdateRunFollowupRequest(Model):
    """
    The new text of a follow-up that is held or waits for approval.
    """

    message: str
    """
    The text of the follow-up.
    """


class HarnessUsage(Model):
    """
    The tokens that the program of the agent reported.
    """

    available: bool
    """
    Whether there is `usage`.
    """
    conversation_id: str
    """
    The conversation of the run.
    """
    run_id: str
    """
    The run's id.
    """
    age_seconds: int | None = None
    """
    The age of `usage`.
    """
    usage: dict[str, Any] | None = None
    """
    The sum over the finished turns. Its members have the names of the public client.
    """


class IdentityLink(Model):
    """
    Links an external account to a principal.
    """

    id: str
    """
    The link's id.
    """
    subject: str
    """
    The external account, as its adapter names it.
    """
    adapter: str
    """
    The adapter of the account: the part of `subject` before the first colon.
    """
    principal_uid: str
    """
    The uid of the principal that owns the account.
    """
    created_at: datetime
    """
    When the account was first seen or linked.
    """


class ListIdentityLinksResponse(Model):
    """
    The external accounts of the team's principals.
    """

    links: list[IdentityLink]
    """
    The oldest link comes first.
    """
    page_info: PageInfo


class LinkIdentityRequest(Model):
    """
    Links an external account to a principal.
    """

    subject: str
    """
    The external account, as its adapter names it. It may be an account that has not been seen yet.
    """
    principal_uid: str
    """
    The uid of the principal that will own the account.
    """


InboxEventDisposition = TypeAliasType(
    "InboxEventDisposition",
    Literal[
        "run_created",
        "follow_up",
        "changed",
        "withdrawn",
        "asked",
        "cancelled",
        "answered",
        "replied",
        "refused",
        "ignored",
        "duplicate",
        "failed",
    ]
    | str,
)
"""
The result: a run, a follow-up, a changed or withdrawn request, a cancellation, an answer, a reply, or the reason why nothing was done.
"""


class InboxEvent(Model):
    """
    An incoming event and its result. The content of the event is not shown.
    """

    id: str
    """
    The event's id.
    """
    integration: str
    """
    The integration that received the event.
    """
    name: str
    """
    The name of the event on its platform.
    """
    received_at: datetime
    """
    When the event was stored and acknowledged.
    """
    disposition: InboxEventDisposition | None
    """
    The result; null while the event waits.
    """
    reason: str | None = None
    """
    The reason for the result, or the error of the last attempt.
    """
    run_id: str | None = None
    """
    The run that the event created, continued or cancelled.
    """


class ListInboxResponse(Model):
    """
    A page of incoming events.
    """

    events: list[InboxEvent]
    """
    The newest event comes first.
    """
    page_info: PageInfo


class GuideLink(Model):
    """
    A link to the platform.
    """

    title: str
    """
    The text of the link.
    """
    url: str
    """
    The address. It contains `{input}` if `input` is present.
    """
    input: str | None = None
    """
    The label of a text that the reader enters for `{input}`.
    """


class GuideSnippet(Model):
    """
    A text to copy.
    """

    title: str
    """
    What the text is.
    """
    text: str
    """
    The text to copy.
    """


class GuideVariable(Model):
    """
    An environment variable of the server.
    """

    name: str
    """
    The name of the variable.
    """
    source: str
    """
    Where the platform shows the value.
    """


class GuideStep(Model):
    """
    One step.
    """

    title: str
    """
    The heading of the step.
    """
    text: str
    """
    What to do.
    """
    links: list[GuideLink] | None = None
    """
    Where to do it.
    """
    snippets: list[GuideSnippet] | None = None
    """
    Texts to copy.
    """
    variables: list[GuideVariable] | None = None
    """
    Variables to set.
    """


class GuideWay(Model):
    """
    One way to connect a platform.
    """

    title: str
    """
    The heading of the way.
    """
    summary: str
    """
    How events reach the server.
    """
    obstacle: str | None = None
    """
    Why this way does not work with the present address of the server, and what to change.
    """
    steps: list[GuideStep]
    """
    In their order.
    """


class GuideNeed(Model):
    """
    A scope, permission or event that the server asks for.
    """

    kind: Literal["scope", "permission", "event"] | str
    """
    What the platform calls it.
    """
    name: str
    """
    The platform's name for it.
    """
    access: Literal["read", "write"] | str | None = None
    """
    The access that a permission gives.
    """
    use: str
    """
    What the server does with it.
    """


class GuideField(Model):
    """
    A field of a form.
    """

    name: str
    """
    The name in the query.
    """
    label: str
    """
    What the reader enters. It may stay empty.
    """


class GuideCreation(Model):
    """
    A page of the server that creates the app on the platform and stores its credentials.
    """

    url: str
    """
    The address of the page. The inputs are members of its query.
    """
    title: str
    """
    The text of the button.
    """
    text: str
    """
    What happens.
    """
    inputs: list[GuideField]
    """
    What the reader chooses.
    """


class ManagedApp(Model):
    """
    An app that the server creates and updates with a token of an operator.
    """

    created: bool
    """
    Whether the server created the app, and can update it.
    """
    text: str
    """
    Which tokens are needed, and what for.
    """
    link: GuideLink
    """
    Where they are made.
    """


class StoredSetting(Model):
    """
    A variable of an adapter that the server keeps encrypted. Its value is never shown.
    """

    name: str
    """
    The name of the variable in whose place the setting is used.
    """
    updated_at: datetime
    """
    When it was stored.
    """
    updated_by: str
    """
    The uid of the principal who stored it.
    """


class InstallationGuide(Model):
    """
    How to connect an external platform with this server.
    """

    adapter: str
    """
    The adapter. The names of its checks in the doctor begin with this name and `_`.
    """
    title: str
    """
    The name of the platform.
    """
    enabled: bool
    """
    Whether the variables of the adapter are set, or stored by the server.
    """
    problem: str | None = None
    """
    Why the stored settings do not switch the adapter on.
    """
    stored_settings: list[StoredSetting] | None = None
    """
    What the server stored when it created the app. A variable of a process is used in place of the setting of the same name.
    """
    install_url: str | None = None
    """
    Where an administrator installs the app in a workspace, if the server is set up for that.
    """
    create: GuideCreation | None = None
    """
    The page that creates the app. Absent: the app exists, or cannot be created in that way.
    """
    managed_app: ManagedApp | None = None
    """
    Absent: a token cannot create the app.
    """
    ways: list[GuideWay]
    """
    Follow the steps of one of them.
    """
    needs: list[GuideNeed]
    """
    What the server asks for on the platform.
    """


class ListInstallationGuidesResponse(Model):
    """
    How to connect external platforms with this server.
    """

    guides: list[InstallationGuide]
    """
    One per platform that the server knows.
    """


class ApplyPlatformAppRequest(Model):
    """
    The tokens for the app of an external platform.
    """

    token: str | None = None
    """
    A token of the platform that may create and update apps. Default: the stored one.
    """
    refresh_token: str | None = None
    """
    Replaces the token when it has expired. Needed with `token`.
    """


class PlatformApp(Model):
    """
    The app on an external platform.
    """

    app_id: str
    """
    The platform's id of the app.
    """
    change: Literal["created", "updated", "unchanged"] | str
    """
    What was done.
    """
    needs_install: bool
    """
    Whether workspaces get the change only when the app is installed there again.
    """
    install_url: str
    """
    The page that installs the app in a workspace.
    """


class Installation(Model):
    """
    A workspace, organisation or account of an external platform that is connected to the server.
    """

    id: str
    """
    The installation's id.
    """
    adapter: str
    """
    The adapter that connects the installation.
    """
    external_id: str
    """
    The id on the external platform.
    """
    name: str | None = None
    """
    The name that an administrator chose.
    """
    enabled: bool
    """
    false: events from the installation are refused, and the sender is told the reason.
    """
    team_uid: str
    """
    The uid of the team that owns the runs from this installation.
    """
    offered_team_uid: str | None = None
    """
    The uid of the team that will own the installation once one of its administrators accepts it.
    """
    problem: str | None = None
    """
    Why the platform refuses the app there, and what an operator can do. Absent: it works, as far as is known.
    """
    created_at: datetime
    """
    When the installation was first seen.
    """


class UnconnectedWorkspace(Model):
    """
    A workspace that sent messages in the last days and is not connected, so that they have no answer. Once the app is installed there, the messages of the last hour are processed.
    """

    adapter: str
    """
    The adapter of the platform.
    """
    external_id: str
    """
    The id of the workspace on the external platform.
    """
    last_received_at: datetime
    """
    When its last message came.
    """
    install_url: str
    """
    Where an administrator installs the app in it.
    """


class ListInstallationsResponse(Model):
    """
    The installations of the team, and after them those that are offered to it; for operators, of all teams.
    """

    installations: list[Installation]
    """
    The oldest installation comes first.
    """
    unconnected: list[UnconnectedWorkspace] | None = None
    """
    For operators: workspaces that write to the server and are not connected, the newest first.
    """
    page_info: PageInfo


class UpdateInstallationRequest(Model):
    """
    The members to change. Other members keep their value.
    """

    name: str | None = None
    """
    A name for the list of installations.
    """
    enabled: bool | None = None
    """
    false: events from the installation are refused. Operators cannot enable what belongs to another team with an administrator.
    """
    team_uid: str | None = None
    """
    For operators: the uid of the team that will own the installation. A team with an administrator is offered it (`offered_team_uid`), and an administrator of that team accepts by sending the uid of the team here. The uid of the present team takes an offer back. Existing runs keep their team.
    """


class CreateNamedAgentRequestHarness(Model):
    """
    The agent program that does the work of its runs.
    """

    type: str | None = None
    """
    A name of the agent catalogue. `oz` is the server's default agent.
    """
    model_id: str | None = None
    """
    The model of this agent. It takes precedence over `model_id` of the configuration.
    """
    reasoning_level: str | None = None
    """
    The reasoning level, as the agent names it.
    """


class CreateNamedAgentRequest(Model):
    """
    A new named agent. Its runs take values that their requests leave out from it.
    """

    name: str
    """
    The name of the agent.
    """
    description: str | None = None
    """
    What the agent is for.
    """
    prompt: str | None = None
    """
    The base prompt of its runs: instructions for the whole session.
    """
    base_model: str | None = None
    """
    The model of its runs.
    """
    harness: CreateNamedAgentRequestHarness | None = None
    """
    The agent program that does the work of its runs.
    """
    environment_id: str | None = None
    """
    The environment of its runs: one of the team.
    """
    mcp_servers: dict[str, Any] | None = None
    """
    The MCP servers of its runs.
    """
    skills: list[str] | None = None
    """
    The skills of its runs.
    """
    secrets: list[SecretRef] | None = None
    """
    The only secrets of the team that its runs get. Empty: all of them. A request can name fewer of them.
    """
    worker_host: str | None = None
    """
    The workers that execute its runs, by their name.
    """
    on_behalf_of_enabled: bool | None = None
    """
    Whether its keys may start runs in the name of members (`on_behalf_of`). Default: false.
    """
    harness_auth_secrets: Any | None = None
    """
    Stored and returned, but without effect: the response that accepts it names it as ignored.
    """
    base_harness: Any | None = None
    """
    Stored and returned, but without effect: the response that accepts it names it as ignored.
    """
    credential_strategy: Any | None = None
    """
    Stored and returned, but without effect: the response that accepts it names it as ignored.
    """


class UpdateNamedAgentRequestHarness(Model):
    """
    The agent program that does the work of its runs.
    """

    type: str | None = None
    """
    A name of the agent catalogue. `oz` is the server's default agent.
    """
    model_id: str | None = None
    """
    The model of this agent. It takes precedence over `model_id` of the configuration.
    """
    reasoning_level: str | None = None
    """
    The reasoning level, as the agent names it.
    """


class UpdateNamedAgentRequest(Model):
    """
    The members to change. A member that is missing or null keeps its value. An empty text, list or object removes the value. Any other value replaces the old one as a whole.
    """

    name: str | None = None
    """
    The name of the agent.
    """
    description: str | None = None
    """
    What the agent is for.
    """
    prompt: str | None = None
    """
    The base prompt of its runs: instructions for the whole session.
    """
    base_model: str | None = None
    """
    The model of its runs.
    """
    harness: UpdateNamedAgentRequestHarness | None = None
    """
    The agent program that does the work of its runs.
    """
    environment_id: str | None = None
    """
    The environment of its runs: one of the team.
    """
    mcp_servers: dict[str, Any] | None = None
    """
    The MCP servers of its runs.
    """
    skills: list[str] | None = None
    """
    The skills of its runs.
    """
    secrets: list[SecretRef] | None = None
    """
    The only secrets of the team that its runs get. Empty: all of them. A request can name fewer of them.
    """
    worker_host: str | None = None
    """
    The workers that execute its runs, by their name.
    """
    on_behalf_of_enabled: bool | None = None
    """
    Whether its keys may start runs in the name of members (`on_behalf_of`). Default: false.
    """
    harness_auth_secrets: Any | None = None
    """
    Stored and returned, but without effect: the response that accepts it names it as ignored.
    """
    base_harness: Any | None = None
    """
    Stored and returned, but without effect: the response that accepts it names it as ignored.
    """
    credential_strategy: Any | None = None
    """
    Stored and returned, but without effect: the response that accepts it names it as ignored.
    """


class NamedAgentMemoryAutoMemory(Model):
    """
    Not available.
    """

    enabled: bool
    """
    Always false.
    """


class NamedAgentHarness(Model):
    """
    The agent program that does the work of its runs.
    """

    type: str | None = None
    """
    A name of the agent catalogue. `oz` is the server's default agent.
    """
    model_id: str | None = None
    """
    The model of this agent. It takes precedence over `model_id` of the configuration.
    """
    reasoning_level: str | None = None
    """
    The reasoning level, as the agent names it.
    """


NoticeState = TypeAliasType(
    "NoticeState", Literal["pending", "delivered", "replaced", "dead"] | str
)
"""
`pending`: it waits or is tried again. `delivered`: the thread shows it. `replaced`: a newer card was shown instead, or it could not be shown and nobody needs it any more. `dead`: it was given up.
"""


class Notice(Model):
    """
    A message to a thread and its delivery. The text of the message is not shown.
    """

    id: str
    """
    The notice's id.
    """
    run_id: str | None = None
    """
    The run of the notice. Absent for replies that belong to no run.
    """
    thread_id: str
    """
    The thread that shows the notice.
    """
    kind: Literal["card", "answer", "question", "other"] | str
    """
    `card`: the status of a run. `answer` and `question`: of an agent. `other`: any other message.
    """
    state: NoticeState
    attempts: int
    """
    The number of attempts to deliver it.
    """
    created_at: datetime
    """
    When the notice was stored.
    """
    delivered_at: datetime | None = None
    """
    When it was delivered.
    """
    held_until: datetime | None = None
    """
    Present while the platform's limits hold it back: when it is sent.
    """
    error: str | None = None
    """
    Why the last attempt failed.
    """
    permalink: str | None = None
    """
    The address of the message in the thread.
    """


class ListNoticesResponse(Model):
    """
    A page of notices.
    """

    notices: list[Notice]
    """
    The newest notice comes first.
    """
    page_info: PageInfo


class PolicyWorkflow(Model):
    """
    CI workflows, by the OpenID Connect token of their job.
    """

    issuer: str
    """
    The issuer of the token, exactly as the token names it.
    """
    audience: str | None = None
    """
    Whom the token is for. Default: the public URL of this server.
    """
    repository_ids: list[str]
    """
    The ids of the repositories on their platform. Unlike a name, an id never belongs to another repository later.
    """
    refs: list[str]
    """
    The branches or tags that the workflow runs on, such as `refs/heads/main`. `*` matches any characters.
    """
    events: list[str]
    """
    What starts the workflow, such as `push`, `schedule` or `workflow_dispatch`.
    """


PolicyMatchAction = TypeAliasType(
    "PolicyMatchAction",
    Literal["create", "follow_up", "steer", "cancel", "answer", "approve"] | str,
)
"""
The action on a run. `steer` is a follow-up with the delivery `interrupt` or `steer`: a policy for `follow_up` also applies to it, unless a policy that names `steer` matches. `approve` is allowed to administrators, and to principals that a policy allows by name.
"""


PolicyMatchRequestKind = TypeAliasType(
    "PolicyMatchRequestKind",
    Literal[
        "mention",
        "command",
        "description",
        "review",
        "review_requested",
        "label",
        "changes_requested",
        "failing_checks",
        "merge_conflict",
        "pull_request_opened",
        "new_commits",
    ]
    | str,
)
"""
How a message asks for work. `mention`: it names the bot. `command`: a line begins with `/errand`. `description`: the text of a new issue or pull request names the bot. `review`: the text of a review does. `review_requested`: a person asks the account of the bot for a review. `label`: a person puts the label of the bot on an issue or pull request. Nobody names the bot with `changes_requested` (a review of a pull request of a run requests changes), `failing_checks` and `merge_conflict` (of such a pull request), `pull_request_opened` (which is reviewed only if a policy that allows it names this kind) and `new_commits` (of a pull request that is reviewed).
"""


PolicyMatchPrincipalType = TypeAliasType(
    "PolicyMatchPrincipalType", Literal["user", "service_account"] | str
)
"""
An entry of `PolicyMatchPrincipalTypes`.
"""


PolicyMatchRole = TypeAliasType(
    "PolicyMatchRole",
    Literal[
        "write",
        "read",
        "member",
        "guest",
        "external",
        "bot",
        "outside",
        "participant",
        "administrator",
    ]
    | str,
)
"""
Integrations prove one of these about the author of a message. `write`: may push to the repository. `member`: a full member of the workspace. The others are outsiders: `read` (may read the repository; a public one is read by everybody), `guest` (a guest of the workspace), `external` (of another workspace), `bot` (a program) and `outside` (without any permission). A caller of the API has none of these; the guest of a share link is a `guest`. `administrator`: an administrator of the team, wherever the request comes from.
"""


PolicyMatchPriority = TypeAliasType(
    "PolicyMatchPriority", Literal["high", "normal", "low"] | str
)
"""
An entry of `PolicyMatchPriorities`.
"""


class PolicyMatch(Model):
    """
    All conditions must hold. A list holds if one of its values matches. A condition about an unknown value does not hold. Without conditions, everything matches.
    """

    actions: list[PolicyMatchAction] | None = None
    """
    The actions.
    """
    sources: list[RunSourceType] | None = None
    """
    The sources of the request. API callers choose `CLI`, `GITHUB_ACTION` and `LOCAL` themselves. Therefore a policy that denies or requires approval for `API` also applies to these three.
    """
    integrations: list[str] | None = None
    """
    Names of integrations.
    """
    installations: list[str] | None = None
    """
    Workspaces, organisations or accounts, by the ids of their platform.
    """
    places: list[str] | None = None
    """
    Channels or repositories, as the integration names them. `*` matches any characters.
    """
    request_kinds: list[PolicyMatchRequestKind] | None = None
    """
    How messages ask for work, on platforms with several ways. Other requests have no kind.
    """
    principals: list[str] | None = None
    """
    The uids of the principals that act.
    """
    principal_types: list[PolicyMatchPrincipalType] | None = None
    """
    `user` (people), `service_account` (programs), or both.
    """
    environments: list[str] | None = None
    """
    The uids of the run's environments.
    """
    agents: list[str] | None = None
    """
    Names of the agent catalogue.
    """
    roles: list[PolicyMatchRole] | None = None
    """
    What the caller is. One of the caller's roles is enough. A policy that allows or requires approval applies to outsiders of an integration only if it names their role.
    """
    bots: list[str] | None = None
    """
    Ids of bots, as their platform gives them, such as `B024BE7LD`. Together with the role `bot`, it admits programs without an account, such as workflows and incoming webhooks.
    """
    groups: list[str] | None = None
    """
    Groups of the caller, as the OpenID Connect issuer named them at the caller's last sign-in. One of them is enough. Callers who never signed in that way have none.
    """
    models: list[str] | None = None
    """
    Ids of models, as the configuration of the run names them. A default model is not known.
    """
    priorities: list[PolicyMatchPriority] | None = None
    """
    The priorities, as the configuration of the run names them. A run without one is `normal`.
    """
    repositories: list[str] | None = None
    """
    Repositories as `owner/name`; `*` matches any characters. A policy that allows matches if all repositories of the run do; any other policy matches if one does.
    """
    relation: Literal["own", "others"] | str | None = None
    """
    `own`: the caller created, requested or executes the run. `others`: every other run.
    """
    workflow: PolicyWorkflow | None = None
    """
    With this condition the policy decides on no action. It lets workflows exchange the token of their job for a key of the principal in `principals` (`POST /agent/keys/exchange`), or, with the effect `deny`, not. `principals` must name one principal, and no other condition may be given.
    """


class PolicyRequest(Model):
    """
    A new or replaced policy.
    """

    name: str
    """
    Unique in the team.
    """
    priority: int | None = None
    """
    The lowest priority is evaluated first. Of equal priorities, the oldest is first. Default: 100.
    """
    enabled: bool | None = None
    """
    Whether the rule is active. Default: true.
    """
    effect: Literal["allow", "deny", "require_approval"] | str
    """
    `require_approval` applies only to words for an agent (`create`, `follow_up`, `steer`). A new run is BLOCKED until a person approves it. A follow-up waits, and the run keeps its state.
    """
    match: PolicyMatch | None = None
    reason: str | None = None
    """
    Shown to callers that are refused or must wait.
    """
    refusal: Literal["comment", "reaction", "silent"] | str | None = None
    """
    How a message that the policy refuses is answered in its thread: by a comment with the reason, by a reaction, or not at all. The inbox has the reason in each case. Default: as the file of the repository says, otherwise by a comment. Calls of the API always get the reason.
    """


class Policy(Model):
    """
    A rule about who may do what, and from where. The first policy that matches decides. The built-in ones come last and match every action.
    """

    id: str
    """
    The rule's id.
    """
    name: str
    """
    Unique in the team.
    """
    priority: int
    """
    The lowest priority is evaluated first. Of equal priorities, the oldest is first.
    """
    enabled: bool
    """
    Whether the rule is active.
    """
    created_by: str | None = None
    """
    The uid of the principal that created the rule. Absent for a built-in one.
    """
    created_at: datetime
    """
    When the rule was created.
    """
    updated_at: datetime
    """
    When the rule was last changed.
    """
    effect: Literal["allow", "deny", "require_approval"] | str
    """
    `require_approval` applies only to words for an agent (`create`, `follow_up`, `steer`). A new run is BLOCKED until a person approves it. A follow-up waits, and the run keeps its state.
    """
    match: PolicyMatch
    reason: str | None = None
    """
    Shown to callers that are refused or must wait.
    """
    refusal: Literal["comment", "reaction", "silent"] | str | None = None
    """
    How a message that the policy refuses is answered in its thread: by a comment with the reason, by a reaction, or not at all. The inbox has the reason in each case. Default: as the file of the repository says, otherwise by a comment. Calls of the API always get the reason.
    """
    builtin: Literal[True] | None = None
    """
    One of the defaults, which come after all others. It cannot be changed or deleted.
    """


class ListPoliciesResponse(Model):
    """
    All policies of the team, including disabled ones, and the built-in ones after them.
    """

    policies: list[Policy]
    """
    In the order of evaluation.
    """
    page_info: PageInfo


EvaluatePolicyRequestRole = TypeAliasType(
    "EvaluatePolicyRequestRole",
    Literal[
        "write",
        "read",
        "member",
        "guest",
        "external",
        "bot",
        "outside",
        "participant",
        "administrator",
    ]
    | str,
)
"""
Integrations prove one of these about the author of a message. `write`: may push to the repository. `member`: a full member of the workspace. The others are outsiders: `read` (may read the repository; a public one is read by everybody), `guest` (a guest of the workspace), `external` (of another workspace), `bot` (a program) and `outside` (without any permission). A caller of the API has none of these; the guest of a share link is a `guest`. `administrator`: an administrator of the team, wherever the request comes from.
"""


class EvaluatePolicyRequest(Model):
    """
    A hypothetical action.
    """

    action: Literal["create", "follow_up", "steer", "cancel", "answer", "approve"] | str
    """
    The action on a run. `steer` is a follow-up with the delivery `interrupt` or `steer`: a policy for `follow_up` also applies to it, unless a policy that names `steer` matches. `approve` is allowed to administrators, and to principals that a policy allows by name.
    """
    source: RunSourceType | None = None
    """
    Default: `API`.
    """
    principal_uid: str | None = None
    """
    The uid of the principal that acts.
    """
    integration: str | None = None
    """
    The integration of the request.
    """
    installation: str | None = None
    """
    The workspace, organisation or account.
    """
    place: str | None = None
    """
    The channel or repository.
    """
    request_kind: (
        Literal[
            "mention",
            "command",
            "description",
            "review",
            "review_requested",
            "label",
            "changes_requested",
            "failing_checks",
            "merge_conflict",
            "pull_request_opened",
            "new_commits",
        ]
        | str
        | None
    ) = None
    """
    How a message asks for work.
    """
    environment_id: str | None = None
    """
    The environment of the run.
    """
    agent: str | None = None
    """
    The agent of the run.
    """
    roles: list[EvaluatePolicyRequestRole] | None = None
    """
    The roles of the caller.
    """
    bot: str | None = None
    """
    The id of the bot that asks.
    """
    groups: list[str] | None = None
    """
    The groups of the caller.
    """
    model: str | None = None
    """
    The model that the configuration of the run names.
    """
    priority: Literal["high", "normal", "low"] | str | None = None
    """
    The priority of the run. Unknown if absent.
    """
    repositories: list[str] | None = None
    """
    The repositories of the run, as `owner/name`.
    """
    relation: Literal["own", "others"] | str | None = None
    """
    Whether the run is the caller's own. Unknown if absent.
    """


class PolicyVerdictPolicy(Model):
    """
    The policy that decides. It may be a built-in one.
    """

    id: str
    """
    The policy's id.
    """
    name: str
    """
    The policy's name.
    """


class PolicyVerdictConsidered(Model):
    """
    An entry of `PolicyVerdictConsidered`.
    """

    id: str
    """
    The policy's id.
    """
    name: str
    """
    The policy's name.
    """
    effect: Literal["allow", "deny", "require_approval"] | str
    """
    `require_approval` applies only to words for an agent (`create`, `follow_up`, `steer`). A new run is BLOCKED until a person approves it. A follow-up waits, and the run keeps its state.
    """
    matches: bool
    """
    Whether the policy matches and therefore decides.
    """
    mismatch: str | None = None
    """
    The first condition that does not hold.
    """


class PolicyVerdict(Model):
    """
    The decision of the policies and its reason. The action itself is not performed.
    """

    effect: Literal["allow", "deny", "require_approval"] | str
    """
    `require_approval` applies only to words for an agent (`create`, `follow_up`, `steer`). A new run is BLOCKED until a person approves it. A follow-up waits, and the run keeps its state.
    """
    reason: str
    """
    The reason that the caller would see.
    """
    policy: PolicyVerdictPolicy
    """
    The policy that decides. It may be a built-in one.
    """
    considered: list[PolicyVerdictConsidered]
    """
    All evaluated policies, in order.
    """


class Principal(Model):
    """
    A user or a service account of a team.
    """

    uid: str
    """
    The principal's id.
    """
    team_uid: str
    """
    The uid of the principal's team.
    """
    type: Literal["user", "service_account"] | str
    """
    `user`: a person. `service_account`: a program.
    """
    display_name: str | None = None
    """
    The name shown on the pages.
    """
    email: str | None = None
    """
    Visible to administrators and to the principal itself.
    """
    photo_url: str | None = None
    """
    The URL of a picture, if known.
    """
    administrator: bool
    """
    Whether the principal can see and manage everything of the team.
    """
    disabled: bool
    """
    Whether the principal is disabled. Its runs are kept.
    """
    created_at: datetime
    """
    When the principal was created.
    """


class ListPrincipalsResponse(Model):
    """
    All principals of the team.
    """

    principals: list[Principal]
    """
    The oldest principal comes first. Disabled principals are included.
    """
    page_info: PageInfo


class CreatePrincipalRequest(Model):
    """
    A new user or service account.
    """

    type: Literal["user", "service_account"] | str
    """
    `user`: a person. `service_account`: a program.
    """
    display_name: str
    """
    The name shown on the pages.
    """
    email: str | None = None
    """
    The email address.
    """
    photo_url: str | None = None
    """
    The URL of a picture for the pages.
    """
    administrator: bool | None = None
    """
    Whether the principal manages the team. Default: false.
    """
    team_uid: str | None = None
    """
    For operators: the uid of another team. Default: the caller's team.
    """


class UpdatePrincipalRequest(Model):
    """
    The members to change. Other members keep their value.
    """

    display_name: str | None = None
    """
    The name shown on the pages. For a principal with exactly one external account, the name of that account replaces it.
    """
    email: str | None = None
    """
    The email address.
    """
    photo_url: str | None = None
    """
    The URL of a picture for the pages.
    """
    administrator: bool | None = None
    """
    Whether the principal manages the team. A team always keeps at least one administrator.
    """
    disabled: bool | None = None
    """
    true: the principal is disabled, and its keys stop working at once.
    """


class Quota(Model):
    """
    The most that a team may use.
    """

    name: (
        Literal["running_runs", "queued_runs", "runs_per_day", "cost_usd_per_month"]
        | str
    )
    """
    `running_runs`: runs that a worker works on, without those that wait for a person. `queued_runs`: runs that wait for a worker. `runs_per_day`: runs created since midnight, UTC. `cost_usd_per_month`: what the runs created since the first of the month, UTC, have cost so far.
    """
    limit: float
    """
    A request for a run above it is refused. A run above `running_runs` is accepted, and waits.
    """
    used: float
    """
    What is used now. For the scope `key`: by the API key of this request; 0 without one.
    """
    scope: Literal["team", "key"] | str
    """
    `team`: counted for the whole team. `key`: counted for each API key; only `runs_per_day`.
    """


class ListQuotasResponse(Model):
    """
    The quotas of a team with their use.
    """

    quotas: list[Quota]
    """
    The quotas that are set. Nothing else is limited.
    """


class QuotaRequest(Model):
    """
    A quota to set.
    """

    name: (
        Literal["running_runs", "queued_runs", "runs_per_day", "cost_usd_per_month"]
        | str
    )
    """
    `running_runs`: runs that a worker works on, without those that wait for a person. `queued_runs`: runs that wait for a worker. `runs_per_day`: runs created since midnight, UTC. `cost_usd_per_month`: what the runs created since the first of the month, UTC, have cost so far.
    """
    limit: float
    """
    A request for a run above it is refused. A run above `running_runs` is accepted, and waits.
    """
    scope: Literal["team", "key"] | str | None = None
    """
    `team`: counted for the whole team. `key`: counted for each API key; only `runs_per_day`.
    """


class SetQuotasRequest(Model):
    """
    The quotas of a team.
    """

    quotas: list[QuotaRequest]
    """
    All quotas of the team. One that is left out is removed.
    """


class SessionRedirect(Model):
    """
    The target of a session.
    """

    conversation_id: str | None = None
    """
    Absent if the session does not exist.
    """


class ConversationRedirect(Model):
    """
    The target of a conversation.
    """

    session_id: str | None = None
    """
    Absent if the conversation does not exist.
    """


class RoutingMatch(Model):
    """
    All conditions must hold. A list holds if one of its values matches.
    """

    integrations: list[str] | None = None
    """
    Names of integrations.
    """
    installations: list[str] | None = None
    """
    Workspaces, organisations or accounts, by the ids of their platform.
    """
    places: list[str] | None = None
    """
    Channels or repositories, as the integration names them. `*` matches any characters.
    """
    text: list[str] | None = None
    """
    Words or phrases of the request. Case is ignored.
    """
    sources: list[RunSourceType] | None = None
    """
    The sources of the request. A request that did not come through an integration is matched only by rules that name its source.
    """


class RoutingRuleRequest(Model):
    """
    A new or replaced routing rule.
    """

    name: str
    """
    Unique in the team.
    """
    priority: int | None = None
    """
    The lowest priority is evaluated first. Of equal priorities, the oldest is first. Default: 100.
    """
    enabled: bool | None = None
    """
    Whether the rule is active. Default: true.
    """
    match: RoutingMatch | None = None
    environment_id: str | None = None
    """
    The environment that the request gets.
    """
    config: AmbientAgentConfig | None = None


class RoutingRule(Model):
    """
    Assigns an environment to a request that names none, and values for members that the request does not configure. The first rule that matches decides.
    """

    id: str
    """
    The rule's id.
    """
    name: str
    """
    Unique in the team.
    """
    priority: int
    """
    The lowest priority is evaluated first. Of equal priorities, the oldest is first.
    """
    enabled: bool
    """
    Whether the rule is active.
    """
    created_by: str
    """
    The uid of the principal that created the rule.
    """
    created_at: datetime
    """
    When the rule was created.
    """
    updated_at: datetime
    """
    When the rule was last changed.
    """
    match: RoutingMatch
    environment_id: str | None = None
    """
    The environment that the request gets.
    """
    config: AmbientAgentConfig
    """
    Values for members that the request does not configure.
    """


class ListRoutingRulesResponse(Model):
    """
    All routing rules of the team, including disabled ones.
    """

    routing_rules: list[RoutingRule]
    """
    In the order of evaluation.
    """
    page_info: PageInfo


class EvaluateRoutingRequest(Model):
    """
    A hypothetical request.
    """

    text: str | None = None
    """
    The text of the request.
    """
    source: RunSourceType | None = None
    """
    Default: `API`.
    """
    integration: str | None = None
    """
    The integration of the request.
    """
    installation: str | None = None
    """
    The workspace, organisation or account.
    """
    place: str | None = None
    """
    The channel or repository.
    """
    config: AmbientAgentConfig | None = None


class RoutingResultRule(Model):
    """
    The rule that decides. Absent if none matches.
    """

    id: str
    """
    The rule's id.
    """
    name: str
    """
    The rule's name.
    """


class RoutingResultConsidered(Model):
    """
    An entry of `RoutingResultConsidered`.
    """

    id: str
    """
    The rule's id.
    """
    name: str
    """
    The rule's name.
    """
    matches: bool
    """
    Whether the rule matches and therefore decides.
    """
    mismatch: str | None = None
    """
    The first condition that does not hold.
    """


class RoutingResult(Model):
    """
    The routing of the request and its reason. No run is started.
    """

    rule: RoutingResultRule | None = None
    """
    The rule that decides. Absent if none matches.
    """
    reason: str
    """
    The reason for the result.
    """
    config: AmbientAgentConfig
    """
    The configuration that the run would get.
    """
    config_layers: dict[str, Any]
    """
    The source of each value: `request`, `routing_rule` or `default`.
    """
    considered: list[RoutingResultConsidered]
    """
    All evaluated rules, in order.
    """


class PermissionAnswerRequest(Model):
    """
    The answer to a permission request.
    """

    option_id: str
    """
    One of the agent's options: `permission.options` of the run.
    """


class ApprovalRequest(Model):
    """
    The decision about a run or a follow-up that waits for approval.
    """

    approve: bool
    """
    false: the run is refused and cancelled, or the follow-up is withdrawn and the run continues.
    """
    inputs_hash: str
    """
    `approval.inputs_hash` of the run, or of one follow-up. It says what the decision is about.
    """
    comment: str | None = None
    """
    Published together with the decision.
    """


class RunStateResponse(Model):
    """
    The current state of the run.
    """

    state: RunState


WebhookDeliveryState = TypeAliasType(
    "WebhookDeliveryState", Literal["waiting", "delivered", "dead"] | str
)
"""
`waiting`: the next try is pending. `delivered`: the receiver accepted it. `dead`: all tries failed.
"""


class WebhookDelivery(Model):
    """
    A message for a webhook and its result.
    """

    id: str
    """
    The delivery's id, and the header `webhook-id` of its messages.
    """
    webhook_id: str
    """
    The webhook's id.
    """
    type: str
    """
    The type of the message.
    """
    run_id: str | None = None
    """
    The run that the message is about.
    """
    seq: int | None = None
    """
    The event of the run that the message is about.
    """
    state: WebhookDeliveryState
    tries: int
    """
    The number of tries.
    """
    error: str | None = None
    """
    Why the last try failed, or why there are no more tries.
    """
    next_try_at: datetime | None = None
    """
    The earliest time of the next try.
    """
    created_at: datetime
    """
    When the delivery was created.
    """
    settled_at: datetime | None = None
    """
    When the message was delivered or given up.
    """


class WebhookTry(Model):
    """
    One try of a delivery.
    """

    number: int
    """
    1, 2, 3 …
    """
    at: datetime
    """
    When the try ended.
    """
    duration_ms: int
    """
    The duration of the try.
    """
    status: int | None = None
    """
    The HTTP status of the response. Absent if there was no response.
    """
    error: str | None = None
    """
    Why the try failed.
    """


class WebhookDeliveryDetail(Model):
    """
    A delivery with its message and its tries.
    """

    id: str
    """
    The delivery's id, and the header `webhook-id` of its messages.
    """
    webhook_id: str
    """
    The webhook's id.
    """
    type: str
    """
    The type of the message.
    """
    run_id: str | None = None
    """
    The run that the message is about.
    """
    seq: int | None = None
    """
    The event of the run that the message is about.
    """
    state: WebhookDeliveryState
    tries: int
    """
    The number of tries.
    """
    error: str | None = None
    """
    Why the last try failed, or why there are no more tries.
    """
    next_try_at: datetime | None = None
    """
    The earliest time of the next try.
    """
    created_at: datetime
    """
    When the delivery was created.
    """
    settled_at: datetime | None = None
    """
    When the message was delivered or given up.
    """
    body: str
    """
    The exact message.
    """
    history: list[WebhookTry]
    """
    All tries, the first one first.
    """


class ListWebhookDeliveriesResponse(Model):
    """
    A page of a webhook's deliveries.
    """

    deliveries: list[WebhookDelivery]
    """
    The newest delivery comes first.
    """
    page_info: PageInfo


class ReplayWebhookDeliveriesRequest(Model):
    """
    Selects dead deliveries to send again.
    """

    since: datetime
    """
    Deliveries created at or after this time.
    """
    until: datetime | None = None
    """
    Deliveries created before this time.
    """


class ReplayedWebhookDeliveries(Model):
    """
    The result of a replay.
    """

    count: int
    """
    The number of deliveries that are sent again: at most 5000, the oldest first. Repeat the request for the rest.
    """


class ScheduleRequest(Model):
    """
    A new schedule.
    """

    name: str
    """
    The name of the schedule and the title of its runs.
    """
    cron_schedule: str
    """
    Five fields: minute, hour, day of month, month, day of week, in UTC. Numbers, names, lists, ranges and steps are allowed.
    """
    prompt: str | None = None
    """
    The prompt of the runs. Required unless a skill is named.
    """
    mode: Literal["normal", "plan", "orchestrate"] | str | None = None
    """
    The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: `normal`.
    """
    agent_uid: str | None = None
    """
    The uid of the named agent that executes the runs. Default: the creator.
    """
    agent_config: AmbientAgentConfig | None = None
    metadata: dict[str, Any] | None = None
    """
    The caller's own labels of the run, by which runs can be listed. At most 20 pairs. Names have up to 64 characters of `a-z A-Z 0-9 . _ -`, values up to 256 bytes.
    """
    enabled: bool | None = None
    """
    Whether the schedule is active. Default: true.
    """
    team: bool | None = None
    """
    false: only the creator and administrators can see the schedule and its runs. Default: true.
    """


class ScheduleUpdateRequest(Model):
    """
    The new content of the schedule. Members that are left out become empty.
    """

    name: str
    """
    The name of the schedule and the title of its runs.
    """
    cron_schedule: str
    """
    Five fields: minute, hour, day of month, month, day of week, in UTC. Numbers, names, lists, ranges and steps are allowed.
    """
    prompt: str | None = None
    """
    The prompt of the runs. Required unless a skill is named.
    """
    mode: Literal["normal", "plan", "orchestrate"] | str | None = None
    """
    The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: `normal`.
    """
    agent_uid: str | None = None
    """
    The uid of the named agent that executes the runs. Default: the creator.
    """
    agent_config: AmbientAgentConfig | None = None
    metadata: dict[str, Any] | None = None
    """
    The caller's own labels of the run, by which runs can be listed. At most 20 pairs. Names have up to 64 characters of `a-z A-Z 0-9 . _ -`, values up to 256 bytes.
    """
    enabled: bool
    """
    Whether the schedule is active.
    """


class ScheduledAgentItemHistory(Model):
    """
    The last run and the next due time.
    """

    last_ran: datetime | None = None
    """
    When the schedule last started a run.
    """
    next_run: datetime | None = None
    """
    When the schedule is next due. Absent while it is paused.
    """


class ScheduledAgentItem(Model):
    """
    The current state of a schedule.
    """

    id: str
    """
    The schedule's id.
    """
    name: str
    """
    The name of the schedule.
    """
    cron_schedule: str
    """
    Five fields, in UTC.
    """
    enabled: bool
    """
    Whether the schedule is active.
    """
    prompt: str
    """
    The prompt of the runs.
    """
    mode: Literal["normal", "plan", "orchestrate"] | str | None = None
    """
    The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: `normal`.
    """
    agent_uid: str | None = None
    """
    The uid of the named agent that executes the runs.
    """
    created_at: datetime
    """
    When the schedule was created.
    """
    updated_at: datetime
    """
    When the schedule was last changed.
    """
    agent_config: AmbientAgentConfig | None = None
    metadata: dict[str, Any] | None = None
    """
    The metadata of the runs.
    """
    environment: EnvironmentConfig | None = None
    created_by: RunCreatorInfo | None = None
    updated_by: RunCreatorInfo | None = None
    history: ScheduledAgentItemHistory | None = None
    """
    The last run and the next due time.
    """
    last_spawn_error: str | None = None
    """
    Why the last due time started no run.
    """
    scope: Scope | None = None
    """
    Who can see the schedule and its runs.
    """


class ListSchedulesResponse(Model):
    """
    All schedules that you can see.
    """

    schedules: list[ScheduledAgentItem]
    """
    In alphabetical order.
    """
    page_info: PageInfo


class Secret(Model):
    """
    A secret without its value. The value is never shown.
    """

    name: str
    """
    The name of the environment variable.
    """
    scope: Scope
    """
    `Team`: for all runs of the team. `User`: for the runs that you start; it takes precedence over the team's secret.
    """
    created_at: datetime
    """
    When the secret was created.
    """
    updated_at: datetime
    """
    When the value was last set.
    """


class ListSecretsResponse(Model):
    """
    The team's secrets and your own.
    """

    secrets: list[Secret]
    """
    In alphabetical order.
    """
    page_info: PageInfo


class PutSecretRequest(Model):
    """
    The value of a secret.
    """

    value: str
    """
    The exact value. A value of at least 8 characters is replaced by `[redacted]` in all output of the runs that use it.
    """
    team: bool | None = None
    """
    false: only for your own runs. Default: true.
    """


SignInMethod = TypeAliasType(
    "SignInMethod", Literal["api_key", "slack", "github", "oidc", "link"] | str
)
"""
How the principal proved who it is.
"""


class SignIn(Model):
    """
    A browser that is signed in to the pages.
    """

    id: str
    """
    The sign-in's id.
    """
    principal_uid: str
    """
    The uid of the principal that is signed in.
    """
    method: SignInMethod
    created_at: datetime
    """
    When the principal signed in.
    """
    last_seen_at: datetime
    """
    When the browser was last seen, accurate to a few minutes.
    """
    expires_at: datetime
    """
    When the sign-in ends by itself.
    """
    address: str | None = None
    """
    The address that signed in.
    """
    user_agent: str | None = None
    """
    The browser, in its own words.
    """
    current: bool
    """
    Whether the request was made with this sign-in.
    """


class ListSignInsResponse(Model):
    """
    An administrator gets all sign-ins of the team, others get their own.
    """

    sign_ins: list[SignIn]
    """
    The open sign-ins, at most 1000. The last seen come first.
    """
    page_info: PageInfo


class AgentSkillVariantEnvironment(Model):
    """
    An entry of `AgentSkillVariantEnvironments`.
    """

    uid: str
    """
    The environment's uid.
    """
    name: str
    """
    The name of the environment.
    """


class AgentSkillVariantSource(Model):
    """
    The location of the skill.
    """

    owner: str
    """
    The owner of the repository.
    """
    name: str
    """
    The name of the repository.
    """
    skill_path: str
    """
    The path of its SKILL.md in the repository.
    """


class Team(Model):
    """
    A group of principals. Its data is separate from that of other teams.
    """

    uid: str
    """
    The team's id.
    """
    name: str
    """
    Unique on this server.
    """
    sharing: Literal["off", "viewer", "editor"] | str
    """
    What runs of the team may share with guests because their `config.session_sharing` says so: nothing, a link for viewing, or also a link for editing. Share links for editing exist only with `editor`.
    """
    created_at: datetime
    """
    When the team was created.
    """


class ListTeamsResponse(Model):
    """
    The caller's team; for operators, all teams.
    """

    teams: list[Team]
    """
    The oldest team comes first.
    """
    page_info: PageInfo


class TeamRequest(Model):
    """
    The name of a team.
    """

    name: str
    """
    Unique on this server.
    """


class TeamUpdateRequest(Model):
    """
    The members to change. Those that are left out stay as they are.
    """

    name: str | None = None
    """
    Unique on this server.
    """
    sharing: Literal["off", "viewer", "editor"] | str | None = None
    """
    What runs of the team may share with guests because their `config.session_sharing` says so: nothing, a link for viewing, or also a link for editing. Share links for editing exist only with `editor`.
    """


class ThreadChange(Model):
    """
    How often the status card of the thread is updated.
    """

    verbosity: Literal["normal", "quiet"] | str
    """
    `quiet`: the status card changes only for a question and at the end. Messages are posted in both modes.
    """


class ThreadHeld(Model):
    """
    Present while messages of the run wait here, because the platform limits how much is posted.
    """

    until: datetime
    """
    When the first of them is posted.
    """
    kind: Literal["card", "answer", "question", "other"] | str
    """
    What it is.
    """


class Thread(Model):
    """
    An external conversation in which a run reports.
    """

    id: str
    """
    The thread's id.
    """
    integration: str
    """
    The integration that the thread belongs to.
    """
    installation: str
    """
    The workspace or account, by the id of its platform.
    """
    run_id: str
    """
    The run to which the thread is or was bound.
    """
    is_current: bool
    """
    Whether messages in the thread go to this run.
    """
    verbosity: Literal["normal", "quiet"] | str
    """
    `quiet`: the status card changes only for a question and at the end. Messages are posted in both modes.
    """
    held: ThreadHeld | None = None
    """
    Present while messages of the run wait here, because the platform limits how much is posted.
    """
    created_at: datetime
    """
    When the thread was first seen.
    """


class ListThreadsResponse(Model):
    """
    The threads of a run.
    """

    threads: list[Thread]
    """
    All threads that were ever bound to the run.
    """
    page_info: PageInfo


UsageGroup = TypeAliasType(
    "UsageGroup",
    Literal["day", "source", "creator", "environment", "repository", "agent", "model"]
    | str,
)
"""
What the runs of a row have in common.
"""


class UsageRow(Model):
    """
    The totals of a group of runs.
    """

    day: str | None = None
    """
    The day in UTC on which the runs were created.
    """
    source: RunSourceType | None = None
    creator_uid: str | None = None
    """
    The uid of the principal that started the runs.
    """
    environment_id: str | None = None
    """
    The environment. Absent for runs without one.
    """
    repository: str | None = None
    """
    `owner/name` of `config.repository`, in lower case. Absent for runs without one.
    """
    agent: str | None = None
    """
    The agent that did the runs.
    """
    model_id: str | None = None
    """
    The model that the configuration names. Absent for runs that name none.
    """
    runs: int
    """
    The number of runs, without tests of environments.
    """
    succeeded: int
    """
    The number of runs that are SUCCEEDED now.
    """
    failed: int
    """
    The number of runs that are FAILED or ERROR now.
    """
    success_rate: float | None = None
    """
    `succeeded` divided by `succeeded` and `failed` together. Absent if both are 0.
    """
    median_seconds_to_result: float | None = None
    """
    The median time from the creation to the end of the runs that are SUCCEEDED. Absent if there is none.
    """
    p95_seconds_to_result: float | None = None
    """
    The time within which 95 % of these runs ended. Absent if there is none.
    """
    run_seconds: float
    """
    The sum of `run_time` of the runs.
    """
    total_tokens: float
    """
    The sum of `request_usage` of the runs.
    """
    inference_cost_usd: float
    """
    The sum of the known costs. Runs of unknown cost count as zero.
    """


class UsageResponse(Model):
    """
    The totals of the runs that you can see.
    """

    usage: list[UsageRow]
    """
    Ordered by the members of `group_by`.
    """


class WhoamiTeam(Model):
    """
    The principal's team.
    """

    uid: str
    """
    The team's id.
    """
    name: str
    """
    The name of the team.
    """


class WhoamiKey(Model):
    """
    The key of this request, or the key that was used to sign in to the pages. Absent for a sign-in without a key.
    """

    id: str
    """
    The key's id.
    """
    name: str
    """
    The name that the owner chose.
    """
    hint: str
    """
    The beginning of the key.
    """
    scopes: list[KeyScope]
    """
    The scopes of the key.
    """
    expires_at: datetime | None = None
    """
    When the key expires. Absent if it does not expire.
    """


class Whoami(Model):
    """
    The caller and its rights.
    """

    principal: Principal
    team: WhoamiTeam
    """
    The principal's team.
    """
    scopes: list[KeyScope]
    """
    What the caller may do at most.
    """
    key: WhoamiKey | None = None
    """
    The key of this request, or the key that was used to sign in to the pages. Absent for a sign-in without a key.
    """
    sign_in: SignIn | None = None
    """
    The sign-in to the pages. Absent for a request with a key.
    """
    is_administrator: bool
    """
    Whether the caller manages the team.
    """
    is_operator: bool
    """
    Whether the caller manages the server and its teams.
    """


class WorkerHost(Model):
    """
    The live workers that share a name.
    """

    worker_host: str
    """
    The value for `config.worker_host` of a run.
    """
    connection_count: int
    """
    The number of worker processes with this name.
    """
    connected_at: datetime
    """
    When the oldest of them started.
    """
    last_seen_at: datetime
    """
    When one of them last reported.
    """
    disk_full_count: int
    """
    The number of these workers that take no run, because their disk has too little free space.
    """


class ListWorkersResponse(Model):
    """
    The worker names that a run can request.
    """

    workers: list[WorkerHost]
    """
    In alphabetical order. Workers without a name are left out.
    """


class UnknownObject(Model):
    """
    An object of a kind that this version of the client does not know.
    """


ArtifactItem = TypeAliasType(
    "ArtifactItem",
    Annotated[FileArtifact
    | PullRequestArtifact
    | PlanArtifact
    | ScreenshotArtifact
    | ExternalReferenceArtifact
    | UnknownObject, Field(union_mode="left_to_right")],
)
"""
A result of a run.
"""


MCPServerConfig = TypeAliasType(
    "MCPServerConfig",
    Annotated[MCPServerProgram | MCPServerAddress | MCPServerReference | UnknownObject, Field(union_mode="left_to_right")],
)
"""
An MCP server for the agent: exactly one of `command`, `url` and `warp_id`.
"""


class RunItemPermission(Model):
    """
    The question that the run waits for. To answer, use `POST …/permissions/{permissionId}` or send a follow-up.
    """

    permission_id: str
    """
    The id in the path of the request that answers the question.
    """
    title: str
    """
    The agent's own name of the call. A model may have written it.
    """
    options: list[RunItemPermissionOption]
    """
    The answers that the agent offers.
    """
    command: str | None = None
    """
    The command that the call would run, from the call itself.
    """
    paths: list[str] | None = None
    """
    The files that the call is about, and the directory of a command.
    """
    diff: str | None = None
    """
    The lines that the call removes and adds, in the form of a unified diff.
    """
    input: str | None = None
    """
    The arguments of the call that the other members do not show, as JSON.
    """
    reason: str | None = None
    """
    What the agent says about the call. A model may have written it, so it may be untrue.
    """
    truncated: bool | None = None
    """
    true: the call is longer than what is shown here. Its event `agent.tool_call` has more of it.
    """
    asked_at: datetime
    """
    When the agent asked.
    """


class RunItem(Model):
    """
    The current state of a run.
    """

    run_id: str
    """
    The run's id.
    """
    task_id: str
    """
    The same as `run_id`.
    """
    root_run_id: str
    """
    The run at the top of its ancestors. The run itself if it has no parent.
    """
    title: str
    """
    The title of the request, or the beginning of the prompt.
    """
    prompt: str
    """
    The prompt of the request.
    """
    state: RunState
    created_at: datetime
    """
    When the run was accepted.
    """
    updated_at: datetime
    """
    When the run last changed. A new event counts as a change.
    """
    is_sandbox_running: bool
    """
    Whether a worker holds the run. It is true until the processes of the run have ended.
    """
    source: RunSourceType
    creator: RunCreatorInfo
    executor: RunCreatorInfo | None = None
    """
    The principal that executes the run: a named agent, the principal that requested the run in the name of its creator, or the creator itself.
    """
    agent: RunAgent | None = None
    started_at: datetime | None = None
    """
    When the agent first received the prompt. null before that.
    """
    finished_at: datetime | None = None
    """
    When the run ended. null while it has not ended.
    """
    submitted_prompt: str | None = None
    """
    The prompt and the follow-ups that came before the run started, with blank lines between. Absent in lists.
    """
    run_time: str | None = None
    """
    The ISO 8601 duration from the start to the end, or until now.
    """
    status_message: RunStatusMessage | None = None
    debug_agent_available: bool | None = None
    """
    true: the setup of the workspace failed, and a follow-up starts an agent in the workspace as it was then. Absent otherwise, and after `session_debug_until`.
    """
    trigger_url: str | None = None
    """
    The message, comment or schedule that started the run.
    """
    session_id: str | None = None
    """
    The id of the run's page.
    """
    session_link: str | None = None
    """
    The URL of the page that shows the run live.
    """
    conversation_id: str | None = None
    """
    The conversation that contains all turns of the run.
    """
    agent_config: AmbientAgentConfig | None = None
    """
    The resolved configuration. `harness` is what a caller asked for, and absent if no caller did; `agent` tells which agent does the work.
    """
    agent_skill: RunItemAgentSkill | None = None
    """
    The skill that started the run, as it was at that time.
    """
    artifacts: list[ArtifactItem] | None = None
    """
    The artifacts of the run, the oldest first.
    """
    pull_request_status: RunPullRequestStatus | None = None
    schedule: RunItemSchedule | None = None
    """
    The schedule that started the run, as it was at that time.
    """
    approval: RunApproval | None = None
    """
    The approval that the run needs or needed before it starts. A later follow-up has one of its own.
    """
    permission: RunItemPermission | None = None
    """
    The question that the run waits for. To answer, use `POST …/permissions/{permissionId}` or send a follow-up.
    """
    waiting_for: RunWaitingFor | None = None
    result: RunResult | None = None
    """
    What the agent answered in the last turn that it finished. Absent in lists and before the end of the first turn.
    """
    outcome: RunOutcome | None = None
    warnings: list[str] | None = None
    """
    Problems that did not end the run, the oldest first: files that were not kept, a missing secret or tool. At most 20.
    """
    parent_run_id: str | None = None
    """
    The parent of the run.
    """
    metadata: dict[str, Any] | None = None
    """
    The metadata of the request.
    """
    request_usage: RunItemRequestUsage | None = None
    """
    The usage of the model, as far as it is known.
    """
    scope: Scope | None = None
    """
    Who can see the run.
    """
    execution_location: Literal["LOCAL", "REMOTE"] | str | None = None
    """
    Where the run is executed. Always `REMOTE`, because workers execute all runs, even if `source` is `LOCAL`.
    """
    provenance: dict[str, Any] | None = None
    """
    The verified origin of the run. `config_layers` names the source of each member of `agent_config`: `request` (also for a skill that `skill` names), `agent` (the named agent), `conversation` (taken from the run that this run continues), `repository_file` (a file in the repository of the request), `routing_rule`, `skill` (a name that the skill defines), or `default`. A retry keeps `routing` and `config_layers` of the run that it repeats.
    """


class ListRunsResponse(Model):
    """
    A page of runs.
    """

    runs: list[RunItem]
    """
    In the order of `sort_by`.
    """
    page_info: PageInfo


RunEventArtifact = TypeAliasType(
    "RunEventArtifact",
    Annotated[PullRequestDetails
    | PlanDetails
    | FileDetails
    | ScreenshotDetails
    | ExternalReferenceDetails
    | UnknownObject, Field(union_mode="left_to_right")],
)
"""
Details of an artifact that depend on its type.
"""


ToolContent = TypeAliasType(
    "ToolContent",
    Annotated[TextContent | DiffContent | TerminalContent | OtherContent | UnknownObject, Field(union_mode="left_to_right")],
)
"""
Content of a tool call.
"""


class PermissionRequestedEventRequest(Model):
    """
    The question. `GET /agent/runs/{runId}` also contains it while the run waits.
    """

    permission_id: str
    """
    The id in the path of the request that answers the question.
    """
    title: str
    """
    The agent's own name of the call. A model may have written it.
    """
    options: list[PermissionRequestedEventRequestOption]
    """
    The answers that the agent offers.
    """
    command: str | None = None
    """
    The command that the call would run, from the call itself.
    """
    paths: list[str] | None = None
    """
    The files that the call is about, and the directory of a command.
    """
    diff: str | None = None
    """
    The lines that the call removes and adds, in the form of a unified diff.
    """
    input: str | None = None
    """
    The arguments of the call that the other members do not show, as JSON.
    """
    reason: str | None = None
    """
    What the agent says about the call. A model may have written it, so it may be untrue.
    """
    truncated: bool | None = None
    """
    true: the call is longer than what is shown here. Its event `agent.tool_call` has more of it.
    """
    tool_call_id: str | None = None
    """
    The tool call that the question is about.
    """


class PermissionRequestedEvent(Model):
    """
    The agent asks for permission, and the run waits for the answer.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["permission.requested"]
    request: PermissionRequestedEventRequest
    """
    The question. `GET /agent/runs/{runId}` also contains it while the run waits.
    """


class ArtifactAddedEvent(Model):
    """
    The run produced an artifact or a newer version of it.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["artifact.added"]
    artifact_uid: str
    """
    The artifact's id.
    """
    version: int
    """
    1, 2, 3 …
    """
    artifact: RunEventArtifact


class AgentToolCallEvent(Model):
    """
    The known part of a tool call. A later event with the same id replaces the members that it contains, except `output`, which it adds. `content` replaces the output too.
    """

    seq: int
    """
    1, 2, 3 …, without gaps.
    """
    turn: int
    """
    The turn of the event. 0 before the first turn.
    """
    at: datetime
    """
    When the event was committed.
    """
    run_id: str | None = None
    """
    The run of the event. Present only in the log of all runs.
    """
    cursor: str | None = None
    """
    The value of `after` that continues behind this event. Present only in the log of all runs.
    """
    kind: Literal["agent.tool_call"]
    tool_call_id: str
    """
    The agent's id of the tool call.
    """
    title: str | None = None
    """
    A title for people.
    """
    tool_kind: str | None = None
    """
    `read`, `edit`, `delete`, `move`, `search`, `execute`, `think`, `fetch` or `other`.
    """
    status: Literal["pending", "in_progress", "completed", "failed"] | str | None = None
    """
    The state of the tool call.
    """
    content: list[ToolContent] | None = None
    """
    The content of the tool call.
    """
    output: str | None = None
    """
    The output, or a further part of it. It follows the content.
    """
    locations: list[AgentToolCallEventLocation] | None = None
    """
    The files that the tool call works on.
    """
    raw_input: Any | None = None
    """
    The input of the tool.
    """
    raw_output: Any | None = None
    """
    The output of the tool.
    """


RunEvent = TypeAliasType(
    "RunEvent",
    Annotated[RunCreatedEvent
    | RunStateEvent
    | RunUpdatedEvent
    | AttemptStartedEvent
    | AttemptEndedEvent
    | WorkspaceStepEvent
    | WorkspaceReadyEvent
    | WorkspaceStoredEvent
    | WorkspaceNotStoredEvent
    | ChangesNotKeptEvent
    | AgentStartedEvent
    | TurnStartedEvent
    | TurnEndedEvent
    | TurnRatedEvent
    | FollowupReceivedEvent
    | FollowupEditedEvent
    | FollowupWithdrawnEvent
    | FollowupSteeredEvent
    | FollowupQueuedEvent
    | PermissionRequestedEvent
    | PermissionAnsweredEvent
    | ApprovalRequestedEvent
    | ApprovalDecidedEvent
    | NoticeDeadEvent
    | ThreadBoundEvent
    | ArtifactAddedEvent
    | ArtifactLeftOutEvent
    | AgentMessageEvent
    | AgentThoughtEvent
    | AgentToolCallEvent
    | AgentPlanEvent
    | AgentUsageEvent
    | AgentTitleEvent
    | AgentNoticeEvent
    | AgentPermissionGrantedEvent
    | AgentOtherEvent
    | UnknownRunEvent, Field(union_mode="left_to_right")],
)
"""
An event in the log of a run. `kind` names what happened; further members depend on the kind. New kinds may be added: clients should ignore those that they do not know.
"""


class RunEventPage(Model):
    """
    A page of a run's log.
    """

    events: list[RunEvent]
    """
    Ordered by `seq`.
    """
    next_after: int
    """
    The value of `after` for the next page. It is unchanged if there are no newer events yet.
    """
    next_before: int | None = None
    """
    The value of `before` for the earlier page. Absent if there are no earlier events.
    """


class LoggedEventPage(Model):
    """
    A page of the log of all runs.
    """

    events: list[RunEvent]
    """
    In the order of the log. Each event has `run_id` and `cursor`.
    """
    next_after: str
    """
    The value of `after` for the next page.
    """
    has_more: bool
    """
    Whether the log already contains more events.
    """


ContentBlock = TypeAliasType(
    "ContentBlock",
    Annotated[TextBlock | ActionBlock | ActionResultBlock | EventBlock | UnknownObject, Field(union_mode="left_to_right")],
)
"""
A part of a message. `type` names its kind.
"""


class ConversationMessage(Model):
    """
    A message of the user, the agent, a tool or the system.
    """

    role: Literal["user", "assistant", "tool", "system"] | str
    """
    The author of the message.
    """
    content: list[ContentBlock]
    """
    The parts of the message, in order.
    """
    timestamp: datetime | None = None
    """
    When the message began.
    """


class ConversationStep(Model):
    """
    One turn.
    """

    id: str
    """
    An id that is the same at each read.
    """
    description: str | None = None
    """
    The subject of the step, in one line.
    """
    summary: str | None = None
    """
    The agent's final answer, shortened if it is long.
    """
    started_at: datetime | None = None
    """
    When the step started. Absent while it waits.
    """
    completed_at: datetime | None = None
    """
    When the step ended. Absent while it is in progress.
    """
    messages: list[ConversationMessage]
    """
    Ordered by the time at which each message began.
    """
    steps: list[ConversationStep]
    """
    Steps within this one. Always empty in this version.
    """


class Conversation(Model):
    """
    All messages and actions, in a format that is the same for every agent.
    """

    conversation_id: str
    """
    The conversation's id. All its runs have the same.
    """
    steps: list[ConversationStep]
    """
    One step per turn, of all runs of the conversation, the oldest first.
    """
    has_more_before: bool
    """
    Whether there are steps before the first one here.
    """


ArtifactDetails = TypeAliasType(
    "ArtifactDetails",
    Annotated[FileArtifactDetails
    | ScreenshotArtifactDetails
    | PlanArtifactDetails
    | UnknownObject, Field(union_mode="left_to_right")],
)
"""
An artifact with its content, or with an address where it can be downloaded.
"""


class McpServer(Model):
    """
    An MCP server of the team.
    """

    uid: str
    """
    The server's id. Runs name it, or the server's name, by `warp_id`.
    """
    name: str
    """
    Unique in the team.
    """
    description: str | None = None
    """
    What the server is for.
    """
    config: MCPServerConfig
    """
    The values of `env` and `headers` are shown as `[redacted]`.
    """
    created_at: datetime
    """
    When the server was created.
    """
    updated_at: datetime
    """
    When the server was last changed.
    """
    created_by: str
    """
    The uid of the principal that created the server.
    """


class ListMcpServersResponse(Model):
    """
    The MCP servers of the team.
    """

    mcp_servers: list[McpServer]
    """
    In alphabetical order.
    """
    page_info: PageInfo


class McpServerRequest(Model):
    """
    The whole content of the server. Members that are left out become empty.
    """

    name: str
    """
    Unique in the team.
    """
    description: str | None = None
    """
    What the server is for.
    """
    config: MCPServerConfig
    """
    Exactly one of `command` and `url`. Values of `env` and `headers` are encrypted and never shown. A value that is sent back as `[redacted]` stays as it is.
    """


class NamedAgentMemory(Model):
    """
    This server has no memory stores.
    """

    attached_stores: list[str]
    """
    Always empty.
    """
    auto_memory: NamedAgentMemoryAutoMemory
    """
    Not available.
    """


class NamedAgent(Model):
    """
    A service account with defaults, which executes runs.
    """

    uid: str
    """
    The uid of the agent's principal.
    """
    name: str
    """
    The name of the agent.
    """
    available: bool
    """
    Whether it can execute runs: its principal is enabled, and this server has its agent and model.
    """
    created_at: datetime
    """
    When the agent was created.
    """
    updated_at: datetime
    """
    When the agent was last changed.
    """
    default_runner_uid: str
    """
    Always empty.
    """
    memory: NamedAgentMemory
    """
    This server has no memory stores.
    """
    description: str | None = None
    """
    What the agent is for.
    """
    prompt: str | None = None
    """
    The base prompt of its runs: instructions for the whole session.
    """
    base_model: str | None = None
    """
    The model of its runs.
    """
    harness: NamedAgentHarness | None = None
    """
    The agent program that does the work of its runs.
    """
    environment_id: str | None = None
    """
    The environment of its runs: one of the team.
    """
    mcp_servers: dict[str, Any] | None = None
    """
    The MCP servers of its runs.
    """
    skills: list[str]
    """
    The skills of its runs.
    """
    secrets: list[SecretRef]
    """
    The only secrets of the team that its runs get. Empty: all of them.
    """
    worker_host: str | None = None
    """
    The workers that execute its runs, by their name.
    """
    on_behalf_of_enabled: bool | None = None
    """
    Whether its keys may start runs in the name of members (`on_behalf_of`). Default: false.
    """
    harness_auth_secrets: Any | None = None
    """
    Stored and returned, but without effect: the response that accepts it names it as ignored.
    """
    base_harness: Any | None = None
    """
    Stored and returned, but without effect: the response that accepts it names it as ignored.
    """
    credential_strategy: Any | None = None
    """
    Stored and returned, but without effect: the response that accepts it names it as ignored.
    """
    ignored: list[str] | None = None
    """
    Members of this request that were accepted and have no effect. Absent if there are none.
    """


class ListNamedAgentsResponse(Model):
    """
    All named agents of the team.
    """

    agents: list[NamedAgent]
    """
    The oldest agent comes first.
    """
    page_info: PageInfo


class AgentSkillVariant(Model):
    """
    An entry of `AgentSkillVariants`.
    """

    id: str
    """
    `owner/repo:path`, the value for `skill` and `config.skill_spec` of a new run.
    """
    base_prompt: str
    """
    The instructions in SKILL.md.
    """
    description: str
    """
    The purpose of the skill, from its SKILL.md. May be empty.
    """
    environments: list[AgentSkillVariantEnvironment]
    """
    The environments that contain the repository.
    """
    source: AgentSkillVariantSource
    """
    The location of the skill.
    """
    last_run_timestamp: datetime | None = None
    """
    When a run of the skill last started, of the runs that you can see.
    """


class AgentSkill(Model):
    """
    Instructions for agents, stored in a repository.
    """

    name: str
    """
    The name in SKILL.md, otherwise the name of the folder.
    """
    variants: list[AgentSkillVariant]
    """
    The skills with this name, of all repositories.
    """


class ListAgentsResponse(Model):
    """
    The skills that can start a run.
    """

    agents: list[AgentSkill]
    """
    One entry per name.
    """
    page_info: PageInfo


ConversationStep.model_rebuild()
