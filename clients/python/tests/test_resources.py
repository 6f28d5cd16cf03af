"""Every method of the client against a real server. The asynchronous client has the same code."""

from __future__ import annotations

import json
import os
import re
import uuid
from pathlib import Path

import pytest
from conftest import REQUESTS, Receiver, wait_for

import errand
from errand import (
    APIError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    Errand,
    NotFoundError,
    Omit,
    WebhookVerificationError,
    models,
)

UNKNOWN = "00000000-0000-7000-8000-000000000000"
RUN_SECRET = "whsec_ZXhhbXBsZSBvZiBhIHNlY3JldCBvZiB3ZWJob29rcw=="
DOCUMENT = Path(os.environ["ERRAND_OPENAPI"])
#: Aliases of other operations, addresses that are given by the server, and what redirects lead to.
WITHOUT_METHOD = {
    *("runAgent", "listTasks", "getTask", "cancelTask"),
    *("downloadRunTranscript", "downloadArtifactFile", "downloadRunArtifact", "downloadRunChanges"),
}


def ended_run(client: Errand, prompt: str) -> models.RunItem:
    return client.runs.wait_for_completion(client.runs.create(prompt=prompt).run_id)


def test_a_run_is_created_awaited_continued_read_and_deleted(client: Errand) -> None:
    run = ended_run(client, "write a.txt hello")
    assert (run.state, run.result and run.result.turn) == ("SUCCEEDED", 1)

    client.runs.follow_up(run.run_id, message="say again")
    again = client.runs.wait_for_completion(run.run_id)
    assert again.result is not None
    assert "again" in again.result.text

    assert [one.message for one in client.runs.follow_ups(run.run_id)] == ["say again"]
    updated = client.runs.update(run.run_id, title="Renamed", metadata={"ticket": "OPS-17"})
    assert (updated.title, updated.metadata) == ("Renamed", {"ticket": "OPS-17"})
    assert len(client.runs.conversation(run.run_id, limit=1).steps) == 1
    assert client.runs.timeline(run.run_id).events
    assert client.runs.changes(run.run_id).repositories == []
    assert client.runs.handoff_attachments(run.run_id).attachments == []
    assert client.runs.artifacts(run.run_id) == []
    with client.runs.transcript(run.run_id) as transcript:
        assert json.loads(next(transcript.iter_lines()))["kind"] == "run.created"
    assert [one.title for one in client.runs.list(metadata={"ticket": "OPS-17"})] == ["Renamed"]

    assert client.runs.harness_usage(run.run_id).available is False
    with pytest.raises(NotFoundError):
        client.runs.find_by_reference(url="https://git.example.com/acme/web/pull/404")

    # The worker may still be stopping the agent.
    wait_for(lambda: not client.runs.retrieve(run.run_id).is_sandbox_running or None, "the end of the agent")
    client.runs.delete(run.run_id)
    with pytest.raises(NotFoundError):
        client.runs.retrieve(run.run_id)


def test_runs_are_cancelled_one_by_one_and_together_and_a_run_is_repeated(client: Errand) -> None:
    created = client.runs.create_many(runs=[{"prompt": "sleep 600"}, {"prompt": "sleep 600"}, {"prompt": "sleep 600"}])
    first, *others = [one.run_id for one in created.results if one.run_id is not None]

    assert client.runs.cancel(first) == first
    assert [one.run_id for one in client.runs.cancel_many(run_ids=others).results] == others
    with pytest.raises(ConflictError):
        client.runs.cancel_matching(filter={"parent_run_id": first}, expected=2)
    assert client.runs.cancel_matching(filter={"parent_run_id": first}, expected=0).results == []

    assert client.runs.wait_for_completion(first).state == "CANCELLED"
    run_id = client.runs.retry(first).run_id
    assert client.runs.retrieve(run_id).parent_run_id == first
    client.runs.cancel(run_id)


def test_a_question_of_the_agent_is_answered(client: Errand) -> None:
    run_id = client.runs.create(prompt="ask; say done", interactive=True).run_id

    permission = client.runs.wait_for_completion(run_id, until_blocked=True).permission
    assert permission is not None
    client.runs.answer(run_id, permission.permission_id, option_id=permission.options[0].option_id)

    assert client.runs.wait_for_completion(run_id).state == "SUCCEEDED"


def test_a_run_that_a_policy_holds_back_is_approved_for_exactly_what_was_shown(client: Errand) -> None:
    policy = client.policies.create(name="Ask first", effect="require_approval", match={"sources": ["API"]})
    run_id = client.runs.create(prompt="say approved").run_id
    approval = client.runs.retrieve(run_id).approval
    assert approval is not None

    with pytest.raises(ConflictError):
        client.runs.approve(run_id, approve=True, inputs_hash="0" * 64)
    client.runs.approve(run_id, approve=True, inputs_hash=approval.inputs_hash)

    assert client.runs.wait_for_completion(run_id).state == "SUCCEEDED"
    client.policies.delete(policy.id)


def test_a_waiting_follow_up_is_changed_and_withdrawn(client: Errand) -> None:
    run_id = client.runs.create(prompt="sleep 600").run_id
    wait_for(lambda: client.runs.retrieve(run_id).state == "INPROGRESS", "the start")
    client.runs.follow_up(
        run_id,
        message="say one",
        attachments=[{"file_name": "a.txt", "mime_type": "text/plain", "data": "bG9n"}],
    )
    [follow_up] = client.runs.follow_ups(run_id)

    read = client.runs.with_raw_response.retrieve_follow_up(run_id, follow_up.followup_id)
    tag = read.headers["etag"]
    changed = client.runs.update_follow_up(run_id, follow_up.followup_id, message="say two", if_match=tag)
    with pytest.raises(APIError, match="changed meanwhile"):
        client.runs.update_follow_up(run_id, follow_up.followup_id, message="say three", if_match=tag)
    client.runs.withdraw_follow_up(run_id, follow_up.followup_id)

    assert changed.message == "say two"
    with pytest.raises(ConflictError):
        client.runs.withdraw_follow_up(run_id, follow_up.followup_id)
    client.runs.cancel(run_id)


def test_a_comment_on_a_changed_line_is_kept_and_sent_with_a_follow_up(client: Errand) -> None:
    run_id = ended_run(client, "say commented").run_id
    kept, other = str(uuid.uuid4()), str(uuid.uuid4())
    for draft_id in (kept, other):
        client.runs.put_draft_comment(run_id, draft_id, path="a.ts", side="right", line=2, hunk="+two", body="Why?")
    client.runs.delete_draft_comment(run_id, other)

    drafts = [draft.draft_id for draft in client.runs.draft_comments(run_id)]
    client.runs.follow_up(
        run_id,
        comments=[
            {"path": "a.ts", "side": "right", "line": 2, "hunk": "+two", "body": "Why?", "draft_id": kept},
        ],
    )
    [follow_up] = client.runs.follow_ups(run_id)

    assert drafts == [kept]
    assert list(client.runs.draft_comments(run_id)) == []
    assert [(one.path, one.line, one.body) for one in follow_up.comments or []] == [("a.ts", 2, "Why?")]


def test_a_run_is_shared_by_a_link_that_can_be_deleted(client: Errand) -> None:
    run_id = ended_run(client, "say shared").run_id

    link = client.runs.share(run_id, access="VIEWER", expires_in_seconds=3600)
    links = [one.id for one in client.runs.share_links(run_id)]
    client.runs.unshare(run_id, link.id)

    assert links == [link.id]
    assert list(client.runs.share_links(run_id)) == []


def test_a_file_that_an_agent_leaves_is_found_and_downloaded(client: Errand) -> None:
    [artifact] = client.runs.artifacts(ended_run(client, "write artifacts/report.txt found").run_id)
    assert isinstance(artifact, models.FileArtifact)
    uid = artifact.data.artifact_uid

    assert isinstance(client.artifacts.retrieve(uid), models.FileArtifactDetails)
    with client.artifacts.download(uid) as response:
        assert response.read() == b"found\n"


def test_the_conversation_of_a_session_is_found_by_either_id(client: Errand) -> None:
    run = ended_run(client, "say found")
    assert run.conversation_id is not None
    assert run.session_id is not None

    assert client.conversations.retrieve(run.conversation_id).conversation_id == run.conversation_id
    assert client.conversations.session(run.conversation_id).session_id == run.session_id
    assert client.conversations.of_session(run.session_id).conversation_id == run.conversation_id
    with client.conversations.transcript(run.conversation_id) as transcript:
        assert json.loads(next(transcript.iter_lines()))["kind"] == "run.created"
    with pytest.raises(NotFoundError), client.conversations.screenshot(run.conversation_id, UNKNOWN):
        pass
    with pytest.raises(ConflictError):
        client.runs.interrupt(run.run_id)
    with pytest.raises(ConflictError):
        client.conversations.interrupt(run.conversation_id)
    sent = client.conversations.follow_up(run.conversation_id, message="say more")
    assert (sent.run_id, sent.outcome) == (run.run_id, "handoff_execution")


def test_listeners_get_the_text_the_tool_calls_the_questions_and_the_states_of_a_run(client: Errand) -> None:
    run_id = client.runs.create(prompt="write a.txt x; ask; say done", interactive=True).run_id
    texts: list[str] = []
    tools: list[str | None] = []
    states: list[str] = []

    def answer(question: models.PermissionRequestedEventRequest, event: models.PermissionRequestedEvent) -> None:
        client.runs.answer(run_id, question.permission_id, option_id=question.options[0].option_id)

    run = (
        client.runs.stream(run_id)
        .on("text", lambda text, event: texts.append(text))
        .on("tool", lambda call, event: tools.append(call.status))
        .on("question", answer)
        .on("state", lambda state, event: states.append(state))
        .finished()
    )

    assert run.state == "SUCCEEDED"
    assert "done" in "".join(texts)
    assert "completed" in tools
    assert {"CLAIMED", "INPROGRESS", "BLOCKED", "SUCCEEDED"} <= set(states)


def test_a_page_of_stored_events_is_read_from_either_end(client: Errand) -> None:
    run_id = ended_run(client, "say x").run_id

    last = client.runs.stored_events(run_id, tail=20).events
    [first] = client.runs.stored_events(run_id, after=0, limit=1).events

    assert any(isinstance(event, models.RunStateEvent) and event.to == "SUCCEEDED" for event in last)
    assert isinstance(first, models.RunCreatedEvent)


def test_the_events_of_all_runs_are_yielded_live(client: Errand) -> None:
    after = client.events.list(limit=1).next_after
    run_id = client.runs.create(prompt="say x").run_id
    seen = []

    for event in client.events.stream(after=after):
        seen.append(event)
        if isinstance(event, models.RunStateEvent) and event.run_id == run_id and event.to == "SUCCEEDED":
            break

    assert len(seen) > 3


def test_environments_schedules_secrets_and_mcp_servers_are_created_read_changed_and_deleted(client: Errand) -> None:
    uid = client.environments.create(config={"name": "site", "setup_commands": ["true"]}).uid
    client.environments.replace(uid, config={"name": "site", "description": "The site"})
    assert client.environments.retrieve(uid).config.description == "The site"
    assert uid in [one.uid for one in client.environments.list()]
    test = client.environments.test(uid)
    assert client.runs.wait_for_completion(test.run_id).state == "SUCCEEDED"
    client.environments.delete(uid)

    schedule = client.schedules.create(name="Nightly", cron_schedule="0 3 * * *", prompt="say night")
    assert not client.schedules.pause(schedule.id).enabled
    assert client.schedules.resume(schedule.id).enabled
    client.schedules.replace(schedule.id, name="Late", cron_schedule="0 3 * * *", prompt="say night", enabled=True)
    assert client.schedules.retrieve(schedule.id).name == "Late"
    assert [one.id for one in client.schedules.list()] == [schedule.id]
    client.schedules.delete(schedule.id)

    client.secrets.put("NPM_TOKEN", value="npm-secret-value")
    assert "npm-secret-value" not in client.secrets.retrieve("NPM_TOKEN").model_dump_json()
    assert [one.name for one in client.secrets.list()] == ["NPM_TOKEN"]
    client.secrets.delete("NPM_TOKEN")

    server = client.mcp_servers.create(name="Wiki", config={"url": "https://wiki.example.com/mcp"})
    client.mcp_servers.replace(
        server.uid, name="Wiki", config={"url": "https://wiki.example.com/mcp"}, description="Finds"
    )
    assert client.mcp_servers.retrieve(server.uid).description == "Finds"
    assert len(list(client.mcp_servers.list())) == 1
    client.mcp_servers.delete(server.uid)


def test_policies_and_routing_rules_are_created_read_changed_evaluated_and_deleted(client: Errand) -> None:
    policy = client.policies.create(name="No production", effect="deny", match={"environments": ["x"]})
    client.policies.replace(policy.id, name="No production", effect="deny", match={"environments": ["x"]}, reason="Ask")
    assert client.policies.retrieve(policy.id).reason == "Ask"
    assert policy.id in [one.id for one in client.policies.list()]
    assert list(client.policies.list(limit=1)) == list(client.policies.list())
    assert client.policies.evaluate(action="create", environment_id="x").effect == "deny"
    client.policies.delete(policy.id)

    rule = client.routing_rules.create(name="Shop", match={"text": ["cart"]}, config={"base_prompt": "Be brief."})
    client.routing_rules.replace(rule.id, name="Shop", match={"text": ["cart"]}, config={}, priority=7)
    assert client.routing_rules.retrieve(rule.id).priority == 7
    assert len(list(client.routing_rules.list())) == 1
    result = client.routing_rules.evaluate(text="Fix the cart", source="SLACK")
    assert rule.id in result.model_dump_json()
    client.routing_rules.delete(rule.id)


def test_a_failed_run_says_until_when_it_is_kept_and_that_an_agent_can_look_into_its_setup(client: Errand) -> None:
    environment = client.environments.create(
        config={"name": "broken", "setup_commands": ["exit 3"], "failure_session_retention_minutes": 1}
    )
    created = client.runs.create(prompt="say hi", config={"environment_id": environment.uid})

    failed = client.runs.wait_for_completion(created.run_id)

    assert environment.config.failure_session_retention_minutes == 1
    assert failed.debug_agent_available is True
    assert failed.status_message is not None
    assert failed.status_message.session_debug_until is not None
    client.runs.cancel(created.run_id)
    client.environments.delete(environment.uid)


def test_webhooks_are_created_tested_changed_and_deleted_and_their_messages_are_verified(
    client: Errand, receiver: Receiver
) -> None:
    webhook = client.webhooks.create(url=receiver.url)
    secret = client.webhooks.rotate_secret(webhook.id, overlap_seconds=0).secret
    run = ended_run(client, "say hello")
    headers, body = wait_for(
        lambda: next((post for post in receiver.posts if "run.succeeded" in post[1] and run.run_id in post[1]), None),
        "a post",
    )

    message = client.webhooks.unwrap(body, headers, secret=secret)
    assert (message.type, message.data["run_id"]) == ("run.succeeded", run.run_id)
    forged: list[tuple[str, dict[str, str], str]] = [
        (body.replace("SUCCEEDED", "FAILED"), headers, secret),
        (body, headers, webhook.secret),
        (body, headers, "not a secret"),
        (body, {**headers, "webhook-timestamp": "1"}, secret),
        (body, {**headers, "webhook-timestamp": "now"}, secret),
        (body, {**headers, "webhook-signature": "v1,%%% v2,x"}, secret),
        (body, {}, secret),
    ]
    for one_body, one_headers, one_secret in forged:
        lower = {name.lower(): value for name, value in one_headers.items()}
        with pytest.raises(WebhookVerificationError):
            client.webhooks.unwrap(one_body, lower, secret=one_secret)

    delivery = client.webhooks.deliveries(webhook.id, limit=1).first_page().deliveries[0]
    # The try is recorded after the receiver has answered.
    wait_for(lambda: client.webhooks.delivery(webhook.id, delivery.id).history, "the history")
    assert client.webhooks.replay(webhook.id, delivery.id).id == delivery.id
    assert client.webhooks.replay_many(webhook.id, since="2026-03-01T09:00:00Z").count == 0
    assert client.webhooks.test(webhook.id).type == "webhook.test"
    assert not client.webhooks.update(webhook.id, enabled=False).enabled
    assert client.webhooks.retrieve(webhook.id).url == receiver.url
    assert [one.id for one in client.webhooks.list()] == [webhook.id]
    client.webhooks.delete(webhook.id)


def test_the_webhook_of_one_run_has_deliveries_that_can_be_sent_again(client: Errand, receiver: Receiver) -> None:
    run_id = client.runs.create(prompt="say x", webhook={"url": receiver.url, "secret": RUN_SECRET}).run_id
    client.runs.wait_for_completion(run_id)

    delivery = wait_for(lambda: next(iter(client.runs.webhook_deliveries(run_id)), None), "a delivery")

    assert client.runs.replay_webhook_delivery(run_id, delivery.id).id == delivery.id


def test_principals_keys_agents_teams_and_identity_links_are_created_changed_and_ended(
    client: Errand, address: str
) -> None:
    person = client.principals.create(type="user", display_name="Ada")
    assert client.principals.update(person.uid, display_name="Ada L.").display_name == "Ada L."
    assert client.principals.retrieve(person.uid).display_name == "Ada L."
    assert len(list(client.principals.list())) > 1

    key = client.keys.create(name="CI", scopes=["runs:write"], principal_uid=person.uid)
    with Errand(base_url=address, api_key=key.key) as as_person:
        assert as_person.whoami().principal.uid == person.uid
    assert client.keys.update(key.id, name="Nightly").name == "Nightly"
    rotated = client.keys.rotate(key.id, overlap_seconds=0)
    assert client.keys.retrieve(rotated.id).name == "Nightly"
    assert rotated.id in [one.id for one in client.keys.list(principal=person.uid)]
    client.keys.revoke(rotated.id, descendants=True)
    assert client.keys.revoke_all(person.uid).revoked >= 0

    link = client.identity_links.create(subject="slack:T1:U1", principal_uid=person.uid)
    assert [one.id for one in client.identity_links.list()] == [link.id]
    client.identity_links.delete(link.id)
    client.principals.disable(person.uid)
    assert client.principals.retrieve(person.uid).disabled

    agent = client.agents.create(name="Reviewer", prompt="Be strict.")
    assert client.agents.update(agent.uid, prompt="Be brief.").prompt == "Be brief."
    assert client.agents.retrieve(agent.uid).name == "Reviewer"
    assert agent.uid in [one.uid for one in client.agents.list()]
    client.agents.delete(agent.uid)

    team = client.teams.create(name="Platform")
    assert client.teams.update(team.uid, name="Infrastructure").name == "Infrastructure"
    assert client.teams.retrieve(team.uid).uid == team.uid
    assert team.uid in [one.uid for one in client.teams.list()]


def test_quotas_are_set_for_a_team_and_listed_with_their_use(client: Errand) -> None:
    team_uid = client.whoami().team.uid
    client.quotas.set(team_uid, quotas=[{"name": "runs_per_day", "scope": "key", "limit": 1_000_000}])
    [before] = client.quotas.list()
    client.runs.create(prompt="say x")
    [after] = client.quotas.list()

    assert (before.name, before.scope, before.limit) == ("runs_per_day", "key", 1_000_000)
    assert after.used == before.used + 1
    assert client.quotas.set(team_uid, quotas=[]).quotas == []


def test_sign_ins_are_listed_and_an_unknown_one_cannot_be_ended(client: Errand) -> None:
    assert list(client.sign_ins.list()) == []
    with pytest.raises(NotFoundError):
        client.sign_ins.end(UNKNOWN)
    client.sign_ins.end_all(client.whoami().principal.uid)


def test_a_token_that_no_policy_trusts_gives_no_key(client: Errand) -> None:
    with pytest.raises(AuthenticationError) as error:
        client.keys.exchange(token="e30.e30.e30")
    assert error.value.problem["detail"] == "No policy trusts the issuer of this token."


def test_a_program_gets_a_device_code_and_no_key_before_a_person_allows_it(client: Errand) -> None:
    code = client.device_codes.create(client_name="a test")
    with pytest.raises(BadRequestError) as error:
        client.device_codes.token(code.device_code)
    assert len(code.user_code) == 9
    assert error.value.problem["reason"] == "authorization_pending"


def test_skills_models_agents_workers_usage_audit_and_the_doctor_are_read(client: Errand) -> None:
    assert list(client.skills.list()) == []
    assert client.models.list().first_page().default_model_id
    assert "demo" in [one.name for one in client.catalogue.list()]
    assert client.runs.wait_for_completion(client.catalogue.test("demo").run_id).state == "SUCCEEDED"
    assert client.workers.list().first_page().workers is not None
    assert client.workers.egress_ranges().cidrs == []
    assert client.usage.retrieve(group_by=["source"]).usage
    assert len(client.doctor.retrieve().checks) > 3
    assert len({entry.action for entry in client.audit.list(limit=5)}) > 5


def test_threads_inbox_notices_and_installations_are_listed_and_unknown_ones_are_not_found(client: Errand) -> None:
    run_id = ended_run(client, "say x").run_id

    assert list(client.threads.list(run_id=run_id)) == []
    assert list(client.inbox.list(run_id=run_id)) == []
    assert list(client.notices.list(run_id=run_id)) == []
    assert list(client.installations.list()) == []
    assert [guide.title for guide in client.installations.guides().guides] == ["Slack", "GitHub"]
    with pytest.raises(NotFoundError):
        client.threads.retrieve(UNKNOWN)
    with pytest.raises(NotFoundError):
        client.installations.retrieve(UNKNOWN)
    with pytest.raises(NotFoundError):
        client.threads.update(UNKNOWN, verbosity="quiet")
    with pytest.raises(NotFoundError):
        client.inbox.retry(UNKNOWN)
    with pytest.raises(NotFoundError):
        client.notices.retry(UNKNOWN)
    with pytest.raises(NotFoundError):
        client.installations.update(UNKNOWN, enabled=False)
    with pytest.raises(NotFoundError):
        client.installations.remove_settings("slack")
    with pytest.raises(NotFoundError):
        client.installations.apply_app("github")


def test_an_invalid_request_names_its_issues_and_what_to_do(client: Errand) -> None:
    with pytest.raises(BadRequestError) as error:
        client.runs.create(prompt="")

    assert (error.value.status, error.value.code) == (400, "invalid_request")
    assert error.value.remedy
    assert error.value.request_id


def test_every_operation_of_the_api_has_been_called_by_a_method_of_the_client() -> None:
    """Runs last, because it looks at the requests of all tests before."""
    missing = {
        operation["operationId"]
        for path, operations in json.loads(DOCUMENT.read_text())["paths"].items()
        for method, operation in operations.items()
        if not any(re.fullmatch(f"{method.upper()} {pattern_of(path)}", request) for request in REQUESTS)
    }

    # The client follows redirects to some of the others.
    assert missing - WITHOUT_METHOD == set()


def test_every_class_has_a_name_that_can_be_imported() -> None:
    assert all(hasattr(errand, name) for name in errand.__all__)
    assert not Omit()


def pattern_of(path: str) -> str:
    return re.sub(r"\{\w+\}", "[^/]+", path.removeprefix("/api/v1"))
