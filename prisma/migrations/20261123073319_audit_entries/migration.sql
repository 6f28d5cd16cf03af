-- CreateTable
CREATE TABLE "audit_entries" (
    "seq" BIGSERIAL NOT NULL,
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "team_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "actor" JSONB NOT NULL,
    "action" TEXT NOT NULL,
    "target_type" TEXT NOT NULL,
    "target_id" TEXT NOT NULL,
    "before" JSONB,
    "after" JSONB,
    "request_id" TEXT NOT NULL,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("seq")
);

-- CreateIndex
CREATE INDEX "audit_entries_team_id_seq_idx" ON "audit_entries"("team_id", "seq");

-- CreateIndex
CREATE INDEX "audit_entries_team_id_target_type_target_id_seq_idx" ON "audit_entries"("team_id", "target_type", "target_id", "seq");

-- By hand, because the schema cannot express the rest.

-- A value as an entry may show it. Credentials are in sealed columns, in hashes, and in the MCP servers of a
-- configuration, of which only the names are shown.
CREATE FUNCTION audit_value(name TEXT, value JSONB) RETURNS JSONB LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN value IS NULL OR value = 'null' THEN NULL
    WHEN name ~ 'hash|seal|secrets$|token' THEN '"[redacted]"'::jsonb
    WHEN jsonb_typeof(value -> 'mcp_servers') = 'object' THEN value || jsonb_build_object(
      'mcp_servers', (SELECT coalesce(jsonb_agg(key), '[]') FROM jsonb_object_keys(value -> 'mcp_servers') AS key))
    ELSE value
  END
$$;

CREATE FUNCTION audit_members(members JSONB, names TEXT[]) RETURNS JSONB LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN members IS NOT NULL THEN coalesce(jsonb_object_agg(name, audit_value(name, members -> name)), '{}') END
  FROM unnest(names) AS name WHERE audit_value(name, members -> name) IS NOT NULL
$$;

-- Writes one entry for the team of the row, and one for the team of the actor if it is another. The transaction names
-- the actor in the setting errand.audit; without it, the server itself made the change.
CREATE FUNCTION audit_write(teams UUID[], action TEXT, target_type TEXT, target_id TEXT, before JSONB, after JSONB)
RETURNS void LANGUAGE sql AS $$
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
CREATE FUNCTION audit_team(table_name TEXT, members JSONB) RETURNS UUID LANGUAGE sql STABLE AS $$
  SELECT CASE table_name
    WHEN 'teams' THEN (members ->> 'id')::uuid
    WHEN 'api_keys' THEN (SELECT team_id FROM principals WHERE id = (members ->> 'principal_id')::uuid)
    ELSE (members ->> 'team_id')::uuid
  END
$$;

-- The first argument is the type of the target. The others are columns that the server writes while it works, which are
-- no changes by anybody.
CREATE FUNCTION audit_row() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- The texts that somebody approves belong to the run. The entry names their hash.
CREATE FUNCTION audit_approval() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON teams
  FOR EACH ROW EXECUTE FUNCTION audit_row('team');
CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON principals
  FOR EACH ROW EXECUTE FUNCTION audit_row('principal');
CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON identities
  FOR EACH ROW EXECUTE FUNCTION audit_row('identity_link');
CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON named_agents
  FOR EACH ROW EXECUTE FUNCTION audit_row('named_agent');
CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON api_keys
  FOR EACH ROW EXECUTE FUNCTION audit_row('key', 'last_used_at');
CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON installations
  FOR EACH ROW EXECUTE FUNCTION audit_row('installation');
CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON environments
  FOR EACH ROW EXECUTE FUNCTION audit_row('environment', 'setup_failed');
CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON secrets
  FOR EACH ROW EXECUTE FUNCTION audit_row('secret');
CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON mcp_servers
  FOR EACH ROW EXECUTE FUNCTION audit_row('mcp_server');
CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON schedules
  FOR EACH ROW EXECUTE FUNCTION audit_row('schedule', 'next_run_at', 'last_ran_at', 'last_spawn_error');
CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON policies
  FOR EACH ROW EXECUTE FUNCTION audit_row('policy');
CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON routing_rules
  FOR EACH ROW EXECUTE FUNCTION audit_row('routing_rule');
CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON share_links
  FOR EACH ROW EXECUTE FUNCTION audit_row('share_link');
-- The webhook of one run is a part of the run, and not managed by anybody.
CREATE TRIGGER audit_insert AFTER INSERT ON webhook_endpoints
  FOR EACH ROW WHEN (NEW.run_id IS NULL) EXECUTE FUNCTION audit_row('webhook', 'failing_since');
CREATE TRIGGER audit_change AFTER UPDATE OR DELETE ON webhook_endpoints
  FOR EACH ROW WHEN (OLD.run_id IS NULL AND OLD.team_id <> '00000000-0000-0000-0000-000000000000') EXECUTE FUNCTION audit_row('webhook', 'failing_since');
CREATE TRIGGER audit_approval AFTER UPDATE ON runs
  FOR EACH ROW WHEN (OLD.approval IS DISTINCT FROM NEW.approval) EXECUTE FUNCTION audit_approval('run');

CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'An audit entry never changes.';
END
$$;

CREATE TRIGGER append_only BEFORE UPDATE ON audit_entries
  FOR EACH ROW EXECUTE FUNCTION audit_refuse();
