-- A plan is found by its document id. Few artifacts are plans.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "artifacts_plan_document_idx" ON "artifacts" ((body ->> 'documentUid')) WHERE type = 'PLAN';
