import { isRecord, type JsonRecord } from "../json.ts";

/** Checks of the blocks that Slack has added lately, as `@slack/types` describes them. */

const MAX_CARDS = 10;
const MAX_CHILDREN = 10;
const MAX_CONTEXT_ACTIONS = 5;
const MAX_LABEL = 75;
const MAX_LINE = 150;
const MAX_BODY = 200;
const LEVELS = ["default", "info", "warning", "error", "success"];
const CHILDREN = new Set(
  "actions context divider file header image input rich_text section table video".split(" "),
);

type Check = (block: JsonRecord) => boolean;

/** Undefined: the type of the block is not one of these. */
export function newerBlockCheck(type: string): Check | undefined {
  return CHECKS.get(type);
}

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["alert", ({ level = "default", text }) => LEVELS.includes(String(level)) && isTextObject(text)],
  ["card", isCard],
  ["carousel", ({ elements }) => listOf(elements, MAX_CARDS)?.every(isCard) === true],
  [
    "container",
    ({ child_blocks: children, rich_text_title: rich, title }) =>
      (isRecord(rich) || isTextObject(title, MAX_LINE)) &&
      listOf(children, MAX_CHILDREN)?.every((child) => CHILDREN.has(String(child.type))) === true,
  ],
  [
    "context_actions",
    ({ elements }) => listOf(elements, MAX_CONTEXT_ACTIONS)?.every(isContextAction) === true,
  ],
  [
    "data_table",
    ({ caption, page_size: size = 5, rows }) =>
      isText(caption) && Number(size) >= 1 && Number(size) <= 100 && Array.isArray(rows) && rows.every(isRow),
  ],
]);

function isCard({ actions, body, hero_image: image, subtitle, title, type }: JsonRecord): boolean {
  const texts = [
    [title, MAX_LINE],
    [subtitle, MAX_LINE],
    [body, MAX_BODY],
  ] as const;
  const hasContent = [actions, body, image, title].some((member) => member !== undefined);
  return (
    type === "card" &&
    hasContent &&
    texts.every(([text, max]) => text === undefined || isTextObject(text, max))
  );
}

function isContextAction({ action_id: id, type, ...element }: JsonRecord): boolean {
  if (!isText(id)) {
    return false;
  }
  return type === "feedback_buttons"
    ? isFeedback(element.positive_button) && isFeedback(element.negative_button)
    : type === "icon_button" && isText(element.icon) && isTextObject(element.text, MAX_LABEL);
}

function isFeedback(button: unknown): boolean {
  return isRecord(button) && isText(button.value) && isTextObject(button.text, MAX_LABEL);
}

function isRow(row: unknown): boolean {
  const cells = ["raw_text", "raw_number", "rich_text"];
  return Array.isArray(row) && row.every((cell) => isRecord(cell) && cells.includes(String(cell.type)));
}

function isTextObject(object: unknown, max = Infinity): boolean {
  return isRecord(object) && isText(object.text) && String(object.text).length <= max;
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value.length > 0;
}

function listOf(value: unknown, max: number): readonly JsonRecord[] | undefined {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= max && value.every(isRecord);
  return isList ? value : undefined;
}
