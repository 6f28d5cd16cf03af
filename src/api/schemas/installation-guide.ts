import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { GUIDE_NEED_KINDS, type InstallationGuide } from "../../core/model/people/installation.ts";
import type { AdapterSetting } from "../../core/ports/stores/adapter-settings.ts";

const STEP = {
  title: "Create the app",
  text: "Choose your workspace and confirm the manifest.",
  links: [{ title: "Create the app from the manifest", url: "https://chat.example/apps/new?manifest=…" }],
  snippets: [{ title: "Manifest", text: "display_information:\n  name: Errand\n" }],
};
const EXAMPLE = {
  adapter: "chat",
  title: "Chat",
  enabled: false,
  ways: [
    {
      title: "With a public address",
      summary: "Chat sends events to https://errand.example.com/webhooks/chat.",
      steps: [STEP],
    },
  ],
  needs: [{ kind: "scope" as const, name: "chat:write", use: "cards and answers" }],
};

const GuideLink = z
  .object({
    title: z.string().describe("The text of the link."),
    url: z.string().describe("The address. It contains `{input}` if `input` is present."),
    input: z.string().optional().describe("The label of a text that the reader enters for `{input}`."),
  })
  .meta({ id: "GuideLink", description: "A link to the platform.", examples: STEP.links });

const GuideSnippet = z
  .object({
    title: z.string().describe("What the text is."),
    text: z.string().describe("The text to copy."),
  })
  .meta({ id: "GuideSnippet", description: "A text to copy.", examples: STEP.snippets });

const GuideVariable = z
  .object({
    name: z.string().describe("The name of the variable."),
    source: z.string().describe("Where the platform shows the value."),
  })
  .meta({
    id: "GuideVariable",
    description: "An environment variable of the server.",
    examples: [{ name: "CHAT_TOKEN", source: "Settings → Tokens" }],
  });

const GuideStep = z
  .object({
    title: z.string().describe("The heading of the step."),
    text: z.string().describe("What to do."),
    links: z.array(GuideLink).optional().describe("Where to do it."),
    snippets: z.array(GuideSnippet).optional().describe("Texts to copy."),
    variables: z.array(GuideVariable).optional().describe("Variables to set."),
  })
  .meta({ id: "GuideStep", description: "One step.", examples: [STEP] });

const GuideWay = z
  .object({
    title: z.string().describe("The heading of the way."),
    summary: z.string().describe("How events reach the server."),
    obstacle: z
      .string()
      .optional()
      .describe("Why this way does not work with the present address of the server, and what to change."),
    steps: z.array(GuideStep).describe("In their order."),
  })
  .meta({ id: "GuideWay", description: "One way to connect a platform.", examples: EXAMPLE.ways });

const GuideNeed = z
  .object({
    kind: z.enum(GUIDE_NEED_KINDS).describe("What the platform calls it."),
    name: z.string().describe("The platform's name for it."),
    access: z.enum(["read", "write"]).optional().describe("The access that a permission gives."),
    use: z.string().describe("What the server does with it."),
  })
  .meta({
    id: "GuideNeed",
    description: "A scope, permission or event that the server asks for.",
    examples: EXAMPLE.needs,
  });

const STORED = {
  name: "CHAT_TOKEN",
  updated_at: "2026-03-01T12:00:00.000Z",
  updated_by: "01890a5d-ac96-774b-bcce-b302099a8057",
};

const CREATION = {
  url: "https://errand.example.com/setup/chat/create",
  title: "Create the app",
  text: "Chat asks for its name.",
  inputs: [{ name: "organization", label: "Organization" }],
};

const GuideField = z
  .object({
    name: z.string().describe("The name in the query."),
    label: z.string().describe("What the reader enters. It may stay empty."),
  })
  .meta({ id: "GuideField", description: "A field of a form.", examples: CREATION.inputs });

const GuideCreation = z
  .object({
    url: z.string().describe("The address of the page. The inputs are members of its query."),
    title: z.string().describe("The text of the button."),
    text: z.string().describe("What happens."),
    inputs: z.array(GuideField).describe("What the reader chooses."),
  })
  .meta({
    id: "GuideCreation",
    description: "A page of the server that creates the app on the platform and stores its credentials.",
    examples: [CREATION],
  });

const MANAGED = {
  created: false,
  text: "Paste a token that may create apps.",
  link: { title: "Your apps", url: "https://chat.example/apps" },
};

const ManagedApp = z
  .object({
    created: z.boolean().describe("Whether the server created the app, and can update it."),
    text: z.string().describe("Which tokens are needed, and what for."),
    link: GuideLink.describe("Where they are made."),
  })
  .meta({
    id: "ManagedApp",
    description: "An app that the server creates and updates with a token of an operator.",
    examples: [MANAGED],
  });

const StoredSetting = z
  .object({
    name: z.string().describe("The name of the variable in whose place the setting is used."),
    updated_at: z.iso.datetime().describe("When it was stored."),
    updated_by: z.string().describe("The uid of the principal who stored it."),
  })
  .meta({
    id: "StoredSetting",
    description: "A variable of an adapter that the server keeps encrypted. Its value is never shown.",
    examples: [STORED],
  });

const InstallationGuideItem = z
  .object({
    adapter: z
      .string()
      .describe("The adapter. The names of its checks in the doctor begin with this name and `_`."),
    title: z.string().describe("The name of the platform."),
    enabled: z.boolean().describe("Whether the variables of the adapter are set, or stored by the server."),
    problem: z.string().optional().describe("Why the stored settings do not switch the adapter on."),
    stored_settings: z
      .array(StoredSetting)
      .optional()
      .describe(
        "What the server stored when it created the app. A variable of a process is used in place of the setting of the same name.",
      ),
    install_url: z
      .string()
      .optional()
      .describe("Where an administrator installs the app in a workspace, if the server is set up for that."),
    create: GuideCreation.optional().describe(
      "The page that creates the app. Absent: the app exists, or cannot be created in that way.",
    ),
    managed_app: ManagedApp.optional().describe("Absent: a token cannot create the app."),
    ways: z.array(GuideWay).describe("Follow the steps of one of them."),
    needs: z.array(GuideNeed).describe("What the server asks for on the platform."),
  })
  .meta({
    id: "InstallationGuide",
    description: "How to connect an external platform with this server.",
    examples: [EXAMPLE],
  });

export const ListInstallationGuidesResponse = z
  .object({ guides: z.array(InstallationGuideItem).describe("One per platform that the server knows.") })
  .meta({
    id: "ListInstallationGuidesResponse",
    description: "How to connect external platforms with this server.",
    examples: [{ guides: [EXAMPLE] }],
  });

export function installationGuideItem(
  guide: InstallationGuide,
  settings: readonly AdapterSetting[],
): z.output<typeof InstallationGuideItem> {
  const { create, installUrl, managed, ways, needs, ...others } = guide;
  const stored = settings.filter(({ adapter }) => adapter === guide.adapter);
  return {
    ...others,
    stored_settings: stored.map(({ name, updatedAt, updatedBy }) => ({
      name,
      updated_at: updatedAt.toISOString(),
      updated_by: updatedBy,
    })),
    ...defined({
      install_url: installUrl,
      create: create && { ...create, inputs: [...create.inputs] },
      managed_app: managed && { created: managed.isCreated, text: managed.text, link: managed.link },
    }),
    ways: ways.map(({ steps, ...way }) => ({
      ...way,
      steps: steps.map(({ links, snippets, variables, ...step }) => ({
        ...step,
        ...defined({
          links: links ? [...links] : undefined,
          snippets: snippets ? [...snippets] : undefined,
          variables: variables ? [...variables] : undefined,
        }),
      })),
    })),
    needs: [...needs],
  };
}
