# Written by scripts/models.py from docs/openapi.json. Do not edit.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict
from typing_extensions import NotRequired


class SecretRef(TypedDict):
    """
    A secret of the team, by its name.
    """

    name: str
    """
    The name of a secret of the team.
    """


class MCPServerProgram(TypedDict):
    """
    A program in the sandbox, next to the agent.
    """

    command: str
    """
    A program that speaks MCP on its standard streams.
    """
    args: NotRequired[list[str]]
    """
    The arguments of the program. They must not refer to secrets.
    """
    env: NotRequired[dict[str, Any]]
    """
    Values may refer to secrets: `$` and the name in braces. They are filled in when the run starts.
    """


class MCPServerAddress(TypedDict):
    """
    A remote server. The agent reaches it without access to its keys.
    """

    url: str
    """
    The URL of the server.
    """
    headers: NotRequired[dict[str, Any]]
    """
    Values may refer to secrets: `$` and the name in braces. They are filled in when the run starts.
    """


class MCPServerReference(TypedDict):
    """
    A shared server.
    """

    warp_id: str
    """
    The id or name of the server.
    """


MCPServerConfig: TypeAlias = MCPServerProgram | MCPServerAddress | MCPServerReference
"""
An MCP server for the agent: exactly one of `command`, `url` and `warp_id`.
"""


class AmbientAgentConfigHarness(TypedDict):
    """
    The agent that does the work.
    """

    type: NotRequired[str]
    """
    A name of the agent catalogue. `oz` is the server's default agent.
    """
    model_id: NotRequired[str]
    """
    The model of this agent. It takes precedence over `model_id` of the configuration.
    """
    reasoning_level: NotRequired[str]
    """
    The reasoning level, as the agent names it.
    """


class AmbientAgentConfigSessionSharing(TypedDict):
    """
    Shares the new run by a link, which the response contains as `share_url`. If the team does not allow it (`sharing` of the team), nothing is shared and the response names the member as ignored.
    """

    public_access: NotRequired[Literal["VIEWER", "EDITOR"]]
    """
    What users outside the team may do: see the run, or also send follow-ups.
    """


class AmbientAgentConfigBudget(TypedDict):
    """
    The limits of all turns together. When a limit is reached, the turn is stopped and the run becomes FAILED with `budget_exceeded`.
    """

    max_turns: NotRequired[int]
    """
    The maximum number of prompts to the agent.
    """
    max_minutes: NotRequired[float]
    """
    The maximum working time of the agent. Time in which it waits for a person or a worker does not count.
    """
    max_tokens: NotRequired[int]
    """
    The maximum number of input and output tokens of all turns.
    """
    max_cost_usd: NotRequired[float]
    """
    The maximum cost, computed by the agent or from the price list, whichever is higher.
    """


class AmbientAgentConfig(TypedDict):
    """
    The configuration of a run. Unknown members are stored and returned, and the response that accepts them names them as ignored.
    """

    name: NotRequired[str]
    """
    A name by which runs can be listed.
    """
    model_id: NotRequired[str]
    """
    The model, as the agent names it. If the agent does not know it, the run logs this and uses the agent's default model.
    """
    base_prompt: NotRequired[str]
    """
    Instructions for the whole session. The agent receives them at its start or before its first prompt.
    """
    environment_id: NotRequired[str]
    """
    The environment in which the run works: one of your own or of the team.
    """
    skill_spec: NotRequired[str]
    """
    `owner/repo:skill-name` or `owner/repo:path/to/SKILL.md`.
    """
    skills: NotRequired[list[str]]
    """
    Skills for the agent, named like `skill_spec`, with which it must not be combined. They are put where the agent looks for skills. Without a prompt the first one is the task. At most 50.
    """
    mcp_servers: NotRequired[dict[str, Any]]
    """
    MCP servers for the agent, at most 20. Names have 1 to 64 letters, digits, `_` and `-`.
    """
    computer_use_enabled: NotRequired[bool]
    """
    Stored and returned, but not used by any agent of this version: the response that accepts it names it as ignored.
    """
    computer_use_model_id: NotRequired[str]
    """
    Stored and returned, but not used by any agent of this version: the response that accepts it names it as ignored.
    """
    worker_host: NotRequired[str]
    """
    Only workers with this name may execute the run, even if it has to wait for one.
    """
    priority: NotRequired[Literal["high", "normal", "low"]]
    """
    Which of the queued runs of the team start first. Other teams do not wait longer because of it. A `low` run that has waited for an hour counts as `normal` (default). The condition `priorities` of a policy says who may use it.
    """
    secrets: NotRequired[list[SecretRef]]
    """
    The only secrets of the team that the run gets, and no personal ones. They must be among those of the named agent that executes the run, if it has a list. Absent or empty: those of the named agent, else those of the environment, else all.
    """
    idle_timeout_minutes: NotRequired[int]
    """
    How long an agent that waits for a person is kept running. 0: not at all.
    """
    harness: NotRequired[AmbientAgentConfigHarness]
    """
    The agent that does the work.
    """
    session_sharing: NotRequired[AmbientAgentConfigSessionSharing]
    """
    Shares the new run by a link, which the response contains as `share_url`. If the team does not allow it (`sharing` of the team), nothing is shared and the response names the member as ignored.
    """
    budget: NotRequired[AmbientAgentConfigBudget]
    """
    The limits of all turns together. When a limit is reached, the turn is stopped and the run becomes FAILED with `budget_exceeded`.
    """
    permission_policy: NotRequired[Literal["allow", "ask"]]
    """
    `ask`: a person decides each permission that the agent requests, and the run is BLOCKED until then. `allow` (default): all permissions are granted, within the sandbox.
    """
    repository: NotRequired[str]
    """
    `owner/name`: a repository in which the run works. It is added to those of the environment, if there is one.
    """
    repository_guessed: NotRequired[bool]
    """
    `true`: nobody named `repository`; the client guessed it, for example from the clone in which a command ran. If it cannot be read, the run works without it and says so, instead of failing.
    """
    ref: NotRequired[str]
    """
    What of `repository` is checked out: a branch, a tag or the full id of a commit. Default: its default branch. Without `repository` it counts for the repository of the environment, which must have exactly one.
    """
    pull_request: NotRequired[Literal["off", "draft", "ready"]]
    """
    What Errand does at the end of a turn with changes in `repository` that the agent did not push. `draft` and `ready`: it pushes them and opens a pull request. `off`: it opens none. Without `repository` it counts for each repository of the environment. Default: `pull_request` of the environment, otherwise `off`, except for requests of people in chats.
    """
    output_schema: NotRequired[dict[str, Any]]
    """
    A JSON Schema (2020-12, at most 64 KiB) for the answer of each turn. The agent is told to end its answer with a matching JSON value, which `result.data` of the run contains. If it does not match, the agent may repair it once in the same turn; after that the run is FAILED with `invalid_request` and the problems. `$ref` must begin with `#`.
    """


class LineComment(TypedDict):
    """
    A comment on one or several lines of the changes of a run.
    """

    repository: NotRequired[str]
    """
    `owner/name`, as the changes of the run name it. It may be left out if there is only one.
    """
    path: str
    """
    The path of the file, at most 4096 characters.
    """
    side: Literal["left", "right"]
    """
    `left`: the file before the changes. `right`: the file after them.
    """
    line: int
    """
    The line, counted from 1 on its side. Of several lines, the last one.
    """
    start_line: NotRequired[int]
    """
    The first of several lines.
    """
    hunk: str
    """
    The lines of the diff that the comment is about. The last one is `line`. At most 16000 characters.
    """
    commit_id: NotRequired[str]
    """
    The commit whose version was commented on, if it is pushed.
    """
    body: str
    """
    The comment, at most 10000 characters.
    """


class SentLineComment(TypedDict):
    """
    A comment on one or several lines, sent with a follow-up.
    """

    repository: NotRequired[str]
    """
    `owner/name`, as the changes of the run name it. It may be left out if there is only one.
    """
    path: str
    """
    The path of the file, at most 4096 characters.
    """
    side: Literal["left", "right"]
    """
    `left`: the file before the changes. `right`: the file after them.
    """
    line: int
    """
    The line, counted from 1 on its side. Of several lines, the last one.
    """
    start_line: NotRequired[int]
    """
    The first of several lines.
    """
    hunk: str
    """
    The lines of the diff that the comment is about. The last one is `line`. At most 16000 characters.
    """
    commit_id: NotRequired[str]
    """
    The commit whose version was commented on, if it is pushed.
    """
    body: str
    """
    The comment, at most 10000 characters.
    """
    draft_id: NotRequired[str]
    """
    The draft of the sender that it was. It is deleted.
    """


WebhookEventType: TypeAlias = Literal[
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
"""
`run.created`, `run.` with the name of the run's new state, and `webhook.disabled`: another webhook of the team was disabled because it failed.
"""


class WebhookRequest(TypedDict):
    """
    A new webhook.
    """

    url: str
    """
    The receiver's URL. It must be https, and outside the server's own network unless the operator allows it.
    """
    description: NotRequired[str]
    """
    A description for people.
    """
    events: NotRequired[list[WebhookEventType]]
    """
    The events that are sent. An empty list means all that begin with `run.`.
    """
    enabled: NotRequired[bool]
    """
    Whether messages are sent. Events that happen while the webhook is disabled are never sent. Default: true.
    """


class RunWebhook(TypedDict):
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


class WebhookChange(TypedDict):
    """
    The members to change. Other members keep their value. Enabling a webhook also resets `failing_since`.
    """

    url: NotRequired[str]
    """
    The receiver's URL. It must be https, and outside the server's own network unless the operator allows it.
    """
    description: NotRequired[str]
    """
    A description for people.
    """
    events: NotRequired[list[WebhookEventType]]
    """
    The events that are sent. An empty list means all that begin with `run.`.
    """
    enabled: NotRequired[bool]
    """
    Whether messages are sent. Events that happen while the webhook is disabled are never sent. Default: true.
    """


class RotateWebhookSecretRequest(TypedDict):
    """
    The end of the old secret.
    """

    overlap_seconds: NotRequired[int]
    """
    For how long messages are also signed with the old secret.
    """


RunState: TypeAlias = Literal[
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
"""
`QUEUED`: the run waits for a worker. `PENDING` and `CLAIMED`: a worker prepares it. `INPROGRESS`: the agent works. `BLOCKED`: the run waits for a person. `SUCCEEDED`, `FAILED` (a problem of the request), `ERROR` (a problem of the platform) and `CANCELLED`: the run has ended. A follow-up continues an ended run.
"""


class RunAgentRequestImage(TypedDict):
    """
    An entry of `RunAgentRequestImages`.
    """

    data: str
    """
    The bytes, encoded as base64.
    """
    mime_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
    """
    The media type of the bytes.
    """


class RunAgentRequestAttachment(TypedDict):
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


class RunAgentRequest(TypedDict):
    """
    A new run. At least one of `prompt`, `skill`, `config.skill_spec`, `config.skills` and `conversation_id` is required.
    """

    prompt: NotRequired[str]
    """
    The task, in words.
    """
    config: NotRequired[AmbientAgentConfig]
    title: NotRequired[str]
    """
    The title of the run. Default: the beginning of the prompt.
    """
    skill: NotRequired[str]
    """
    `[owner/]repo:name` or `[owner/]repo:path`. It takes precedence over `config.skill_spec`.
    """
    conversation_id: NotRequired[str]
    """
    A conversation to continue, with its files and, if the agent is the same, its memory. Values that `config` and `team` leave out are taken from the newest run of the conversation, except `name` and `skill_spec`.
    """
    parent_run_id: NotRequired[str]
    """
    The parent of the run.
    """
    team: NotRequired[bool]
    """
    false: only the creator and administrators can see the run. Default: true.
    """
    images: NotRequired[list[RunAgentRequestImage]]
    """
    Images that belong to the prompt, for agents that accept images.
    """
    attachments: NotRequired[list[RunAgentRequestAttachment]]
    """
    Files that belong to the prompt.
    """
    mode: NotRequired[Literal["normal", "plan", "orchestrate"]]
    """
    The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: `normal`.
    """
    interactive: NotRequired[bool]
    """
    true: `config.permission_policy` defaults to `ask`.
    """
    metadata: NotRequired[dict[str, Any]]
    """
    The caller's own labels of the run, by which runs can be listed. At most 20 pairs. Names have up to 64 characters of `a-z A-Z 0-9 . _ -`, values up to 256 bytes.
    """
    agent_identity_uid: NotRequired[str]
    """
    The uid of the named agent that executes the run. Values that `config` leaves out are taken from it. Default: the caller, if its key belongs to a named agent.
    """
    on_behalf_of: NotRequired[str]
    """
    The uid or the email address of an active member, who becomes the creator of the run. The run gets no personal secrets, and the member cannot approve it. For administrators, and for named agents with `on_behalf_of_enabled`.
    """
    webhook: NotRequired[RunWebhook]


class RunUpdate(TypedDict):
    """
    The members to change. Other members keep their value.
    """

    title: NotRequired[str]
    """
    The new title.
    """
    metadata: NotRequired[dict[str, Any]]
    """
    Replaces all pairs.
    """


class FollowupAttachment(TypedDict):
    """
    A file that belongs to a follow-up: `file_name`, `mime_type` and `data`.
    """

    file_name: NotRequired[str]
    """
    The name of the file in `attachments/`. Unsafe characters are replaced, and a number is added if the name is already used.
    """
    mime_type: NotRequired[str]
    """
    The media type of the bytes.
    """
    data: NotRequired[str]
    """
    The bytes, encoded as base64.
    """
    attachment_id: NotRequired[str]
    """
    For clients of another server: no id is known here, and the response is 422. Send `data`.
    """


class RunFollowupRequestImage(TypedDict):
    """
    An entry of `RunFollowupRequestImages`.
    """

    data: str
    """
    The bytes, encoded as base64.
    """
    mime_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
    """
    The media type of the bytes.
    """


class RunFollowupRequest(TypedDict):
    """
    A message to an existing run.
    """

    message: NotRequired[str]
    """
    The text of the follow-up. It may be empty if there are files or comments.
    """
    comments: NotRequired[list[SentLineComment]]
    """
    Comments on lines of the run's changes, at most 50. The agent reads them below the message, each with the lines that it is about. A follow-up with comments never answers a question.
    """
    attachments: NotRequired[list[FollowupAttachment]]
    """
    Files that belong to the message, at most 25.
    """
    images: NotRequired[list[RunFollowupRequestImage]]
    """
    Images that belong to the message, for agents that accept images.
    """
    mode: NotRequired[Literal["normal", "plan", "orchestrate"]]
    """
    The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: `normal`.
    """
    delivery: NotRequired[Literal["queue", "interrupt", "steer"]]
    """
    queue (default): the next turn processes it. interrupt: it stops the current turn. steer: it is added to the current turn if the agent supports that, otherwise it is queued; no agent of this version supports it.
    """
    visibility: NotRequired[Literal["thread", "private"]]
    """
    thread (default): it is posted to the threads of the run. private: neither it nor the answer of a turn with only private follow-ups is posted. The run's state and the agent's questions are still posted.
    """


RunSourceType: TypeAlias = Literal[
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
"""
The source of a run. `API` if nothing more specific is known.
"""


RunFilterTaskStatu: TypeAlias = Literal[
    "running", "failed", "blocked", "cancelled", "complete"
]
"""
An entry of `RunFilterTaskStatus`.
"""


class RunFilter(TypedDict):
    """
    Filters as in the query of `GET /agent/runs`. All must match. An unknown or empty one is refused.
    """

    state: NotRequired[list[RunState]]
    """
    One of these states. Can be repeated.
    """
    name: NotRequired[str]
    """
    The name of the run's configuration.
    """
    config_name: NotRequired[str]
    """
    An alias of `name`.
    """
    model_id: NotRequired[str]
    """
    The model of the run's configuration.
    """
    creator: NotRequired[str]
    """
    The uid of the principal that started the run.
    """
    executor: NotRequired[str]
    """
    The uid of the principal that executes the run: its creator, unless the run names another one.
    """
    source: NotRequired[str | list[str]]
    """
    One of these sources, values of `RunSourceType`. Any other value matches nothing. Can be repeated.
    """
    task_status: NotRequired[list[RunFilterTaskStatu]]
    """
    One of these states of the run together with the runs below it. `running`: one of them is neither ended nor blocked. The others are states of the run at the top. Can be repeated.
    """
    created_after: NotRequired[str]
    """
    Only runs created after this time (RFC 3339).
    """
    created_before: NotRequired[str]
    """
    Only runs created before this time (RFC 3339).
    """
    updated_after: NotRequired[str]
    """
    Only runs changed after this time (RFC 3339).
    """
    updated_before: NotRequired[str]
    """
    Only runs changed before this time (RFC 3339).
    """
    environment_id: NotRequired[str]
    """
    The environment of the run. `empty-environment`: runs without an environment.
    """
    skill: NotRequired[str]
    """
    The skill that started the run: `owner/repo:path/to/SKILL.md`, the format of `skill_spec` in `agent_config` and of the ids in `GET /agent`. A skill's name, or a repository without its owner, matches nothing.
    """
    skill_spec: NotRequired[str]
    """
    An alias of `skill`.
    """
    repository: NotRequired[str]
    """
    A repository in which the run works: its own or one of its environment. `owner/name` or an address, in any case.
    """
    schedule_id: NotRequired[str]
    """
    The schedule that started the run.
    """
    conversation_id: NotRequired[str]
    """
    Only the runs of this conversation.
    """
    parent_run_id: NotRequired[str]
    """
    Only runs directly below this run.
    """
    ancestor_run_id: NotRequired[str]
    """
    Only runs below this run, at any depth.
    """
    artifact_type: NotRequired[str]
    """
    Only runs that produced an artifact of this type.
    """
    execution_location: NotRequired[Literal["LOCAL", "REMOTE"]]
    """
    Where the run is executed. Workers execute all runs, so `REMOTE` matches every run and `LOCAL` matches none.
    """
    metadata: NotRequired[dict[str, Any]]
    """
    `metadata[key]=value`: all of these pairs, at most 5.
    """
    q: NotRequired[str]
    """
    Words that must all occur in the title, the prompt or the skill. Parts of words match, and case is ignored. Or the id of a run, or the address of its page.
    """
    automation_id: NotRequired[str]
    """
    The same as `metadata[automation_id]`.
    """
    factory_uid: NotRequired[list[str]]
    """
    For clients of another server. No run of this one belongs to a factory, so any value matches nothing.
    """
    factory_only: NotRequired[Literal["true", "false"]]
    """
    `true` matches nothing, see `factory_uid`.
    """


class CreateShareLinkRequest(TypedDict):
    """
    What guests may do, and the lifetime of the link. At most one of the two times.
    """

    access: NotRequired[Literal["VIEWER", "EDITOR"]]
    """
    Default: `VIEWER`. `EDITOR` requires that the team's `sharing` is `editor`.
    """
    expires_at: NotRequired[str]
    """
    When the link expires: in the future, and within a year.
    """
    expires_in_seconds: NotRequired[int]
    """
    The lifetime of the link, instead of `expires_at`. Default: 7 days; maximum: one year.
    """


class CancelRunsRequest(TypedDict):
    """
    The runs to cancel: their ids, or a filter and the number of runs that it matches.
    """

    run_ids: NotRequired[list[str]]
    """
    The ids of the runs, at most 100.
    """
    filter: NotRequired[RunFilter]
    expected: NotRequired[int]
    """
    With `filter`: how many runs that have not ended it matches. If the number differs by more than a tenth, nothing is cancelled, and `matching_runs` of the 409 is the number.
    """


class RunOfBatchImage(TypedDict):
    """
    An entry of `RunOfBatchImages`.
    """

    data: str
    """
    The bytes, encoded as base64.
    """
    mime_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
    """
    The media type of the bytes.
    """


class RunOfBatchAttachment(TypedDict):
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


class RunOfBatch(TypedDict):
    """
    A new run, as in `POST /agent/runs`, and its key.
    """

    prompt: NotRequired[str]
    """
    The task, in words.
    """
    config: NotRequired[AmbientAgentConfig]
    title: NotRequired[str]
    """
    The title of the run. Default: the beginning of the prompt.
    """
    skill: NotRequired[str]
    """
    `[owner/]repo:name` or `[owner/]repo:path`. It takes precedence over `config.skill_spec`.
    """
    conversation_id: NotRequired[str]
    """
    A conversation to continue, with its files and, if the agent is the same, its memory. Values that `config` and `team` leave out are taken from the newest run of the conversation, except `name` and `skill_spec`.
    """
    parent_run_id: NotRequired[str]
    """
    The parent of the run.
    """
    team: NotRequired[bool]
    """
    false: only the creator and administrators can see the run. Default: true.
    """
    images: NotRequired[list[RunOfBatchImage]]
    """
    Images that belong to the prompt, for agents that accept images.
    """
    attachments: NotRequired[list[RunOfBatchAttachment]]
    """
    Files that belong to the prompt.
    """
    mode: NotRequired[Literal["normal", "plan", "orchestrate"]]
    """
    The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: `normal`.
    """
    interactive: NotRequired[bool]
    """
    true: `config.permission_policy` defaults to `ask`.
    """
    metadata: NotRequired[dict[str, Any]]
    """
    The caller's own labels of the run, by which runs can be listed. At most 20 pairs. Names have up to 64 characters of `a-z A-Z 0-9 . _ -`, values up to 256 bytes.
    """
    agent_identity_uid: NotRequired[str]
    """
    The uid of the named agent that executes the run. Values that `config` leaves out are taken from it. Default: the caller, if its key belongs to a named agent.
    """
    on_behalf_of: NotRequired[str]
    """
    The uid or the email address of an active member, who becomes the creator of the run. The run gets no personal secrets, and the member cannot approve it. For administrators, and for named agents with `on_behalf_of_enabled`.
    """
    webhook: NotRequired[RunWebhook]
    idempotency_key: NotRequired[str]
    """
    The key of this run, as the header `Idempotency-Key` of a single request. Default: one that is made from the header of this request and the position of the run.
    """


class CreateRunsRequest(TypedDict):
    """
    Several new runs. Each is accepted or refused by itself.
    """

    runs: list[RunOfBatch]
    """
    The runs to start, at most 50.
    """


KeyScope: TypeAlias = Literal[
    "runs:read", "runs:write", "settings:read", "settings:write", "admin"
]
"""
What a key allows at most. A write scope includes the read scope; `admin` includes all scopes.
"""


class CreateKeyRequest(TypedDict):
    """
    A new key.
    """

    name: str
    """
    A name for the list of keys.
    """
    scopes: NotRequired[list[KeyScope]]
    """
    At most the scopes of the caller's own key. Default: `runs:write`.
    """
    expires_at: NotRequired[str]
    """
    When the key expires: no later than the caller's own key, which is the default.
    """
    expires_in_days: NotRequired[int]
    """
    The lifetime in days, instead of `expires_at`.
    """
    principal_uid: NotRequired[str]
    """
    For administrators: the uid of the principal that will own the key. Default: the caller.
    """


class UpdateKeyRequest(TypedDict):
    """
    The members to change. Other members keep their value.
    """

    name: NotRequired[str]
    """
    A name for the list of keys.
    """
    expires_at: NotRequired[str]
    """
    When the key expires.
    """


class RotateKeyRequest(TypedDict):
    """
    How the old key ends.
    """

    overlap_seconds: NotRequired[int]
    """
    For how long the old key continues to work. Default: 0.
    """


class ExchangeKeyRequest(TypedDict):
    """
    The proof of what a CI workflow is.
    """

    token: str
    """
    The OpenID Connect token of the workflow's job.
    """
    expires_in: NotRequired[int]
    """
    The lifetime of the key in seconds. Default: an hour, which is also the most.
    """
    team_uid: NotRequired[str]
    """
    The team whose policy gives the key. Needed only if policies of several teams do.
    """


class DeviceCodeRequest(TypedDict):
    """
    A program that wants a key of the person in front of it.
    """

    client_name: NotRequired[str]
    """
    What the program calls itself. The person sees it, and it becomes the name of the key.
    """


class DeviceTokenRequest(TypedDict):
    """
    Asks for the key of a device code.
    """

    device_code: str
    """
    The secret of the program.
    """


class EnvironmentConfigGithubRepo(TypedDict):
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


class EnvironmentConfig(TypedDict):
    """
    What an agent works in: repositories, image and setup.
    """

    name: str
    """
    The name shown to people.
    """
    description: NotRequired[str]
    """
    The purpose of the environment.
    """
    docker_image: NotRequired[str]
    """
    The container image in which the setup commands and the agent run. Requires the docker sandbox.
    """
    github_repos: NotRequired[list[EnvironmentConfigGithubRepo]]
    """
    The repositories. Each run begins with a clone of each, and can use their skills.
    """
    sparse: NotRequired[list[str]]
    """
    The only folders of its repositories that are checked out, for large repositories. Files beside and above them, and folders of the root whose names begin with a dot, are there as well. The agent can widen the checkout with `git sparse-checkout add`. A repository that has none of them is checked out completely. Absent or empty: all.
    """
    setup_commands: NotRequired[list[str]]
    """
    Shell commands that prepare the workspace, run one after the other in the sandbox. If one fails, the run ends.
    """
    network: NotRequired[Literal["none", "internet"]]
    """
    `none` (default): the commands and the agent reach only the model, the run's repositories and its MCP servers. `internet`: they also reach public addresses.
    """
    pull_request: NotRequired[Literal["off", "draft", "ready"]]
    """
    What Errand does with changes in its repositories, if neither a request nor a routing rule says it. Default: requests of people in chats make a draft pull request where the team can open one, others none.
    """
    secrets: NotRequired[list[SecretRef]]
    """
    The only secrets of the team that its runs get, and no personal ones, if neither a request nor a named agent says it. Absent or empty: all of them.
    """
    failure_session_retention_minutes: NotRequired[int]
    """
    How long a run that FAILED keeps its agent and workspace, so that a follow-up can look into the failure there. Its secrets stay in use for that time. Absent: its processes end at once.
    """


class CreateEnvironmentRequest(TypedDict):
    """
    A new environment.
    """

    config: EnvironmentConfig
    team: NotRequired[bool]
    """
    false: only the creator and administrators can see and use it. Default: true.
    """


class ReplaceEnvironmentRequest(TypedDict):
    """
    The new configuration of the environment. Its owner does not change.
    """

    config: EnvironmentConfig


class UpdateRunFollowupRequest(TypedDict):
    """
    The new text of a follow-up that is held or waits for approval.
    """

    message: str
    """
    The text of the follow-up.
    """


class LinkIdentityRequest(TypedDict):
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


class ApplyPlatformAppRequest(TypedDict):
    """
    The tokens for the app of an external platform.
    """

    token: NotRequired[str]
    """
    A token of the platform that may create and update apps. Default: the stored one.
    """
    refresh_token: NotRequired[str]
    """
    Replaces the token when it has expired. Needed with `token`.
    """


class UpdateInstallationRequest(TypedDict):
    """
    The members to change. Other members keep their value.
    """

    name: NotRequired[str]
    """
    A name for the list of installations.
    """
    enabled: NotRequired[bool]
    """
    false: events from the installation are refused. Operators cannot enable what belongs to another team with an administrator.
    """
    team_uid: NotRequired[str]
    """
    For operators: the uid of the team that will own the installation. A team with an administrator is offered it (`offered_team_uid`), and an administrator of that team accepts by sending the uid of the team here. The uid of the present team takes an offer back. Existing runs keep their team.
    """


class McpServerRequest(TypedDict):
    """
    The whole content of the server. Members that are left out become empty.
    """

    name: str
    """
    Unique in the team.
    """
    description: NotRequired[str]
    """
    What the server is for.
    """
    config: MCPServerConfig
    """
    Exactly one of `command` and `url`. Values of `env` and `headers` are encrypted and never shown. A value that is sent back as `[redacted]` stays as it is.
    """


class CreateNamedAgentRequestHarness(TypedDict):
    """
    The agent program that does the work of its runs.
    """

    type: NotRequired[str]
    """
    A name of the agent catalogue. `oz` is the server's default agent.
    """
    model_id: NotRequired[str]
    """
    The model of this agent. It takes precedence over `model_id` of the configuration.
    """
    reasoning_level: NotRequired[str]
    """
    The reasoning level, as the agent names it.
    """


class CreateNamedAgentRequest(TypedDict):
    """
    A new named agent. Its runs take values that their requests leave out from it.
    """

    name: str
    """
    The name of the agent.
    """
    description: NotRequired[str]
    """
    What the agent is for.
    """
    prompt: NotRequired[str]
    """
    The base prompt of its runs: instructions for the whole session.
    """
    base_model: NotRequired[str]
    """
    The model of its runs.
    """
    harness: NotRequired[CreateNamedAgentRequestHarness]
    """
    The agent program that does the work of its runs.
    """
    environment_id: NotRequired[str]
    """
    The environment of its runs: one of the team.
    """
    mcp_servers: NotRequired[dict[str, Any]]
    """
    The MCP servers of its runs.
    """
    skills: NotRequired[list[str]]
    """
    The skills of its runs.
    """
    secrets: NotRequired[list[SecretRef]]
    """
    The only secrets of the team that its runs get. Empty: all of them. A request can name fewer of them.
    """
    worker_host: NotRequired[str]
    """
    The workers that execute its runs, by their name.
    """
    on_behalf_of_enabled: NotRequired[bool]
    """
    Whether its keys may start runs in the name of members (`on_behalf_of`). Default: false.
    """
    harness_auth_secrets: NotRequired[Any]
    """
    Stored and returned, but without effect: the response that accepts it names it as ignored.
    """
    base_harness: NotRequired[Any]
    """
    Stored and returned, but without effect: the response that accepts it names it as ignored.
    """
    credential_strategy: NotRequired[Any]
    """
    Stored and returned, but without effect: the response that accepts it names it as ignored.
    """


class UpdateNamedAgentRequestHarness(TypedDict):
    """
    The agent program that does the work of its runs.
    """

    type: NotRequired[str]
    """
    A name of the agent catalogue. `oz` is the server's default agent.
    """
    model_id: NotRequired[str]
    """
    The model of this agent. It takes precedence over `model_id` of the configuration.
    """
    reasoning_level: NotRequired[str]
    """
    The reasoning level, as the agent names it.
    """


class UpdateNamedAgentRequest(TypedDict):
    """
    The members to change. A member that is missing or null keeps its value. An empty text, list or object removes the value. Any other value replaces the old one as a whole.
    """

    name: NotRequired[str]
    """
    The name of the agent.
    """
    description: NotRequired[str]
    """
    What the agent is for.
    """
    prompt: NotRequired[str]
    """
    The base prompt of its runs: instructions for the whole session.
    """
    base_model: NotRequired[str]
    """
    The model of its runs.
    """
    harness: NotRequired[UpdateNamedAgentRequestHarness]
    """
    The agent program that does the work of its runs.
    """
    environment_id: NotRequired[str]
    """
    The environment of its runs: one of the team.
    """
    mcp_servers: NotRequired[dict[str, Any]]
    """
    The MCP servers of its runs.
    """
    skills: NotRequired[list[str]]
    """
    The skills of its runs.
    """
    secrets: NotRequired[list[SecretRef]]
    """
    The only secrets of the team that its runs get. Empty: all of them. A request can name fewer of them.
    """
    worker_host: NotRequired[str]
    """
    The workers that execute its runs, by their name.
    """
    on_behalf_of_enabled: NotRequired[bool]
    """
    Whether its keys may start runs in the name of members (`on_behalf_of`). Default: false.
    """
    harness_auth_secrets: NotRequired[Any]
    """
    Stored and returned, but without effect: the response that accepts it names it as ignored.
    """
    base_harness: NotRequired[Any]
    """
    Stored and returned, but without effect: the response that accepts it names it as ignored.
    """
    credential_strategy: NotRequired[Any]
    """
    Stored and returned, but without effect: the response that accepts it names it as ignored.
    """


class PolicyWorkflow(TypedDict):
    """
    CI workflows, by the OpenID Connect token of their job.
    """

    issuer: str
    """
    The issuer of the token, exactly as the token names it.
    """
    audience: NotRequired[str]
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


PolicyMatchAction: TypeAlias = Literal[
    "create", "follow_up", "steer", "cancel", "answer", "approve"
]
"""
The action on a run. `steer` is a follow-up with the delivery `interrupt` or `steer`: a policy for `follow_up` also applies to it, unless a policy that names `steer` matches. `approve` is allowed to administrators, and to principals that a policy allows by name.
"""


PolicyMatchRequestKind: TypeAlias = Literal[
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
"""
How a message asks for work. `mention`: it names the bot. `command`: a line begins with `/errand`. `description`: the text of a new issue or pull request names the bot. `review`: the text of a review does. `review_requested`: a person asks the account of the bot for a review. `label`: a person puts the label of the bot on an issue or pull request. Nobody names the bot with `changes_requested` (a review of a pull request of a run requests changes), `failing_checks` and `merge_conflict` (of such a pull request), `pull_request_opened` (which is reviewed only if a policy that allows it names this kind) and `new_commits` (of a pull request that is reviewed).
"""


PolicyMatchPrincipalType: TypeAlias = Literal["user", "service_account"]
"""
An entry of `PolicyMatchPrincipalTypes`.
"""


PolicyMatchRole: TypeAlias = Literal[
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
"""
Integrations prove one of these about the author of a message. `write`: may push to the repository. `member`: a full member of the workspace. The others are outsiders: `read` (may read the repository; a public one is read by everybody), `guest` (a guest of the workspace), `external` (of another workspace), `bot` (a program) and `outside` (without any permission). A caller of the API has none of these; the guest of a share link is a `guest`. `administrator`: an administrator of the team, wherever the request comes from.
"""


PolicyMatchPriority: TypeAlias = Literal["high", "normal", "low"]
"""
An entry of `PolicyMatchPriorities`.
"""


class PolicyMatch(TypedDict):
    """
    All conditions must hold. A list holds if one of its values matches. A condition about an unknown value does not hold. Without conditions, everything matches.
    """

    actions: NotRequired[list[PolicyMatchAction]]
    """
    The actions.
    """
    sources: NotRequired[list[RunSourceType]]
    """
    The sources of the request. API callers choose `CLI`, `GITHUB_ACTION` and `LOCAL` themselves. Therefore a policy that denies or requires approval for `API` also applies to these three.
    """
    integrations: NotRequired[list[str]]
    """
    Names of integrations.
    """
    installations: NotRequired[list[str]]
    """
    Workspaces, organisations or accounts, by the ids of their platform.
    """
    places: NotRequired[list[str]]
    """
    Channels or repositories, as the integration names them. `*` matches any characters.
    """
    request_kinds: NotRequired[list[PolicyMatchRequestKind]]
    """
    How messages ask for work, on platforms with several ways. Other requests have no kind.
    """
    principals: NotRequired[list[str]]
    """
    The uids of the principals that act.
    """
    principal_types: NotRequired[list[PolicyMatchPrincipalType]]
    """
    `user` (people), `service_account` (programs), or both.
    """
    environments: NotRequired[list[str]]
    """
    The uids of the run's environments.
    """
    agents: NotRequired[list[str]]
    """
    Names of the agent catalogue.
    """
    roles: NotRequired[list[PolicyMatchRole]]
    """
    What the caller is. One of the caller's roles is enough. A policy that allows or requires approval applies to outsiders of an integration only if it names their role.
    """
    bots: NotRequired[list[str]]
    """
    Ids of bots, as their platform gives them, such as `B024BE7LD`. Together with the role `bot`, it admits programs without an account, such as workflows and incoming webhooks.
    """
    groups: NotRequired[list[str]]
    """
    Groups of the caller, as the OpenID Connect issuer named them at the caller's last sign-in. One of them is enough. Callers who never signed in that way have none.
    """
    models: NotRequired[list[str]]
    """
    Ids of models, as the configuration of the run names them. A default model is not known.
    """
    priorities: NotRequired[list[PolicyMatchPriority]]
    """
    The priorities, as the configuration of the run names them. A run without one is `normal`.
    """
    repositories: NotRequired[list[str]]
    """
    Repositories as `owner/name`; `*` matches any characters. A policy that allows matches if all repositories of the run do; any other policy matches if one does.
    """
    relation: NotRequired[Literal["own", "others"]]
    """
    `own`: the caller created, requested or executes the run. `others`: every other run.
    """
    workflow: NotRequired[PolicyWorkflow]
    """
    With this condition the policy decides on no action. It lets workflows exchange the token of their job for a key of the principal in `principals` (`POST /agent/keys/exchange`), or, with the effect `deny`, not. `principals` must name one principal, and no other condition may be given.
    """


class PolicyRequest(TypedDict):
    """
    A new or replaced policy.
    """

    name: str
    """
    Unique in the team.
    """
    priority: NotRequired[int]
    """
    The lowest priority is evaluated first. Of equal priorities, the oldest is first. Default: 100.
    """
    enabled: NotRequired[bool]
    """
    Whether the rule is active. Default: true.
    """
    effect: Literal["allow", "deny", "require_approval"]
    """
    `require_approval` applies only to words for an agent (`create`, `follow_up`, `steer`). A new run is BLOCKED until a person approves it. A follow-up waits, and the run keeps its state.
    """
    match: NotRequired[PolicyMatch]
    reason: NotRequired[str]
    """
    Shown to callers that are refused or must wait.
    """
    refusal: NotRequired[Literal["comment", "reaction", "silent"]]
    """
    How a message that the policy refuses is answered in its thread: by a comment with the reason, by a reaction, or not at all. The inbox has the reason in each case. Default: as the file of the repository says, otherwise by a comment. Calls of the API always get the reason.
    """


EvaluatePolicyRequestRole: TypeAlias = Literal[
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
"""
Integrations prove one of these about the author of a message. `write`: may push to the repository. `member`: a full member of the workspace. The others are outsiders: `read` (may read the repository; a public one is read by everybody), `guest` (a guest of the workspace), `external` (of another workspace), `bot` (a program) and `outside` (without any permission). A caller of the API has none of these; the guest of a share link is a `guest`. `administrator`: an administrator of the team, wherever the request comes from.
"""


class EvaluatePolicyRequest(TypedDict):
    """
    A hypothetical action.
    """

    action: Literal["create", "follow_up", "steer", "cancel", "answer", "approve"]
    """
    The action on a run. `steer` is a follow-up with the delivery `interrupt` or `steer`: a policy for `follow_up` also applies to it, unless a policy that names `steer` matches. `approve` is allowed to administrators, and to principals that a policy allows by name.
    """
    source: NotRequired[RunSourceType]
    """
    Default: `API`.
    """
    principal_uid: NotRequired[str]
    """
    The uid of the principal that acts.
    """
    integration: NotRequired[str]
    """
    The integration of the request.
    """
    installation: NotRequired[str]
    """
    The workspace, organisation or account.
    """
    place: NotRequired[str]
    """
    The channel or repository.
    """
    request_kind: NotRequired[
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
    ]
    """
    How a message asks for work.
    """
    environment_id: NotRequired[str]
    """
    The environment of the run.
    """
    agent: NotRequired[str]
    """
    The agent of the run.
    """
    roles: NotRequired[list[EvaluatePolicyRequestRole]]
    """
    The roles of the caller.
    """
    bot: NotRequired[str]
    """
    The id of the bot that asks.
    """
    groups: NotRequired[list[str]]
    """
    The groups of the caller.
    """
    model: NotRequired[str]
    """
    The model that the configuration of the run names.
    """
    priority: NotRequired[Literal["high", "normal", "low"]]
    """
    The priority of the run. Unknown if absent.
    """
    repositories: NotRequired[list[str]]
    """
    The repositories of the run, as `owner/name`.
    """
    relation: NotRequired[Literal["own", "others"]]
    """
    Whether the run is the caller's own. Unknown if absent.
    """


class CreatePrincipalRequest(TypedDict):
    """
    A new user or service account.
    """

    type: Literal["user", "service_account"]
    """
    `user`: a person. `service_account`: a program.
    """
    display_name: str
    """
    The name shown on the pages.
    """
    email: NotRequired[str]
    """
    The email address.
    """
    photo_url: NotRequired[str]
    """
    The URL of a picture for the pages.
    """
    administrator: NotRequired[bool]
    """
    Whether the principal manages the team. Default: false.
    """
    team_uid: NotRequired[str]
    """
    For operators: the uid of another team. Default: the caller's team.
    """


class UpdatePrincipalRequest(TypedDict):
    """
    The members to change. Other members keep their value.
    """

    display_name: NotRequired[str]
    """
    The name shown on the pages. For a principal with exactly one external account, the name of that account replaces it.
    """
    email: NotRequired[str]
    """
    The email address.
    """
    photo_url: NotRequired[str]
    """
    The URL of a picture for the pages.
    """
    administrator: NotRequired[bool]
    """
    Whether the principal manages the team. A team always keeps at least one administrator.
    """
    disabled: NotRequired[bool]
    """
    true: the principal is disabled, and its keys stop working at once.
    """


class QuotaRequest(TypedDict):
    """
    A quota to set.
    """

    name: Literal["running_runs", "queued_runs", "runs_per_day", "cost_usd_per_month"]
    """
    `running_runs`: runs that a worker works on, without those that wait for a person. `queued_runs`: runs that wait for a worker. `runs_per_day`: runs created since midnight, UTC. `cost_usd_per_month`: what the runs created since the first of the month, UTC, have cost so far.
    """
    limit: float
    """
    A request for a run above it is refused. A run above `running_runs` is accepted, and waits.
    """
    scope: NotRequired[Literal["team", "key"]]
    """
    `team`: counted for the whole team. `key`: counted for each API key; only `runs_per_day`.
    """


class SetQuotasRequest(TypedDict):
    """
    The quotas of a team.
    """

    quotas: list[QuotaRequest]
    """
    All quotas of the team. One that is left out is removed.
    """


class RoutingMatch(TypedDict):
    """
    All conditions must hold. A list holds if one of its values matches.
    """

    integrations: NotRequired[list[str]]
    """
    Names of integrations.
    """
    installations: NotRequired[list[str]]
    """
    Workspaces, organisations or accounts, by the ids of their platform.
    """
    places: NotRequired[list[str]]
    """
    Channels or repositories, as the integration names them. `*` matches any characters.
    """
    text: NotRequired[list[str]]
    """
    Words or phrases of the request. Case is ignored.
    """
    sources: NotRequired[list[RunSourceType]]
    """
    The sources of the request. A request that did not come through an integration is matched only by rules that name its source.
    """


class RoutingRuleRequest(TypedDict):
    """
    A new or replaced routing rule.
    """

    name: str
    """
    Unique in the team.
    """
    priority: NotRequired[int]
    """
    The lowest priority is evaluated first. Of equal priorities, the oldest is first. Default: 100.
    """
    enabled: NotRequired[bool]
    """
    Whether the rule is active. Default: true.
    """
    match: NotRequired[RoutingMatch]
    environment_id: NotRequired[str]
    """
    The environment that the request gets.
    """
    config: NotRequired[AmbientAgentConfig]


class EvaluateRoutingRequest(TypedDict):
    """
    A hypothetical request.
    """

    text: NotRequired[str]
    """
    The text of the request.
    """
    source: NotRequired[RunSourceType]
    """
    Default: `API`.
    """
    integration: NotRequired[str]
    """
    The integration of the request.
    """
    installation: NotRequired[str]
    """
    The workspace, organisation or account.
    """
    place: NotRequired[str]
    """
    The channel or repository.
    """
    config: NotRequired[AmbientAgentConfig]


class PermissionAnswerRequest(TypedDict):
    """
    The answer to a permission request.
    """

    option_id: str
    """
    One of the agent's options: `permission.options` of the run.
    """


class ApprovalRequest(TypedDict):
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
    comment: NotRequired[str]
    """
    Published together with the decision.
    """


class ReplayWebhookDeliveriesRequest(TypedDict):
    """
    Selects dead deliveries to send again.
    """

    since: str
    """
    Deliveries created at or after this time.
    """
    until: NotRequired[str]
    """
    Deliveries created before this time.
    """


class ScheduleRequest(TypedDict):
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
    prompt: NotRequired[str]
    """
    The prompt of the runs. Required unless a skill is named.
    """
    mode: NotRequired[Literal["normal", "plan", "orchestrate"]]
    """
    The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: `normal`.
    """
    agent_uid: NotRequired[str]
    """
    The uid of the named agent that executes the runs. Default: the creator.
    """
    agent_config: NotRequired[AmbientAgentConfig]
    metadata: NotRequired[dict[str, Any]]
    """
    The caller's own labels of the run, by which runs can be listed. At most 20 pairs. Names have up to 64 characters of `a-z A-Z 0-9 . _ -`, values up to 256 bytes.
    """
    enabled: NotRequired[bool]
    """
    Whether the schedule is active. Default: true.
    """
    team: NotRequired[bool]
    """
    false: only the creator and administrators can see the schedule and its runs. Default: true.
    """


class ScheduleUpdateRequest(TypedDict):
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
    prompt: NotRequired[str]
    """
    The prompt of the runs. Required unless a skill is named.
    """
    mode: NotRequired[Literal["normal", "plan", "orchestrate"]]
    """
    The mode of the agent, for one turn. `plan` changes nothing, `orchestrate` divides the work. The agent's own mode of that name is used if it has one; otherwise the mode is described in the prompt. Default: `normal`.
    """
    agent_uid: NotRequired[str]
    """
    The uid of the named agent that executes the runs. Default: the creator.
    """
    agent_config: NotRequired[AmbientAgentConfig]
    metadata: NotRequired[dict[str, Any]]
    """
    The caller's own labels of the run, by which runs can be listed. At most 20 pairs. Names have up to 64 characters of `a-z A-Z 0-9 . _ -`, values up to 256 bytes.
    """
    enabled: bool
    """
    Whether the schedule is active.
    """


class PutSecretRequest(TypedDict):
    """
    The value of a secret.
    """

    value: str
    """
    The exact value. A value of at least 8 characters is replaced by `[redacted]` in all output of the runs that use it.
    """
    team: NotRequired[bool]
    """
    false: only for your own runs. Default: true.
    """


class TeamRequest(TypedDict):
    """
    The name of a team.
    """

    name: str
    """
    Unique on this server.
    """


class TeamUpdateRequest(TypedDict):
    """
    The members to change. Those that are left out stay as they are.
    """

    name: NotRequired[str]
    """
    Unique on this server.
    """
    sharing: NotRequired[Literal["off", "viewer", "editor"]]
    """
    What runs of the team may share with guests because their `config.session_sharing` says so: nothing, a link for viewing, or also a link for editing. Share links for editing exist only with `editor`.
    """


class ThreadChange(TypedDict):
    """
    How often the status card of the thread is updated.
    """

    verbosity: Literal["normal", "quiet"]
    """
    `quiet`: the status card changes only for a question and at the end. Messages are posted in both modes.
    """
