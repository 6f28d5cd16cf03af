import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import {
  ACTION_CATEGORIES,
  ACTION_STATES,
  type Block,
  type Conversation,
  MESSAGE_ROLES,
  type Message,
  type Step,
} from "../../core/requests/conversations/conversation.ts";
import { withApiNames } from "./event-names.ts";
import { Timestamp } from "./text.ts";

const Category = z.enum(ACTION_CATEGORIES).describe("The kind of action.");
const Name = z.string().describe("The name that the agent uses.");

const TextBlock = z
  .object({ type: z.literal("text"), text: z.string().describe("The text.") })
  .meta({ id: "TextBlock", description: "A part of a message in words." });
const ActionBlock = z
  .object({
    type: z.literal("action"),
    id: z.string().describe("The id by which the result refers to the action."),
    category: Category,
    name: Name,
    input: z.unknown().describe("The input of the action. Long texts are cut."),
  })
  .meta({ id: "ActionBlock", description: "An action of the agent." });
const ActionResultBlock = z
  .object({
    type: z.literal("action_result"),
    action_id: z.string().describe("The id of the action."),
    category: Category,
    name: Name,
    state: z.enum(ACTION_STATES).describe("`denied`: a person or a policy refused the action."),
    output: z
      .record(z.string(), z.unknown())
      .describe(
        "The output so far: `text`, and `content` with all parts if some are no text, such as changes of files. Or " +
          "the agent's own object, or `value` with any other value. Empty if there is none. Long texts are cut.",
      ),
  })
  .meta({ id: "ActionResultBlock", description: "The result of an action, so far." });
const EventBlock = z
  .object({
    type: z.literal("event"),
    name: z.string().describe("What happened. New names may be added."),
    data: z.unknown().describe("The members of this event."),
  })
  .meta({ id: "EventBlock", description: "An event of the run that belongs to the conversation." });
const ContentBlock = z
  .discriminatedUnion("type", [TextBlock, ActionBlock, ActionResultBlock, EventBlock])
  .meta({
    id: "ContentBlock",
    description: "A part of a message. `type` names its kind.",
    examples: [{ type: "text", text: "Find out why the build is red and mend it" }],
  });

const ConversationMessage = z
  .object({
    role: z.enum(MESSAGE_ROLES).describe("The author of the message."),
    content: z.array(ContentBlock).describe("The parts of the message, in order."),
    timestamp: Timestamp.optional().describe("When the message began."),
  })
  .meta({
    id: "ConversationMessage",
    description: "A message of the user, the agent, a tool or the system.",
  });

const ConversationStep = z
  .object({
    id: z.string().describe("An id that is the same at each read."),
    description: z.string().optional().describe("The subject of the step, in one line."),
    summary: z.string().optional().describe("The agent's final answer, shortened if it is long."),
    started_at: Timestamp.optional().describe("When the step started. Absent while it waits."),
    completed_at: Timestamp.optional().describe("When the step ended. Absent while it is in progress."),
    messages: z.array(ConversationMessage).describe("Ordered by the time at which each message began."),
    get steps(): z.ZodArray<z.ZodType> {
      return z.array(ConversationStep).describe("Steps within this one. Always empty in this version.");
    },
  })
  .meta({ id: "ConversationStep", description: "One turn." });

const EXAMPLE = {
  conversation_id: "0195b2a4-5c1f-7d90-a4c3-2e6f8b1d0a7c",
  steps: [
    {
      id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e:1",
      description: "Find out why the build is red and mend it",
      summary: "A test was waiting for a file that is gone.",
      started_at: "2026-03-01T09:00:00.410Z",
      completed_at: "2026-03-01T09:04:31.250Z",
      messages: [
        {
          role: "user",
          content: [{ type: "text", text: "Find out why the build is red and mend it" }],
          timestamp: "2026-03-01T09:00:00.000Z",
        },
      ],
      steps: [],
    },
  ],
  has_more_before: false,
};

export const ConversationResponse = z
  .object({
    conversation_id: z.uuid().describe("The conversation's id. All its runs have the same."),
    steps: z
      .array(ConversationStep)
      .describe("One step per turn, of all runs of the conversation, the oldest first."),
    has_more_before: z.boolean().describe("Whether there are steps before the first one here."),
  })
  .meta({
    id: "Conversation",
    description: "All messages and actions, in a format that is the same for every agent.",
    examples: [EXAMPLE],
  });
export type ConversationResponse = z.output<typeof ConversationResponse>;

export function conversationOf({ hasMoreBefore, id, steps }: Conversation): ConversationResponse {
  return { conversation_id: id, steps: steps.map(stepOf), has_more_before: hasMoreBefore };
}

function stepOf({ id, description, summary, startedAt, completedAt, messages }: Step) {
  return {
    id,
    ...defined({
      description,
      summary,
      started_at: startedAt?.toISOString(),
      completed_at: completedAt?.toISOString(),
    }),
    messages: messages.map(messageOf),
    steps: [],
  };
}

function messageOf({ role, content, at }: Message) {
  return { role, content: content.map(blockOf), timestamp: at.toISOString() };
}

function blockOf(block: Block): z.output<typeof ContentBlock> {
  switch (block.type) {
    case "text":
    case "action":
      return block;
    case "action_result": {
      const { actionId, output, parts, ...rest } = block;
      const all = parts === undefined ? output : { ...output, content: withApiNames(parts) };
      return { ...rest, action_id: actionId, output: all };
    }
    case "event":
      return { ...block, data: withApiNames(block.data) };
    default:
      return block satisfies never;
  }
}
