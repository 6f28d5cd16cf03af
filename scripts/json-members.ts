interface Document {
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties?: Readonly<Record<string, unknown>> }>>;
  };
}

/** What the command line writes as JSON. */
const SCHEMAS = [
  ...([
    "AgentSkillVariant",
    "ApiKey",
    "AuditEntry",
    "CancelResult",
    "CatalogueAgent",
    "DoctorResponse",
    "Environment",
  ] as const),
  ...([
    "InboxEvent",
    "Installation",
    "IssuedApiKey",
    "IssuedShareLink",
    "McpServer",
    "AgentModel",
    "NamedAgent",
    "Notice",
  ] as const),
  ...(["Policy", "Principal", "Quota", "RevealedWebhook", "RoutingRule", "RunAgentResponse"] as const),
  ...(["RunChanges", "RunFollowupResponse", "RunItem", "RunStateResponse", "ScheduledAgentItem"] as const),
  ...(["Secret", "Team", "UsageRow", "Webhook", "WebhookDelivery", "Whoami", "WorkerHost"] as const),
] as const;

const HEADER = "// Written by `npm run client:types` from docs/openapi.json. Do not edit.\n\n";

/** The names of the members of each schema, by which `--json` can be checked before a request is sent. */
export function jsonMembers({ components: { schemas } }: Document): string {
  const lines = SCHEMAS.map((name) => {
    const members = Object.keys(schemas[name]?.properties ?? {});
    if (members.length === 0) {
      throw new Error(`docs/openapi.json has no schema ${name} with members.`);
    }
    return `  ${name}: [${members.map((member) => `"${member}"`).join(", ")}],\n`;
  });
  return `${HEADER}/** The members of what the server sends. */\nexport const MEMBERS = {\n${lines.join("")}} as const;\n`;
}
