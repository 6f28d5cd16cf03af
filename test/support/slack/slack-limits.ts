import { isRecord, type JsonRecord } from "../json.ts";
import { newerBlockCheck } from "./slack-newer-blocks.ts";

const MAX_BLOCKS = 50;
const MAX_BLOCK_ID = 255;
const MAX_SECTION_TEXT = 3_000;
const MAX_FIELDS = 10;
const MAX_FIELD_TEXT = 2_000;
const MAX_HEADER_TEXT = 150;
const MAX_CONTEXT_ELEMENTS = 10;
const MAX_ACTIONS = 25;
const MAX_BUTTON_TEXT = 75;
const MAX_BUTTON_VALUE = 2_000;
const MAX_ACTION_ID = 255;
const MAX_PLACEHOLDER = 150;
const MAX_MARKDOWN_TEXT = 12_000;
// Not documented; measured at about this size: https://github.com/slackapi/bolt-js/issues/2509
const MAX_CHARACTERS_IN_BLOCKS = 13_200;
const MAX_POSTED_TEXT = 40_000;
const MAX_UPDATED_TEXT = 4_000;

const TASK_STATUSES = new Set(["pending", "in_progress", "complete", "error"]);

const BLOCK_TYPES = new Set(
  "actions context divider file header image input markdown plan rich_text section table video".split(" "),
);

/** The error that Slack would answer to this message; undefined if it keeps the limits. */
export function slackLimitError(method: string, text: string, blocks: unknown): string | undefined {
  const maxText = method === "chat.update" ? MAX_UPDATED_TEXT : MAX_POSTED_TEXT;
  if (text.length > maxText) {
    return "msg_too_long";
  }
  if (blocks === undefined) {
    return undefined;
  }
  if (!Array.isArray(blocks) || blocks.length > MAX_BLOCKS) {
    return "invalid_blocks";
  }
  if (!blocks.every(isValidBlock) || hasDuplicateIds(blocks) || markdownIn(blocks) > MAX_MARKDOWN_TEXT) {
    return "invalid_blocks";
  }
  if (blocks.reduce((sum, block) => sum + blocksMadeOf(block), 0) > MAX_BLOCKS) {
    return "invalid_blocks";
  }
  return charactersIn(blocks) > MAX_CHARACTERS_IN_BLOCKS ? "msg_blocks_too_long" : undefined;
}

function isValidBlock(block: unknown): block is JsonRecord {
  if (!isRecord(block) || typeof block.type !== "string") {
    return false;
  }
  const check = newerBlockCheck(block.type);
  if (check === undefined && !BLOCK_TYPES.has(block.type)) {
    return false;
  }
  if (block.block_id !== undefined && !fits(block.block_id, MAX_BLOCK_ID)) {
    return false;
  }
  if (block.type === "section") {
    return isValidSection(block);
  }
  if (block.type === "header") {
    return hasText(block.text, MAX_HEADER_TEXT);
  }
  if (block.type === "markdown") {
    return fits(block.text, MAX_MARKDOWN_TEXT);
  }
  if (block.type === "context") {
    return listOf(block.elements, MAX_CONTEXT_ELEMENTS) !== undefined;
  }
  if (block.type === "actions") {
    const elements = listOf(block.elements, MAX_ACTIONS);
    return (elements?.every(isValidElement) ?? false) && !hasDuplicateActions(elements ?? []);
  }
  return block.type === "plan" ? isValidPlan(block) : (check?.(block) ?? true);
}

/** https://docs.slack.dev/reference/block-kit/blocks/plan-block */
function isValidPlan({ tasks = [], title }: JsonRecord): boolean {
  const isTask = (task: unknown) =>
    isRecord(task) &&
    task.type === "task_card" &&
    isText(task.task_id) &&
    isText(task.title) &&
    TASK_STATUSES.has(String(task.status));
  return isText(title) && Array.isArray(tasks) && tasks.every(isTask);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value.length > 0;
}

function hasDuplicateActions(elements: readonly unknown[]): boolean {
  const ids = elements.flatMap((element) => (isRecord(element) ? [element.action_id] : []));
  return new Set(ids).size < ids.length;
}

/**
 * Slack makes several blocks of a markdown block, of which a message has at most 50: one for each heading, rule and
 * table, and one for the words between them.
 */
function blocksMadeOf({ text, type }: JsonRecord): number {
  if (type !== "markdown") {
    return 1;
  }
  const words = String(text).replace(/^[ \t>]*(`{3,}|~{3,})[\s\S]*?^[ \t>]*\1/gm, "code");
  const kinds = words
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => (/^[ \t>]*(?:#{1,6} |---+$)/.test(line) ? "alone" : /^\|/.test(line) ? "table" : "words"));
  return kinds.filter((kind, index) => kind === "alone" || kind !== kinds[index - 1]).length;
}

/** The limit of a markdown block is for all markdown blocks of a message together. */
function markdownIn(blocks: readonly JsonRecord[]): number {
  const texts = blocks.filter(({ type }) => type === "markdown").map(({ text }) => String(text));
  return texts.reduce((sum, text) => sum + text.length, 0);
}

function isValidSection(block: JsonRecord): boolean {
  const fields = block.fields === undefined ? undefined : listOf(block.fields, MAX_FIELDS);
  if (block.fields !== undefined && !fields?.every((field) => hasText(field, MAX_FIELD_TEXT))) {
    return false;
  }
  if (block.text === undefined) {
    return fields !== undefined;
  }
  if (block.accessory !== undefined && !isValidElement(block.accessory)) {
    return false;
  }
  return hasText(block.text, MAX_SECTION_TEXT);
}

function isValidElement(element: unknown): boolean {
  if (!isRecord(element)) {
    return false;
  }
  if (element.action_id !== undefined && !fits(element.action_id, MAX_ACTION_ID)) {
    return false;
  }
  if (element.type === "external_select") {
    return element.placeholder === undefined || hasText(element.placeholder, MAX_PLACEHOLDER);
  }
  if (element.type !== "button") {
    return true;
  }
  return (
    hasText(element.text, MAX_BUTTON_TEXT) &&
    (element.value === undefined || fits(element.value, MAX_BUTTON_VALUE))
  );
}

function hasText(object: unknown, max: number): boolean {
  return isRecord(object) && fits(object.text, max);
}

function fits(value: unknown, max: number): boolean {
  return typeof value === "string" && value.length > 0 && value.length <= max;
}

function listOf(value: unknown, max: number): unknown[] | undefined {
  return Array.isArray(value) && value.length > 0 && value.length <= max ? value : undefined;
}

function hasDuplicateIds(blocks: readonly JsonRecord[]): boolean {
  const ids = blocks.map((block) => block.block_id).filter((id) => id !== undefined);
  return new Set(ids).size < ids.length;
}

function charactersIn(value: unknown): number {
  if (Array.isArray(value)) {
    return value.reduce<number>((sum, item) => sum + charactersIn(item), 0);
  }
  if (!isRecord(value)) {
    return 0;
  }
  const own = [value.text, value.title].reduce<number>(
    (sum, text) => sum + (typeof text === "string" ? text.length : 0),
    0,
  );
  return own + charactersIn(Object.values(value));
}
