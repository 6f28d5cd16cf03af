import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { detailsOf, type ExecutedConfig, NOT_COVERED } from "../../core/model/runs/executed-config.ts";
import type { Approval, ApprovalInput } from "../../core/model/runs/run.ts";
import { NETWORK_ACCESSES } from "../../core/model/workspaces/environment.ts";
import { Timestamp } from "./text.ts";

const HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const EXAMPLE = {
  id: "0195b2a6-0000-7d3e-8f40-516273849506",
  policy_id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d70",
  reason: "Runs in production are approved by the platform team.",
  inputs_hash: HASH,
  inputs: [{ text: "Deploy the new parser", attachments: [] }],
  executes: {
    agent: "codex",
    permission_policy: "allow" as const,
    repositories: [{ repository: "acme/parser" }],
    setup_commands: ["npm ci"],
    network: "none" as const,
    mcp_servers: {},
    secrets: [],
    skills: [],
  },
};

const RunApprovalAttachment = z
  .object({
    name: z.string().describe("The name that the caller gave."),
    sha256: z.string().describe("The SHA-256 of the content, in hexadecimal digits."),
  })
  .meta({
    id: "RunApprovalAttachment",
    description: "A file of the request.",
    examples: [{ name: "notes.txt", sha256: HASH }],
  });

const RunApprovalItem = z
  .object({
    followup_id: z.uuid().optional().describe("The follow-up. Absent for a part of the request of the run."),
    text: z.string().describe("The words as the agent gets them."),
    attachments: z.array(RunApprovalAttachment).describe("The files. Only the request of a run has any."),
  })
  .meta({
    id: "RunApprovalItem",
    description:
      "Words for the agent. The request of a run has its prompt first, then the text around it, the base prompt and the " +
      "instructions of its skills, as far as it has them.",
    examples: [EXAMPLE.inputs[0]],
  });

const ExecutedMcpServer = z.object({
  command: z.string().optional().describe("The program."),
  args: z.array(z.string()).optional().describe("Its arguments."),
  url: z.string().optional().describe("The address."),
  env: z.array(z.string()).optional().describe("The names of its variables."),
  headers: z.array(z.string()).optional().describe("The names of its headers."),
  warp_id: z.string().optional().describe("The uid of the team's MCP server."),
});

const RunExecutedConfig = z
  .object({
    agent: z.string().describe("A name of the agent catalogue."),
    model_id: z.string().optional().describe("The model. Absent: the agent's default model."),
    reasoning_level: z.string().optional().describe("The reasoning level of the model."),
    permission_policy: z.enum(["allow", "ask"]).describe("`allow`: the agent does not ask before it acts."),
    repositories: z
      .array(
        z.object({
          repository: z.string().describe("`owner/name`"),
          ref: z.string().optional().describe("What is checked out. Absent: the default branch."),
        }),
      )
      .describe("The repositories of the workspace."),
    pull_request: z
      .string()
      .optional()
      .describe("Whether a pull request is opened: `off`, `draft` or `ready`."),
    environment_id: z.string().optional().describe("The environment."),
    image: z.string().optional().describe("The image of the environment."),
    sparse: z.array(z.string()).optional().describe("The only folders that are checked out. Absent: all."),
    setup_commands: z.array(z.string()).describe("The setup commands of the environment."),
    network: z.enum(NETWORK_ACCESSES).describe("The network access of the environment."),
    mcp_servers: z
      .record(z.string(), ExecutedMcpServer)
      .describe("The MCP servers, those of the team resolved."),
    secrets: z.array(z.string()).describe("The names of the secrets."),
    skills: z.array(z.string()).describe("The skills, with the commits that were read."),
    budget: z.record(z.string(), z.unknown()).optional().describe("What the run may use."),
    worker_host: z.string().optional().describe("The workers that may take the run."),
  })
  .meta({
    id: "RunExecutedConfig",
    description: "What the run executes besides the words, as it was when the approval was asked for.",
    examples: [EXAMPLE.executes],
  });

const RunApprovalDetail = z
  .object({
    label: z.string().describe("What it is, for people."),
    values: z.array(z.string()).describe("One text for each command, server, secret …"),
  })
  .meta({
    id: "RunApprovalDetail",
    description: "A part of what is executed, as an approver reads it.",
    examples: [{ label: "Setup commands", values: ["npm ci"] }],
  });

export const RunApproval = z
  .object({
    id: z.uuid().describe("The id of the approval. It stays the same while nobody has decided."),
    policy_id: z.uuid().describe("The policy that requires the approval."),
    reason: z.string().describe("Why the approval is required."),
    inputs_hash: z
      .string()
      .describe(
        "Identifies the inputs and what is executed. A decision names it. It changes whenever one of them changes.",
      ),
    inputs: z.array(RunApprovalItem).describe("Everything that is approved, in the order of delivery."),
    executes: RunExecutedConfig.optional().describe(
      "What the run executes if it is approved, in its first and later attempts. Later changes of the environment and " +
        "of MCP servers do not reach it. Absent for an approval that an earlier version asked for.",
    ),
    details: z
      .array(RunApprovalDetail)
      .optional()
      .describe("The same for people, in the order in which it is to be shown."),
    not_covered: z
      .array(z.string())
      .optional()
      .describe("What the hash does not cover, for people. A client tells it to the approver."),
    decided: z
      .enum(["approved", "refused"])
      .optional()
      .describe("The decision. Absent while the approval is open."),
    decided_by: z.uuid().optional().describe("The uid of the principal that decided."),
    decided_at: Timestamp.optional().describe("When it was decided."),
  })
  .meta({
    id: "RunApproval",
    description: "An approval that a policy requires before an agent gets these words.",
    examples: [EXAMPLE],
  });
type RunApproval = z.output<typeof RunApproval>;

/** The member of a run or of a follow-up. */
export function approvalMember(approval: Approval | undefined): { approval?: RunApproval } {
  if (approval === undefined) {
    return {};
  }
  const { approved, decidedAt, decidedBy, executes, id, inputs, inputsHash, policyId, reason } = approval;
  return {
    approval: {
      id,
      policy_id: policyId,
      reason,
      inputs_hash: inputsHash,
      inputs: inputs.map(inputItem),
      ...(executes === undefined ? {} : executedMembers(executes)),
      ...defined({
        decided: approved === undefined ? undefined : approved ? "approved" : "refused",
        decided_by: decidedBy,
        decided_at: decidedAt?.toISOString(),
      }),
    },
  };
}

function executedMembers(executes: ExecutedConfig) {
  const { budget, environmentId, image, modelId, pullRequest, reasoningLevel, workerHost, ...others } =
    executes;
  const { agent, mcpServers, network, permissionPolicy, repositories, secretNames, setupCommands, skills } =
    others;
  const { sparse } = others;
  const shown = {
    agent,
    permission_policy: permissionPolicy,
    repositories: repositories.map((each) => ({ ...each })),
    setup_commands: [...setupCommands],
    network,
    mcp_servers: Object.fromEntries(
      Object.entries(mcpServers).map(([name, each]) => [name, serverItem(each)]),
    ),
    secrets: [...secretNames],
    skills: [...skills],
    ...defined({
      model_id: modelId,
      reasoning_level: reasoningLevel,
      pull_request: pullRequest,
      environment_id: environmentId,
      image,
      sparse: sparse === undefined ? undefined : [...sparse],
      budget,
      worker_host: workerHost,
    }),
  };
  const details = detailsOf(executes).map(({ label, values }) => ({ label, values: [...values] }));
  return { executes: shown, details, not_covered: [...NOT_COVERED] };
}

function serverItem({ args, command, env, headers, url, warpId }: ExecutedConfig["mcpServers"][string]) {
  return {
    ...defined({
      command,
      args: args === undefined ? undefined : [...args],
      url,
      env: env === undefined ? undefined : [...env],
      headers: headers === undefined ? undefined : [...headers],
      warp_id: warpId,
    }),
  };
}

function inputItem({ attachments, followUpId, text }: ApprovalInput): RunApproval["inputs"][number] {
  const files = attachments.map(({ name, sha256 }) => ({ name, sha256 }));
  return { ...defined({ followup_id: followUpId }), text, attachments: files };
}
