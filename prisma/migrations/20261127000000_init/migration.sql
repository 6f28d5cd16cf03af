-- The whole schema of the database. The tables, keys and plain indexes are also in prisma/schema.prisma. Functions, triggers,
-- generated columns, statistics and indexes of some rows are only here, because that schema cannot express them.

-- What the indexes of the list of runs have of a value of any length. It is short, so that it can be in all of them. Two
-- values may have the same hash.
CREATE FUNCTION filter_hash(value text) RETURNS smallint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT (pg_catalog.hashtext(value) OPERATOR(pg_catalog.>>) 16)::pg_catalog.int2 $$;

CREATE TABLE teams (
    id uuid NOT NULL,
    name text NOT NULL,
    created_at timestamp(6) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(6) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    sharing text DEFAULT 'off'::text NOT NULL,
    quotas jsonb,
    CONSTRAINT teams_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX teams_name_key ON teams (name);

CREATE TABLE deleted_run_uses (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    api_key_id uuid,
    cost_usd numeric(14,6),
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT deleted_run_uses_pkey PRIMARY KEY (id)
);

CREATE INDEX deleted_run_uses_created_at_idx ON deleted_run_uses (created_at);
CREATE INDEX deleted_run_uses_team_id_created_at_idx ON deleted_run_uses (team_id, created_at);

CREATE TABLE team_claims (
    team_id uuid NOT NULL,
    claimed_at timestamp(6) with time zone NOT NULL,
    CONSTRAINT team_claims_pkey PRIMARY KEY (team_id)
);

CREATE TABLE principals (
    id uuid NOT NULL,
    type text NOT NULL,
    display_name text,
    email text,
    photo_url text,
    administrator boolean DEFAULT false NOT NULL,
    created_at timestamp(6) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    disabled boolean DEFAULT false NOT NULL,
    team_id uuid NOT NULL,
    updated_at timestamp(6) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    groups text[] DEFAULT ARRAY[]::text[],
    role_from_group boolean,
    suspended_at timestamp(3) with time zone,
    CONSTRAINT principals_pkey PRIMARY KEY (id)
);

CREATE INDEX principals_team_id_id_idx ON principals (team_id, id);

CREATE TABLE named_agents (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    description text,
    config jsonb NOT NULL,
    secret_names text[] DEFAULT ARRAY[]::text[],
    on_behalf_of_enabled boolean DEFAULT false NOT NULL,
    others jsonb NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT named_agents_pkey PRIMARY KEY (id)
);

CREATE INDEX named_agents_team_id_created_at_idx ON named_agents (team_id, created_at);

CREATE TABLE identities (
    subject text NOT NULL,
    principal_id uuid NOT NULL,
    created_at timestamp(6) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    team_id uuid NOT NULL,
    linked_at timestamp(3) with time zone,
    CONSTRAINT identities_pkey PRIMARY KEY (team_id, subject)
);

CREATE UNIQUE INDEX identities_id_key ON identities (id);
CREATE INDEX identities_principal_id_idx ON identities (principal_id);
CREATE INDEX identities_subject_idx ON identities (subject);

CREATE TABLE api_keys (
    hash text NOT NULL,
    principal_id uuid NOT NULL,
    created_at timestamp(6) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    created_by uuid,
    expires_at timestamp(3) with time zone,
    hint text DEFAULT ''::text NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    last_used_at timestamp(3) with time zone,
    name text DEFAULT ''::text NOT NULL,
    revoked_at timestamp(3) with time zone,
    scopes text[],
    created_by_key uuid,
    CONSTRAINT api_keys_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX api_keys_hash_key ON api_keys (hash);
CREATE INDEX api_keys_principal_id_idx ON api_keys (principal_id);

CREATE TABLE runs (
    id uuid NOT NULL,
    title text NOT NULL,
    prompt text NOT NULL,
    context text,
    mode text,
    source text NOT NULL,
    creator_id uuid NOT NULL,
    team_owned boolean NOT NULL,
    config jsonb NOT NULL,
    agent text NOT NULL,
    metadata jsonb NOT NULL,
    metadata_pairs text[],
    config_name text,
    model_id text,
    environment_id text,
    skill text,
    schedule_id uuid,
    artifact_types text[] DEFAULT ARRAY[]::text[],
    trigger_url text,
    ancestor_ids uuid[],
    conversation_id uuid NOT NULL,
    session_id uuid NOT NULL,
    provenance jsonb NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    state text NOT NULL,
    status_message jsonb,
    started_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    turn integer DEFAULT 0 NOT NULL,
    turn_open boolean DEFAULT false NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    lost_attempts integer DEFAULT 0 NOT NULL,
    agent_session_id text,
    checkpoint text,
    permission jsonb,
    answer text,
    last_write_id uuid,
    last_seq integer DEFAULT 0 NOT NULL,
    lease_token uuid,
    lease_worker text,
    lease_expires_at timestamp(6) with time zone,
    approval jsonb,
    continues_run_id uuid,
    cost_usd numeric(14,6),
    skill_snapshot jsonb,
    team_id uuid NOT NULL,
    total_tokens bigint DEFAULT 0 NOT NULL,
    creator_hash smallint GENERATED ALWAYS AS (filter_hash((creator_id)::text)) STORED,
    environment_hash smallint GENERATED ALWAYS AS (filter_hash(environment_id)) STORED,
    name_hash smallint GENERATED ALWAYS AS (filter_hash(config_name)) STORED,
    model_hash smallint GENERATED ALWAYS AS (filter_hash(model_id)) STORED,
    skill_hash smallint GENERATED ALWAYS AS (filter_hash(skill)) STORED,
    schedule_hash smallint GENERATED ALWAYS AS (filter_hash((schedule_id)::text)) STORED,
    agent_version text,
    executor_id uuid,
    requester_id uuid,
    secret_names text[] DEFAULT ARRAY[]::text[],
    state_since timestamp(3) with time zone,
    warnings text[] DEFAULT ARRAY[]::text[],
    others_wrote boolean,
    skill_snapshots jsonb,
    prepares_only boolean,
    waiting_follow_up jsonb,
    agent_workspace text,
    disk text,
    checkpoint_gaps text,
    activity jsonb,
    pull_request text,
    api_key_id uuid,
    checkpoint_at timestamp(3) with time zone,
    checkpoint_delta text,
    work_checkpoint text,
    pull_request_status jsonb,
    slot_wait_ms integer,
    executes jsonb,
    outcome jsonb,
    CONSTRAINT runs_pkey PRIMARY KEY (id)
);

-- The list of runs has an index for each order and filter. Each contains what other filters ask for as well, so that two
-- filters together are found by one index.
CREATE INDEX runs_by_creator_idx ON runs (team_id, creator_hash, updated_at, id, state, source, environment_hash, name_hash, model_hash, skill_hash, schedule_hash);
CREATE INDEX runs_by_environment_idx ON runs (team_id, environment_hash, updated_at, id, state, source, creator_hash, name_hash, model_hash, skill_hash, schedule_hash);
CREATE INDEX runs_by_executor_idx ON runs (team_id, COALESCE(executor_id, creator_id), updated_at, id, state, source, creator_hash, environment_hash, name_hash, model_hash, skill_hash, schedule_hash);
CREATE INDEX runs_by_source_idx ON runs (team_id, source, updated_at, id, state, creator_hash, environment_hash, name_hash, model_hash, skill_hash, schedule_hash);
CREATE INDEX runs_by_state_idx ON runs (team_id, state, updated_at, id, source, creator_hash, environment_hash, name_hash, model_hash, skill_hash, schedule_hash);
CREATE INDEX runs_by_update_idx ON runs (team_id, updated_at, id, created_at);
CREATE INDEX runs_conversation_id_created_at_idx ON runs (conversation_id, created_at);
CREATE UNIQUE INDEX runs_session_id_key ON runs (session_id);
CREATE INDEX runs_team_id_agent_id_idx ON runs (team_id, agent, id);
CREATE INDEX runs_team_id_created_at_id_idx ON runs (team_id, created_at, id);
CREATE INDEX runs_team_id_title_id_idx ON runs (team_id, title, id);

-- Most runs are in none of these indexes, because every change of a run writes to all of its indexes. An index of an array
-- has no order, so each type of artifact has an index of its own.
CREATE INDEX runs_ancestors_idx ON runs USING gin (ancestor_ids) WHERE (ancestor_ids <> '{}'::uuid[]);
CREATE INDEX runs_by_external_reference_idx ON runs (team_id, updated_at, id, state, source, creator_hash, environment_hash, name_hash, model_hash, skill_hash, schedule_hash) WHERE (artifact_types @> '{EXTERNAL_REFERENCE}'::text[]);
CREATE INDEX runs_by_file_idx ON runs (team_id, updated_at, id, state, source, creator_hash, environment_hash, name_hash, model_hash, skill_hash, schedule_hash) WHERE (artifact_types @> '{FILE}'::text[]);
CREATE INDEX runs_by_model_idx ON runs (team_id, model_hash, updated_at, id, state, source, creator_hash, environment_hash, name_hash, skill_hash, schedule_hash) WHERE (model_hash IS NOT NULL);
CREATE INDEX runs_by_name_idx ON runs (team_id, name_hash, updated_at, id, state, source, creator_hash, environment_hash, model_hash, skill_hash, schedule_hash) WHERE (name_hash IS NOT NULL);
CREATE INDEX runs_by_plan_idx ON runs (team_id, updated_at, id, state, source, creator_hash, environment_hash, name_hash, model_hash, skill_hash, schedule_hash) WHERE (artifact_types @> '{PLAN}'::text[]);
CREATE INDEX runs_by_pull_request_idx ON runs (team_id, updated_at, id, state, source, creator_hash, environment_hash, name_hash, model_hash, skill_hash, schedule_hash) WHERE (artifact_types @> '{PULL_REQUEST}'::text[]);
CREATE INDEX runs_by_schedule_idx ON runs (team_id, schedule_hash, updated_at, id, state, source, creator_hash, environment_hash, name_hash, model_hash, skill_hash) WHERE (schedule_hash IS NOT NULL);
CREATE INDEX runs_by_screenshot_idx ON runs (team_id, updated_at, id, state, source, creator_hash, environment_hash, name_hash, model_hash, skill_hash, schedule_hash) WHERE (artifact_types @> '{SCREENSHOT}'::text[]);
CREATE INDEX runs_by_skill_idx ON runs (team_id, skill_hash, updated_at, id, state, source, creator_hash, environment_hash, name_hash, model_hash, schedule_hash) WHERE (skill_hash IS NOT NULL);
CREATE INDEX runs_environment_idx ON runs (environment_id, created_at) WHERE (environment_id IS NOT NULL);
CREATE INDEX runs_leased_idx ON runs (lease_expires_at) WHERE (lease_expires_at IS NOT NULL);
CREATE INDEX runs_long_idx ON runs (team_id, updated_at, id) WHERE ((updated_at - created_at) > '06:00:00'::interval);
CREATE INDEX runs_metadata_idx ON runs USING gin (metadata_pairs) WHERE (metadata_pairs <> '{}'::text[]);
CREATE INDEX runs_skill_created_idx ON runs (team_id, skill, created_at) WHERE (skill IS NOT NULL);
CREATE INDEX runs_waiting_by_team_idx ON runs (team_id, COALESCE(state_since, created_at)) WHERE ((state = 'QUEUED'::text) AND (lease_token IS NULL));
CREATE INDEX runs_waiting_idx ON runs (updated_at) WHERE ((state = 'QUEUED'::text) AND (lease_token IS NULL));

-- The planner learns from it how few runs live long.
CREATE STATISTICS runs_length ON (updated_at - created_at) FROM runs;

CREATE TABLE run_search_texts (
    run_id uuid NOT NULL,
    text text NOT NULL,
    CONSTRAINT run_search_texts_pkey PRIMARY KEY (run_id)
);

CREATE TABLE run_events (
    run_id uuid NOT NULL,
    seq integer NOT NULL,
    turn integer NOT NULL,
    at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    kind text NOT NULL,
    body jsonb NOT NULL,
    "position" bigint DEFAULT ((pg_current_xact_id())::text)::bigint NOT NULL,
    CONSTRAINT run_events_pkey PRIMARY KEY (run_id, seq)
);

CREATE INDEX run_events_position_idx ON run_events ("position");
CREATE INDEX run_events_turn_ended_idx ON run_events (run_id, seq) WHERE (kind = 'turn.ended'::text);

CREATE TABLE follow_ups (
    id uuid NOT NULL,
    run_id uuid NOT NULL,
    seq integer NOT NULL,
    message text NOT NULL,
    mode text,
    delivery text NOT NULL,
    author_id uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    turn integer,
    private boolean DEFAULT false NOT NULL,
    by_guest boolean DEFAULT false NOT NULL,
    edited_at timestamp(3) with time zone,
    is_answer boolean DEFAULT false NOT NULL,
    resumes boolean DEFAULT false NOT NULL,
    source text DEFAULT 'API'::text NOT NULL,
    withdrawn_at timestamp(3) with time zone,
    approval jsonb,
    context text,
    message_ref text,
    thread_id uuid,
    files jsonb,
    is_report boolean DEFAULT false NOT NULL,
    CONSTRAINT follow_ups_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX follow_ups_run_id_seq_key ON follow_ups (run_id, seq);
CREATE INDEX follow_ups_run_id_turn_idx ON follow_ups (run_id, turn);

CREATE TABLE threads (
    id uuid NOT NULL,
    adapter text NOT NULL,
    installation text NOT NULL,
    key text NOT NULL,
    run_id uuid,
    created_at timestamp(6) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    verbosity text DEFAULT 'normal'::text NOT NULL,
    needs_mention boolean DEFAULT false NOT NULL,
    participants text[] DEFAULT ARRAY[]::text[],
    CONSTRAINT threads_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX threads_adapter_installation_key_key ON threads (adapter, installation, key);
CREATE INDEX threads_run_id_idx ON threads (run_id);

CREATE TABLE thread_runs (
    thread_id uuid NOT NULL,
    run_id uuid NOT NULL,
    bound_at timestamp(6) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    CONSTRAINT thread_runs_pkey PRIMARY KEY (thread_id, run_id)
);

CREATE INDEX thread_runs_run_id_idx ON thread_runs (run_id);

CREATE TABLE inbox_events (
    id uuid NOT NULL,
    seq bigserial NOT NULL,
    adapter text NOT NULL,
    ordering_key text NOT NULL,
    delivery_id text NOT NULL,
    name text NOT NULL,
    body text NOT NULL,
    received_at timestamp(6) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    disposition text,
    reason text,
    run_id uuid,
    completed_at timestamp(6) with time zone,
    failures integer DEFAULT 0 NOT NULL,
    team_id uuid,
    message_id text,
    message_version text,
    body_kept_since timestamp(6) with time zone,
    CONSTRAINT inbox_events_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX inbox_events_adapter_delivery_id_key ON inbox_events (adapter, delivery_id);
CREATE INDEX inbox_events_body_kept_since_idx ON inbox_events (body_kept_since);
CREATE INDEX inbox_events_disposition_received_at_idx ON inbox_events (disposition, received_at);
CREATE INDEX inbox_events_message_id_idx ON inbox_events (message_id);
CREATE INDEX inbox_events_ordering_key_disposition_seq_idx ON inbox_events (ordering_key, disposition, seq);
CREATE INDEX inbox_events_run_id_idx ON inbox_events (run_id);
CREATE UNIQUE INDEX inbox_events_seq_key ON inbox_events (seq);
CREATE INDEX inbox_events_team_id_seq_idx ON inbox_events (team_id, seq);

CREATE TABLE inbox_dedupe_keys (
    dedupe_key text NOT NULL,
    inbox_id uuid NOT NULL,
    CONSTRAINT inbox_dedupe_keys_pkey PRIMARY KEY (dedupe_key)
);

CREATE TABLE event_recoveries (
    adapter text NOT NULL,
    begun_at timestamp(6) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    cursor text,
    CONSTRAINT event_recoveries_pkey PRIMARY KEY (adapter)
);

CREATE TABLE outbox_deliveries (
    id bigserial NOT NULL,
    uid uuid NOT NULL,
    thread_id uuid NOT NULL,
    message_key text NOT NULL,
    notice jsonb NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    error text,
    due_at timestamp(6) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    delivered_at timestamp(3) with time zone,
    earlier_tries integer DEFAULT 0 NOT NULL,
    permalink text,
    run_id uuid,
    reservation text,
    CONSTRAINT outbox_deliveries_pkey PRIMARY KEY (id)
);

CREATE INDEX outbox_deliveries_run_id_idx ON outbox_deliveries (run_id);
CREATE INDEX outbox_deliveries_state_due_at_idx ON outbox_deliveries (state, due_at);
CREATE INDEX outbox_deliveries_thread_id_state_id_idx ON outbox_deliveries (thread_id, state, id);
CREATE UNIQUE INDEX outbox_deliveries_uid_key ON outbox_deliveries (uid);

CREATE TABLE paces (
    key text NOT NULL,
    used_until double precision DEFAULT 0 NOT NULL,
    tentative_until double precision DEFAULT 0 NOT NULL,
    closed_until double precision DEFAULT 0 NOT NULL,
    CONSTRAINT paces_pkey PRIMARY KEY (key)
);

CREATE TABLE receipts (
    thread_id uuid NOT NULL,
    message_key text NOT NULL,
    receipt text NOT NULL,
    CONSTRAINT receipts_pkey PRIMARY KEY (thread_id, message_key)
);

CREATE TABLE idempotent_responses (
    principal_id uuid NOT NULL,
    key text NOT NULL,
    request_hash text NOT NULL,
    body jsonb NOT NULL,
    created_at timestamp(6) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    status integer DEFAULT 200 NOT NULL,
    run_id uuid,
    CONSTRAINT idempotent_responses_pkey PRIMARY KEY (principal_id, key)
);

CREATE INDEX idempotent_responses_created_at_idx ON idempotent_responses (created_at);
CREATE INDEX idempotent_responses_run_id_idx ON idempotent_responses (run_id);

CREATE TABLE blobs (
    id uuid NOT NULL,
    bytes bytea NOT NULL,
    created_at timestamp(6) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    CONSTRAINT blobs_pkey PRIMARY KEY (id)
);

CREATE TABLE installations (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    adapter text NOT NULL,
    external_id text NOT NULL,
    name text,
    enabled boolean DEFAULT true NOT NULL,
    created_at timestamp(6) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(6) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    offered_team_id uuid,
    problem text,
    CONSTRAINT installations_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX installations_adapter_external_id_key ON installations (adapter, external_id);
CREATE INDEX installations_team_id_idx ON installations (team_id);

CREATE TABLE environments (
    id text NOT NULL,
    team_id uuid NOT NULL,
    owner_id uuid NOT NULL,
    config jsonb NOT NULL,
    setup_failed boolean DEFAULT false NOT NULL,
    creator_id uuid NOT NULL,
    last_editor_id uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT environments_pkey PRIMARY KEY (id)
);

CREATE INDEX environments_team_id_created_at_idx ON environments (team_id, created_at);

CREATE TABLE secrets (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    owner_id uuid NOT NULL,
    name text NOT NULL,
    sealed text NOT NULL,
    editor_id uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT secrets_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX secrets_team_id_owner_id_name_key ON secrets (team_id, owner_id, name);

CREATE TABLE mcp_servers (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    name text NOT NULL,
    description text,
    config jsonb NOT NULL,
    sealed text NOT NULL,
    creator_id uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT mcp_servers_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX mcp_servers_team_id_name_key ON mcp_servers (team_id, name);

CREATE TABLE schedules (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    name text NOT NULL,
    cron text NOT NULL,
    enabled boolean NOT NULL,
    prompt text NOT NULL,
    config jsonb NOT NULL,
    metadata jsonb NOT NULL,
    team_owned boolean NOT NULL,
    creator_id uuid NOT NULL,
    last_editor_id uuid NOT NULL,
    next_run_at timestamp(3) with time zone,
    last_ran_at timestamp(3) with time zone,
    last_spawn_error text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    agent_uid uuid,
    mode text,
    CONSTRAINT schedules_pkey PRIMARY KEY (id)
);

CREATE INDEX schedules_next_run_at_idx ON schedules (next_run_at);
CREATE INDEX schedules_team_id_name_idx ON schedules (team_id, name);

CREATE TABLE policies (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    name text NOT NULL,
    priority integer NOT NULL,
    effect text NOT NULL,
    match jsonb NOT NULL,
    reason text,
    enabled boolean DEFAULT true NOT NULL,
    creator_id uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT policies_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX policies_team_id_name_key ON policies (team_id, name);

CREATE TABLE routing_rules (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    name text NOT NULL,
    priority integer NOT NULL,
    match jsonb NOT NULL,
    environment_id text,
    config jsonb NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    creator_id uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT routing_rules_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX routing_rules_team_id_name_key ON routing_rules (team_id, name);

CREATE TABLE request_defaults (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    scope text NOT NULL,
    config jsonb NOT NULL,
    editor_id uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT request_defaults_pkey PRIMARY KEY (id)
);

CREATE INDEX request_defaults_team_id_idx ON request_defaults (team_id);

CREATE TABLE share_links (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    run_id uuid NOT NULL,
    token_hash text NOT NULL,
    creator_id uuid NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    key_id uuid,
    access text DEFAULT 'VIEWER'::text NOT NULL,
    CONSTRAINT share_links_pkey PRIMARY KEY (id)
);

CREATE INDEX share_links_expires_at_idx ON share_links (expires_at);
CREATE INDEX share_links_run_id_idx ON share_links (run_id);
CREATE UNIQUE INDEX share_links_token_hash_key ON share_links (token_hash);

CREATE TABLE sign_ins (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    principal_id uuid NOT NULL,
    method text NOT NULL,
    key_id uuid,
    token_hash text NOT NULL,
    address text,
    user_agent text,
    created_at timestamp(3) with time zone NOT NULL,
    last_seen_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    ended_at timestamp(3) with time zone,
    attempt_hash text,
    proven_at timestamp(3) with time zone,
    renew_after timestamp(3) with time zone,
    sealed_renewal text,
    CONSTRAINT sign_ins_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX sign_ins_attempt_hash_key ON sign_ins (attempt_hash);
CREATE INDEX sign_ins_expires_at_idx ON sign_ins (expires_at);
CREATE INDEX sign_ins_principal_id_idx ON sign_ins (principal_id);
CREATE INDEX sign_ins_team_id_last_seen_at_idx ON sign_ins (team_id, last_seen_at);
CREATE UNIQUE INDEX sign_ins_token_hash_key ON sign_ins (token_hash);

CREATE TABLE secret_key_checks (
    id integer NOT NULL,
    sealed text NOT NULL,
    CONSTRAINT secret_key_checks_pkey PRIMARY KEY (id)
);

CREATE TABLE sign_in_links (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    principal_id uuid NOT NULL,
    token_hash text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    used_at timestamp(3) with time zone,
    subject text,
    CONSTRAINT sign_in_links_pkey PRIMARY KEY (id)
);

CREATE INDEX sign_in_links_expires_at_idx ON sign_in_links (expires_at);
CREATE UNIQUE INDEX sign_in_links_token_hash_key ON sign_in_links (token_hash);

CREATE TABLE device_codes (
    id uuid NOT NULL,
    device_code_hash text NOT NULL,
    user_code_hash text NOT NULL,
    client_name text NOT NULL,
    address text NOT NULL,
    status text NOT NULL,
    "interval" integer NOT NULL,
    last_polled_at timestamp(3) with time zone,
    team_id uuid,
    principal_id uuid,
    key_id uuid,
    scopes text[],
    created_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT device_codes_pkey PRIMARY KEY (id)
);

CREATE INDEX device_codes_address_idx ON device_codes (address);
CREATE UNIQUE INDEX device_codes_device_code_hash_key ON device_codes (device_code_hash);
CREATE INDEX device_codes_expires_at_idx ON device_codes (expires_at);
CREATE UNIQUE INDEX device_codes_user_code_hash_key ON device_codes (user_code_hash);

CREATE TABLE workers (
    id text NOT NULL,
    worker_host text,
    capacity integer NOT NULL,
    sandbox text NOT NULL,
    isolated boolean NOT NULL,
    started_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    last_seen_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    disk text,
    disk_use jsonb,
    CONSTRAINT workers_pkey PRIMARY KEY (id)
);

CREATE INDEX workers_last_seen_at_idx ON workers (last_seen_at);

CREATE TABLE run_inputs (
    run_id uuid NOT NULL,
    "position" integer NOT NULL,
    kind text NOT NULL,
    file_name text NOT NULL,
    mime_type text NOT NULL,
    size_bytes integer NOT NULL,
    blob_id uuid NOT NULL,
    follow_up_id uuid,
    CONSTRAINT run_inputs_pkey PRIMARY KEY (run_id, "position")
);

CREATE INDEX run_inputs_blob_id_idx ON run_inputs (blob_id);

CREATE TABLE artifacts (
    id uuid NOT NULL,
    run_id uuid NOT NULL,
    type text NOT NULL,
    key text NOT NULL,
    version integer NOT NULL,
    turn integer NOT NULL,
    body jsonb NOT NULL,
    blob_id uuid,
    size_bytes integer,
    hash text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT artifacts_pkey PRIMARY KEY (id)
);

CREATE INDEX artifacts_blob_id_idx ON artifacts (blob_id);
CREATE INDEX artifacts_plan_document_idx ON artifacts (((body ->> 'documentUid'::text))) WHERE (type = 'PLAN'::text);
CREATE UNIQUE INDEX artifacts_run_id_type_key_key ON artifacts (run_id, type, key);

CREATE TABLE repository_changes (
    run_id uuid NOT NULL,
    owner text NOT NULL,
    name text NOT NULL,
    turn integer NOT NULL,
    base text NOT NULL,
    branch text,
    head text,
    pull_request text,
    files jsonb NOT NULL,
    is_truncated boolean NOT NULL,
    blob_id uuid NOT NULL,
    size_bytes integer NOT NULL,
    CONSTRAINT repository_changes_pkey PRIMARY KEY (run_id, owner, name)
);

CREATE INDEX repository_changes_blob_id_idx ON repository_changes (blob_id);

CREATE TABLE webhook_endpoints (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    url text NOT NULL,
    description text,
    events text[],
    enabled boolean NOT NULL,
    disabled_reason text,
    secrets jsonb NOT NULL,
    created_by uuid NOT NULL,
    failing_since timestamp(6) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    run_id uuid,
    CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id)
);

CREATE UNIQUE INDEX webhook_endpoints_run_id_key ON webhook_endpoints (run_id);
CREATE INDEX webhook_endpoints_team_id_id_idx ON webhook_endpoints (team_id, id);

CREATE TABLE webhook_deliveries (
    id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    run_id uuid,
    seq integer,
    type text NOT NULL,
    body text NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    retry_step integer DEFAULT 0 NOT NULL,
    error text,
    due_at timestamp(6) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    completed_at timestamp(3) with time zone,
    CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id)
);

CREATE INDEX webhook_deliveries_created_at_idx ON webhook_deliveries (created_at);
CREATE INDEX webhook_deliveries_endpoint_id_id_idx ON webhook_deliveries (endpoint_id, id);
CREATE UNIQUE INDEX webhook_deliveries_endpoint_id_run_id_seq_key ON webhook_deliveries (endpoint_id, run_id, seq);
CREATE INDEX webhook_deliveries_run_id_idx ON webhook_deliveries (run_id);
CREATE INDEX webhook_deliveries_state_due_at_idx ON webhook_deliveries (state, due_at);

CREATE TABLE webhook_tries (
    delivery_id uuid NOT NULL,
    number integer NOT NULL,
    at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    duration_ms integer NOT NULL,
    status integer,
    error text,
    CONSTRAINT webhook_tries_pkey PRIMARY KEY (delivery_id, number)
);

CREATE TABLE event_log_cursors (
    name text NOT NULL,
    "position" bigint NOT NULL,
    run_id uuid NOT NULL,
    seq integer NOT NULL,
    CONSTRAINT event_log_cursors_pkey PRIMARY KEY (name)
);

CREATE TABLE audit_entries (
    seq bigserial NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    team_id uuid NOT NULL,
    at timestamp(3) with time zone DEFAULT clock_timestamp() NOT NULL,
    actor jsonb NOT NULL,
    action text NOT NULL,
    target_type text NOT NULL,
    target_id text NOT NULL,
    before jsonb,
    after jsonb,
    request_id text NOT NULL,
    CONSTRAINT audit_entries_pkey PRIMARY KEY (seq)
);

CREATE INDEX audit_entries_team_id_seq_idx ON audit_entries (team_id, seq);
CREATE INDEX audit_entries_team_id_target_type_target_id_seq_idx ON audit_entries (team_id, target_type, target_id, seq);

-- A server without the extension, or that does not let this user create it, searches without an index.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX run_search_texts_text_idx ON run_search_texts USING gin (text gin_trgm_ops);
EXCEPTION WHEN insufficient_privilege OR undefined_file OR undefined_object OR feature_not_supported THEN
  RAISE WARNING 'Words are searched for without an index: %', SQLERRM;
END $$;

ALTER TABLE api_keys ADD CONSTRAINT api_keys_principal_id_fkey
    FOREIGN KEY (principal_id) REFERENCES principals(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE artifacts ADD CONSTRAINT artifacts_blob_id_fkey
    FOREIGN KEY (blob_id) REFERENCES blobs(id) ON UPDATE CASCADE ON DELETE SET NULL;
ALTER TABLE artifacts ADD CONSTRAINT artifacts_run_id_fkey
    FOREIGN KEY (run_id) REFERENCES runs(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE follow_ups ADD CONSTRAINT follow_ups_run_id_fkey
    FOREIGN KEY (run_id) REFERENCES runs(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE identities ADD CONSTRAINT identities_principal_id_fkey
    FOREIGN KEY (principal_id) REFERENCES principals(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE outbox_deliveries ADD CONSTRAINT outbox_deliveries_thread_id_fkey
    FOREIGN KEY (thread_id) REFERENCES threads(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE principals ADD CONSTRAINT principals_team_id_fkey
    FOREIGN KEY (team_id) REFERENCES teams(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE repository_changes ADD CONSTRAINT repository_changes_blob_id_fkey
    FOREIGN KEY (blob_id) REFERENCES blobs(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE repository_changes ADD CONSTRAINT repository_changes_run_id_fkey
    FOREIGN KEY (run_id) REFERENCES runs(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE run_events ADD CONSTRAINT run_events_run_id_fkey
    FOREIGN KEY (run_id) REFERENCES runs(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE run_inputs ADD CONSTRAINT run_inputs_blob_id_fkey
    FOREIGN KEY (blob_id) REFERENCES blobs(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE run_inputs ADD CONSTRAINT run_inputs_run_id_fkey
    FOREIGN KEY (run_id) REFERENCES runs(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE runs ADD CONSTRAINT runs_creator_id_fkey
    FOREIGN KEY (creator_id) REFERENCES principals(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE thread_runs ADD CONSTRAINT thread_runs_run_id_fkey
    FOREIGN KEY (run_id) REFERENCES runs(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE thread_runs ADD CONSTRAINT thread_runs_thread_id_fkey
    FOREIGN KEY (thread_id) REFERENCES threads(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE threads ADD CONSTRAINT threads_run_id_fkey
    FOREIGN KEY (run_id) REFERENCES runs(id) ON UPDATE CASCADE ON DELETE SET NULL;
ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_endpoint_id_fkey
    FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE webhook_tries ADD CONSTRAINT webhook_tries_delivery_id_fkey
    FOREIGN KEY (delivery_id) REFERENCES webhook_deliveries(id) ON UPDATE CASCADE ON DELETE CASCADE;

INSERT INTO teams (id, name) VALUES ('00000000-0000-7000-8000-000000000001', 'Team');

-- Webhooks begin with the first event.
INSERT INTO event_log_cursors (name, position, run_id, seq)
  VALUES ('webhooks', pg_current_xact_id()::text::bigint, 'ffffffff-ffff-ffff-ffff-ffffffffffff', 2147483647);

-- A value as an entry of the audit log may show it. Credentials are in sealed columns, in hashes, and in the MCP servers of
-- a configuration, of which only the names are shown.
CREATE FUNCTION audit_value(name text, value jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  SELECT CASE
    WHEN value IS NULL OR value = 'null' THEN NULL
    WHEN name ~ 'hash|seal|secrets$|token' THEN '"[redacted]"'::jsonb
    WHEN jsonb_typeof(value -> 'mcp_servers') = 'object' THEN value || jsonb_build_object(
      'mcp_servers', (SELECT coalesce(jsonb_agg(key), '[]') FROM jsonb_object_keys(value -> 'mcp_servers') AS key))
    ELSE value
  END
$_$;

CREATE FUNCTION audit_members(members jsonb, names text[]) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  SELECT CASE WHEN members IS NOT NULL THEN coalesce(jsonb_object_agg(name, audit_value(name, members -> name)), '{}') END
  FROM unnest(names) AS name WHERE audit_value(name, members -> name) IS NOT NULL
$$;

-- Writes one entry for the team of the row, and one for the team of the actor if it is another. The transaction names
-- the actor in the setting errand.audit; without it, the server itself made the change.
CREATE FUNCTION audit_write(teams uuid[], action text, target_type text, target_id text, before jsonb, after jsonb) RETURNS void
    LANGUAGE sql
    AS $$
  WITH context AS (
    SELECT coalesce(nullif(current_setting('errand.audit', true), ''), '{}')::jsonb AS context)
  INSERT INTO audit_entries (team_id, actor, action, target_type, target_id, before, after, request_id)
  SELECT team_id, coalesce(context -> 'actor', '{"uid": "server", "type": "system"}'), action, target_type, target_id,
    before, after, coalesce(context ->> 'requestId', 'transaction-' || pg_current_xact_id())
  FROM context, LATERAL (
    SELECT DISTINCT team_id FROM unnest(teams || (context ->> 'teamId')::uuid) AS team_id
    WHERE team_id IS NOT NULL) AS readers
$$;

-- The team that a row of an audited table belongs to.
CREATE FUNCTION audit_team(table_name text, members jsonb) RETURNS uuid
    LANGUAGE sql STABLE
    AS $$
  SELECT CASE table_name
    WHEN 'teams' THEN (members ->> 'id')::uuid
    WHEN 'api_keys' THEN (SELECT team_id FROM principals WHERE id = (members ->> 'principal_id')::uuid)
    ELSE (members ->> 'team_id')::uuid
  END
$$;

-- The first argument is the type of the target. The others are columns that the server writes while it works, whose
-- changes have no entry.
CREATE FUNCTION audit_row() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
  old_row JSONB := to_jsonb(OLD);
  new_row JSONB := to_jsonb(NEW);
  names TEXT[];
  verb TEXT := CASE TG_OP WHEN 'INSERT' THEN 'created' WHEN 'DELETE' THEN 'deleted' ELSE 'updated' END;
BEGIN
  -- A deleted webhook is first given to a team that does not exist, because it takes time to delete its history.
  IF new_row ->> 'team_id' = '00000000-0000-0000-0000-000000000000' THEN
    new_row := NULL;
    verb := 'deleted';
  END IF;
  SELECT array_agg(name ORDER BY name) INTO names FROM jsonb_object_keys(coalesce(new_row, old_row)) AS name
  WHERE name <> 'id' AND name <> ALL (TG_ARGV) AND old_row -> name IS DISTINCT FROM new_row -> name;
  -- The same values again are no change, and neither is the same secret that is sealed or hashed anew. A new secret
  -- changes updated_at too.
  IF verb = 'updated' AND (coalesce(names, '{}') <@ '{updated_at}' OR NOT EXISTS (
    SELECT FROM unnest(names) AS name
    WHERE audit_value(name, new_row -> name) IS DISTINCT FROM audit_value(name, old_row -> name)
  )) THEN
    RETURN NULL;
  END IF;
  IF TG_ARGV[0] = 'key' AND old_row ->> 'revoked_at' IS NULL AND new_row ->> 'revoked_at' IS NOT NULL THEN
    verb := 'revoked';
  END IF;
  PERFORM audit_write(
    ARRAY[audit_team(TG_TABLE_NAME, old_row), audit_team(TG_TABLE_NAME, new_row)],
    TG_ARGV[0] || '.' || verb, TG_ARGV[0], coalesce(new_row, old_row) ->> 'id',
    audit_members(old_row, names), audit_members(new_row, names));
  RETURN NULL;
END
$$;

-- The texts that are approved belong to the run. The entry names their hash.
CREATE FUNCTION audit_approval() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
  decided TEXT := CASE
    WHEN NEW.approval ->> 'approved' = 'true' OR NEW.approval ->> 'decided' = 'approved' THEN 'approved'
    WHEN NEW.approval ->> 'approved' = 'false' OR NEW.approval ->> 'decided' = 'refused' THEN 'refused' END;
BEGIN
  IF decided IS NOT NULL THEN
    PERFORM audit_write(
      ARRAY[(SELECT team_id FROM runs WHERE id = (coalesce(to_jsonb(NEW) ->> 'run_id', to_jsonb(NEW) ->> 'id'))::uuid)],
      'approval.' || decided, TG_ARGV[0], NEW.id::text,
      jsonb_build_object('approval', OLD.approval - 'inputs'), jsonb_build_object('approval', NEW.approval - 'inputs'));
  END IF;
  RETURN NULL;
END
$$;

-- Entries are never changed.
CREATE FUNCTION audit_refuse() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION 'An audit entry never changes.';
END
$$;

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON teams
    FOR EACH ROW EXECUTE FUNCTION audit_row('team');

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON principals
    FOR EACH ROW EXECUTE FUNCTION audit_row('principal');

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON named_agents
    FOR EACH ROW EXECUTE FUNCTION audit_row('named_agent');

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON identities
    FOR EACH ROW EXECUTE FUNCTION audit_row('identity_link');

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON api_keys
    FOR EACH ROW EXECUTE FUNCTION audit_row('key', 'last_used_at');

CREATE TRIGGER audit_approval AFTER UPDATE ON runs
    FOR EACH ROW WHEN ((old.approval IS DISTINCT FROM new.approval)) EXECUTE FUNCTION audit_approval('run');

CREATE TRIGGER audit_approval AFTER UPDATE ON follow_ups
    FOR EACH ROW WHEN ((old.approval IS DISTINCT FROM new.approval)) EXECUTE FUNCTION audit_approval('follow_up');

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON installations
    FOR EACH ROW EXECUTE FUNCTION audit_row('installation');

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON environments
    FOR EACH ROW EXECUTE FUNCTION audit_row('environment', 'setup_failed');

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON secrets
    FOR EACH ROW EXECUTE FUNCTION audit_row('secret');

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON mcp_servers
    FOR EACH ROW EXECUTE FUNCTION audit_row('mcp_server');

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON schedules
    FOR EACH ROW EXECUTE FUNCTION audit_row('schedule', 'next_run_at', 'last_ran_at', 'last_spawn_error');

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON policies
    FOR EACH ROW EXECUTE FUNCTION audit_row('policy');

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON routing_rules
    FOR EACH ROW EXECUTE FUNCTION audit_row('routing_rule');

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON request_defaults
    FOR EACH ROW EXECUTE FUNCTION audit_row('request_defaults');

CREATE TRIGGER audit AFTER INSERT OR DELETE OR UPDATE ON share_links
    FOR EACH ROW EXECUTE FUNCTION audit_row('share_link');

-- Expired rows are deleted without an entry.
CREATE TRIGGER audit AFTER INSERT OR UPDATE ON sign_ins
    FOR EACH ROW EXECUTE FUNCTION audit_row('sign_in', 'last_seen_at', 'proven_at', 'renew_after', 'sealed_renewal', 'attempt_hash');

CREATE TRIGGER audit AFTER INSERT OR UPDATE ON sign_in_links
    FOR EACH ROW EXECUTE FUNCTION audit_row('sign_in_link');

CREATE TRIGGER audit AFTER UPDATE ON device_codes
    FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION audit_row('device_code', 'last_polled_at');

-- The webhook of one run is a part of the run and has no entries.
CREATE TRIGGER audit_change AFTER DELETE OR UPDATE ON webhook_endpoints
    FOR EACH ROW WHEN (((old.run_id IS NULL) AND (old.team_id <> '00000000-0000-0000-0000-000000000000'::uuid))) EXECUTE FUNCTION audit_row('webhook', 'failing_since');
CREATE TRIGGER audit_insert AFTER INSERT ON webhook_endpoints
    FOR EACH ROW WHEN ((new.run_id IS NULL)) EXECUTE FUNCTION audit_row('webhook', 'failing_since');

CREATE TRIGGER append_only BEFORE UPDATE ON audit_entries
    FOR EACH ROW EXECUTE FUNCTION audit_refuse();
