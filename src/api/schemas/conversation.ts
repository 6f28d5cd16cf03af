import { z } from "zod";
import {
  ACTION_CATEGORIES,
  ACTION_STATES,
  type Block,
  type Conversation,
  MESSAGE_ROLES,
  type Message,
  type Step,
} from "../../core/conversations/conversation.ts";
import { Timestamp } from "./text.ts";

const Category = z.enum(ACTION_CATEGORIES).describe("What kind of thing it is about.");
const Name = z.string().describe("As the agent calls it.");

const ContentBlock = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string().describe("Words.") }),
  z.object({
    type: z.literal("action"),
    id: z.string().describe("Named by its result."),
    category: Category,
    name: Name,
    input: z.unknown().describe("What it was given; long texts are cut."),
  }),
  z.object({
    type: z.literal("action_result"),
    action_id: z.string().describe("The action it is of."),
    category: Category,
    name: Name,
    state: z.enum(ACTION_STATES).describe("`denied`: somebody said no to it."),
    output: z.unknown().describe("What came of it so far; long texts are cut."),
  }),
  z.object({
    type: z.literal("event"),
    name: z.string().describe("What happened; new names may come."),
    data: z.unknown().describe("Its own members."),
  }),
]);

const ConversationMessage = z.object({
  role: z.enum(MESSAGE_ROLES).describe("Who says it."),
  content: z.array(ContentBlock).describe("What is said, in order."),
  timestamp: Timestamp.optional().describe("When it was begun."),
});

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
};

export const ConversationResponse = z
  .object({
    conversation_id: z.uuid().describe("The conversation's id; its runs share it."),
    steps: z
      .array(
        z.object({
          id: z.string().describe("Stays the same however often it is read."),
          description: z.string().optional().describe("What it is about, in one line."),
          summary: z.string().optional().describe("The agent's closing words, cut where they are long."),
          started_at: Timestamp.optional().describe("Absent: it waits to begin."),
          completed_at: Timestamp.optional().describe("Absent: it has not ended."),
          messages: z.array(ConversationMessage).describe("In the order in which they were begun."),
          steps: z.array(z.unknown()).describe("Steps within this one; there are none yet."),
        }),
      )
      .describe("One for each turn, of all runs of the conversation, the oldest first."),
  })
  .meta({
    id: "Conversation",
    description: "All that was said and done, in a shape that does not hang on the agent.",
    examples: [EXAMPLE],
  });
export type ConversationResponse = z.output<typeof ConversationResponse>;

export function conversationOf({ id, steps }: Conversation): ConversationResponse {
  return { conversation_id: id, steps: steps.map(stepOf) };
}

function stepOf({ id, description, summary, startedAt, completedAt, messages }: Step) {
  return {
    id,
    ...(description === undefined ? {} : { description }),
    ...(summary === undefined ? {} : { summary }),
    ...(startedAt === undefined ? {} : { started_at: startedAt.toISOString() }),
    ...(completedAt === undefined ? {} : { completed_at: completedAt.toISOString() }),
    messages: messages.map(messageOf),
    steps: [],
  };
}

function messageOf({ role, content, at }: Message) {
  return { role, content: content.map(blockOf), timestamp: at.toISOString() };
}

function blockOf(block: Block): z.output<typeof ContentBlock> {
  if (block.type !== "action_result") return block;
  const { actionId, ...rest } = block;
  return { ...rest, action_id: actionId };
}
