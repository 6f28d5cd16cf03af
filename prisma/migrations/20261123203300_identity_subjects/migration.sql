-- CreateIndex
CREATE INDEX "identities_subject_idx" ON "identities"("subject");
