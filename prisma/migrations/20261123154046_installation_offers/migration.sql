-- AlterTable
ALTER TABLE "installations" ADD COLUMN     "offered_team_id" UUID;
