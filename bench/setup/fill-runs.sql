-- {rows} runs as teams leave them behind over half a year, the newest now. The first 15 % are of a team that has long
-- stopped, so that its rows lie far from the newest.
INSERT INTO runs (
  id, team_id, title, prompt, source, creator_id, team_owned, config, agent, metadata, metadata_pairs, config_name,
  model_id, environment_id, skill, schedule_id, artifact_types, ancestor_ids, conversation_id, session_id, provenance,
  created_at, updated_at, state, state_since, started_at, ended_at, turn, attempt, last_seq
)
SELECT
  id, team_id, title,
  title || '. Look at the log first, say what you find, and change as little as you can. '
    || repeat('It has been so since last week. ', 4),
  source, creator_id, by_owner > 0.03,
  jsonb_strip_nulls(
    jsonb_build_object('name', config_name, 'model_id', model_id, 'environment_id', environment_id)),
  CASE WHEN by_agent > 0.8 THEN 'codex' WHEN by_agent > 0.5 THEN 'opencode' ELSE 'claude' END,
  jsonb_build_object('ticket', 'E-' || n / 3, 'squad', 's' || n % 8),
  ARRAY['ticket=E-' || n / 3, 'squad=s' || n % 8],
  config_name, model_id, environment_id, skill,
  CASE WHEN source = 'SCHEDULED_AGENT' THEN md5('schedule' || n % 25)::uuid END,
  CASE
    WHEN by_artifact < 0.4 THEN ARRAY['PULL_REQUEST']
    WHEN by_artifact < 0.45 THEN ARRAY['FILE', 'PULL_REQUEST']
    WHEN by_artifact < 0.46 THEN ARRAY['PLAN']
    ELSE '{}'
  END,
  CASE WHEN n % 20 = 0 THEN ARRAY[pg_temp.run_id(n / 40 * 40 + 1, {rows})] ELSE '{}'::uuid[] END,
  md5('conversation' || n)::uuid, md5('session' || n)::uuid,
  jsonb_build_object('integration', lower(source), 'actor', jsonb_build_object('id', n % 200)),
  created_at, least(created_at + by_length * interval '2 hours', now()), state, created_at + interval '1 second',
  created_at + interval '2 seconds',
  CASE WHEN state IN ('SUCCEEDED', 'FAILED', 'ERROR', 'CANCELLED') THEN created_at + interval '5 minutes' END,
  1, 1, 12
FROM (
  SELECT
    n, by_artifact, by_owner, by_agent, by_length,
    pg_temp.run_id(n, {rows}) AS id,
    pg_temp.created_at(n, {rows}) AS created_at,
    CASE
      WHEN n <= {rows} * 0.15 THEN '00000000-0000-7000-8000-0000000000b2'
      ELSE '00000000-0000-7000-8000-000000000001'
    END::uuid AS team_id,
    -- A few do much, many do little.
    md5((CASE WHEN n <= {rows} * 0.15 THEN 'old' ELSE 'member' END) || floor(200 * by_creator * by_creator))::uuid
      AS creator_id,
    (ARRAY['Fix', 'Explain', 'Review', 'Speed up', 'Test', 'Rename', 'Document'])[1 + n % 7] || ' the '
      || (ARRAY['parser', 'import', 'invoice page', 'login', 'search index', 'export', 'scheduler'])[1 + n / 7 % 7]
      || CASE WHEN n % 50000 = 0 THEN ' of the zeppelin' ELSE '' END || ' (' || n || ')' AS title,
    CASE
      WHEN by_source < 0.4 THEN 'SLACK'
      WHEN by_source < 0.7 THEN 'GITHUB_WEBHOOK'
      WHEN by_source < 0.9 THEN 'API'
      WHEN by_source < 0.98 THEN 'SCHEDULED_AGENT'
      WHEN by_source < 0.99 THEN 'LOCAL'
      WHEN by_source < 0.9999 THEN 'CLI'
      ELSE 'LINEAR'
    END AS source,
    CASE WHEN by_name < 0.4 THEN 'config-' || n % 50 END AS config_name,
    CASE WHEN by_model < 0.5 THEN 'model-' || n % 6 END AS model_id,
    CASE WHEN by_environment < 0.7 THEN lpad('environment' || n % 30, 22, '0') END AS environment_id,
    CASE WHEN by_skill > 0.8 THEN 'acme/skills:skill-' || n % 20 || '/SKILL.md' END AS skill,
    CASE
      WHEN n > {rows} - 20 THEN 'QUEUED'
      WHEN n > {rows} - 30 THEN 'INPROGRESS'
      WHEN n > {rows} - 35 THEN 'BLOCKED'
      WHEN by_state < 0.92 THEN 'SUCCEEDED'
      WHEN by_state < 0.96 THEN 'FAILED'
      WHEN by_state < 0.97 THEN 'ERROR'
      ELSE 'CANCELLED'
    END AS state
  FROM (
    SELECT
      n, random() AS by_creator, random() AS by_source, random() AS by_artifact, random() AS by_skill,
      random() AS by_name, random() AS by_owner, random() AS by_model, random() AS by_agent,
      random() AS by_environment, random() AS by_length, random() AS by_state
    FROM generate_series(1, {rows}) AS n
  ) AS drawn
) AS made
