import { z } from "zod";
import { RUN_EVENT_KINDS } from "./run-event-kinds.ts";
import { RUN_EVENT_EXAMPLE } from "./run-examples.ts";
import { Timestamp } from "./text.ts";

const COMMON = {
  seq: z.int().describe("1, 2, 3 …, without gaps."),
  turn: z.int().describe("The turn of the event. 0 before the first turn."),
  at: Timestamp.describe("When the event was committed."),
  run_id: z.uuid().optional().describe("The run of the event. Present only in the log of all runs."),
  cursor: z
    .string()
    .optional()
    .describe("The value of `after` that continues behind this event. Present only in the log of all runs."),
};

const known = Object.entries(RUN_EVENT_KINDS).map(([kind, { says, members }]) =>
  z.object({ ...COMMON, kind: z.literal(kind), ...members }).meta({ id: variantOf(kind), description: says }),
);
const later = z
  .looseObject({
    ...COMMON,
    kind: z.string().meta({
      description: "A kind that this document does not list.",
      not: { enum: Object.keys(RUN_EVENT_KINDS) },
    }),
  })
  .meta({
    id: "UnknownRunEvent",
    description:
      "An event of a later version of the server. Clients should ignore kinds that they do not know.",
  });

/** `agent.tool_call` is an `AgentToolCallEvent`. */
function variantOf(kind: string): string {
  const words = kind.split(/[._]/).map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`);
  return `${words.join("")}Event`;
}

export interface EventJson {
  readonly seq: number;
  readonly turn: number;
  readonly at: string;
  readonly kind: string;
  readonly [member: string]: unknown;
}

/** The schema only documents responses, so the type need not contain the members of each kind. */
const RunEvent = (z.union([...known, later]) as unknown as z.ZodType<EventJson>).meta({
  id: "RunEvent",
  description:
    "An event in the log of a run. `kind` names what happened; further members depend on the kind. New kinds may " +
    "be added: clients should ignore those that they do not know.",
  discriminator: {
    propertyName: "kind",
    mapping: Object.fromEntries(
      Object.keys(RUN_EVENT_KINDS).map((kind) => [kind, `#/components/schemas/${variantOf(kind)}`]),
    ),
  },
  examples: [RUN_EVENT_EXAMPLE],
});

export const RunEventPage = z
  .object({
    events: z.array(RunEvent).describe("Ordered by `seq`."),
    next_after: z
      .int()
      .describe("The value of `after` for the next page. It is unchanged if there are no newer events yet."),
    next_before: z
      .int()
      .optional()
      .describe("The value of `before` for the earlier page. Absent if there are no earlier events."),
  })
  .meta({
    id: "RunEventPage",
    description: "A page of a run's log.",
    examples: [{ events: [RUN_EVENT_EXAMPLE], next_after: 2 }],
  });
export type RunEventPage = z.output<typeof RunEventPage>;

export interface LoggedEventJson extends EventJson {
  readonly run_id: string;
  readonly cursor: string;
}

export const LoggedEventPage = z
  .object({
    events: z.array(RunEvent).describe("In the order of the log. Each event has `run_id` and `cursor`."),
    next_after: z.string().describe("The value of `after` for the next page."),
    has_more: z.boolean().describe("Whether the log already contains more events."),
  })
  .meta({
    id: "LoggedEventPage",
    description: "A page of the log of all runs.",
    examples: [{ events: [], next_after: "NzQxLi4u", has_more: false }],
  });
export type LoggedEventPage = z.output<typeof LoggedEventPage>;

const MESSAGE =
  "One message of an event stream. The lines of the stream begin with the names of these members.";
const StreamedRunEvent = z
  .object({
    id: z
      .string()
      .describe("The position of the event. Send it as `Last-Event-ID` to continue behind the event."),
    event: z.string().describe("The `kind` of the event."),
    data: z.string().meta({
      description: "The event as JSON, in one line.",
      contentMediaType: "application/json",
      contentSchema: {
        anyOf: [{ $ref: "#/components/schemas/RunEvent" }, { $ref: "#/components/schemas/StreamReset" }],
      },
    }),
  })
  .meta({
    id: "StreamedRunEvent",
    description: MESSAGE,
    examples: [{ id: "2", event: "run.state", data: JSON.stringify(RUN_EVENT_EXAMPLE) }],
  });

z.object({
  kind: z.literal("reset"),
  reason: z.string().describe("A text for people."),
}).meta({
  id: "StreamReset",
  description:
    "The server does not know the position of the reader. The stream continues behind the `id` of this message; " +
    "clients should reload the data that they store.",
  examples: [{ kind: "reset", reason: "The stream cannot go on where you were." }],
});

/** The document describes one message of the stream, because the schema of a stream can only be a text. */
export const EventStreamText = z.string().meta({
  description:
    "Messages as in `x-item-schema`, separated by empty lines. Comment lines show that the connection is alive.",
  "x-item-schema": { $ref: `#/components/schemas/${StreamedRunEvent.meta()?.id}` },
});
