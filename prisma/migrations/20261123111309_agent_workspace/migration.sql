-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "agent_workspace" TEXT;
