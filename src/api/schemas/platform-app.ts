import { z } from "zod";

const TOKEN_LENGTH_MAX = 1_000;
const token = z.string().min(1).max(TOKEN_LENGTH_MAX);

export const ApplyPlatformAppRequest = z
  .object({
    token: token
      .optional()
      .describe("A token of the platform that may create and update apps. Default: the stored one."),
    refresh_token: token.optional().describe("Replaces the token when it has expired. Needed with `token`."),
  })
  .refine(({ refresh_token: refresh, token: own }) => (refresh === undefined) === (own === undefined), {
    error: "token and refresh_token belong together",
    path: ["refresh_token"],
  })
  .meta({
    id: "ApplyPlatformAppRequest",
    description: "The tokens for the app of an external platform.",
    examples: [{ token: "xoxe.xoxp-1-…", refresh_token: "xoxe-1-…" }],
  });

const EXAMPLE = {
  app_id: "A0123456789",
  change: "created" as const,
  needs_install: true,
  install_url: "https://errand.example.com/setup/chat/install",
};

export const PlatformApp = z
  .object({
    app_id: z.string().describe("The platform's id of the app."),
    change: z.enum(["created", "updated", "unchanged"]).describe("What was done."),
    needs_install: z
      .boolean()
      .describe("Whether workspaces get the change only when the app is installed there again."),
    install_url: z.string().describe("The page that installs the app in a workspace."),
  })
  .meta({ id: "PlatformApp", description: "The app on an external platform.", examples: [EXAMPLE] });
