/** What the app needs in its workspace. The README's manifest has the same. */

/** The scopes of the bot, each with its use. */
export const BOT_SCOPES: Readonly<Record<string, string>> = {
  "app_mentions:read": "receiving mentions",
  "channels:history": "replies in threads of public channels",
  "groups:history": "replies in threads of private channels",
  "im:history": "direct conversations with the bot",
  "im:write": "opening the direct conversation of a command",
  "mpim:history": "replies in group conversations",
  "chat:write": "cards and answers",
  commands: "the command /errand",
  "files:read": "downloading the files of a request",
  "files:write": "uploading the files of a turn",
  "reactions:read": "stopping a run by a reaction",
  "reactions:write": "signs on requests",
  "users:read": "checking that an author is a full member of the workspace",
};
