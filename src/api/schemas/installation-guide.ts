import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { GUIDE_NEED_KINDS, type InstallationGuide } from "../../core/model/people/installation.ts";

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

const InstallationGuideItem = z
  .object({
    adapter: z
      .string()
      .describe("The adapter. The names of its checks in the doctor begin with this name and `_`."),
    title: z.string().describe("The name of the platform."),
    enabled: z.boolean().describe("Whether the variables of the adapter are set."),
    install_url: z
      .string()
      .optional()
      .describe("Where an administrator installs the app in a workspace, if the server is set up for that."),
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

export function installationGuideItem(guide: InstallationGuide): z.output<typeof InstallationGuideItem> {
  const { installUrl, ways, needs, ...others } = guide;
  return {
    ...others,
    ...defined({ install_url: installUrl }),
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
