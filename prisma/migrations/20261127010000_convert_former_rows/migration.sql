-- Gives the rows that versions before `20261127000000_init` have stored the shape that this version reads. Only rows of an
-- older shape change; a new database has none.

-- Two former error codes are reasons now.
CREATE FUNCTION pg_temp.current_status(status JSONB) RETURNS JSONB LANGUAGE sql AS $$
  SELECT status || jsonb_build_object('reason', status -> 'errorCode', 'errorCode', CASE status ->> 'errorCode'
    WHEN 'agent_process_failed' THEN 'internal_error' ELSE 'resource_unavailable' END)
$$;
UPDATE runs SET status_message = pg_temp.current_status(status_message)
WHERE status_message ->> 'errorCode' IN ('agent_process_failed', 'infrastructure_timeout');
UPDATE run_events SET body = jsonb_set(body, '{status}', pg_temp.current_status(body -> 'status'))
WHERE kind = 'run.state' AND body -> 'status' ->> 'errorCode' IN ('agent_process_failed', 'infrastructure_timeout');

UPDATE runs SET state_since = updated_at WHERE state_since IS NULL;

UPDATE runs SET permission = permission || jsonb_build_object('askedAt',
  to_char(state_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
WHERE permission <> 'null' AND NOT permission ? 'askedAt';

-- No hash identifies an approval without inputs, so nobody can decide it. The change is no decision, which the trigger
-- would record.
CREATE FUNCTION pg_temp.current_approval(approval JSONB) RETURNS JSONB LANGUAGE sql AS $$
  SELECT '{"id": "00000000-0000-0000-0000-000000000000", "inputsHash": "", "inputs": [], "authorIds": []}' || approval
$$;
ALTER TABLE runs DISABLE TRIGGER audit_approval;
ALTER TABLE follow_ups DISABLE TRIGGER audit_approval;
UPDATE runs SET approval = pg_temp.current_approval(approval)
WHERE approval <> 'null' AND NOT approval ?& '{id,inputsHash,inputs,authorIds}';
UPDATE follow_ups SET approval = pg_temp.current_approval(approval)
WHERE approval <> 'null' AND NOT approval ?& '{id,inputsHash,inputs,authorIds}';
ALTER TABLE runs ENABLE TRIGGER audit_approval;
ALTER TABLE follow_ups ENABLE TRIGGER audit_approval;

UPDATE runs SET waiting_follow_up = waiting_follow_up || '{"authorIds": []}'
WHERE waiting_follow_up <> 'null' AND NOT waiting_follow_up ? 'authorIds';

-- A notice names its run. The key of a card contains it too.
UPDATE outbox_deliveries SET run_id = runs.id FROM runs
WHERE run_id IS NULL AND message_key = 'card:' || runs.id;

-- A worker that works adds its row again.
DELETE FROM workers WHERE NOT disk_use ? 'orphans';
