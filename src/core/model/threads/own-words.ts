/** What people's tools add around the words that a person wrote, as in a reply by mail. */
export interface SplitText {
  /** The quotes before the words. */
  readonly quote: string;
  readonly words: string;
  /** The quoted mail after the words, with what stands above it. Empty if that is a line of a mail program alone. */
  readonly tail: string;
}

const QUOTED = /^\s{0,3}>/;
/** The dash alone stands before the footer of GitHub's mails. */
const SIGNATURE = /^(?:--|—|_{8,})\s*$/;
const DEVICE =
  "(?:iPhone|iPad|Android|Samsung|Galaxy|Outlook|Huawei|Xiaomi|Pixel|BlackBerry|Yahoo|Gmail|phone|mobile|Handy)";
const SENT_FROM = [
  new RegExp(
    `^(?:sent|get|gesendet|envoyé|enviado|inviato|verzonden|verstuurd|skickat|sendt|wysłane|отправлено|obtenir|obtener|télécharger)(?!\\p{L}).{0,40}${DEVICE}`,
    "iu",
  ),
  new RegExp(`^von\\b.{0,20}${DEVICE}.{0,20}gesendet`, "iu"),
  new RegExp(`^(?:发自|來自|寄自|从).{0,10}${DEVICE}`, "iu"),
  new RegExp(`^${DEVICE}.{0,12}(?:から送信|에서 보냄|gönderildi|ta lähetetty)`, "iu"),
];
const FORWARDED =
  /^-{2,}\s*(?:original message|forwarded message|urspr(?:ü|ue)ngliche nachricht|weitergeleitete nachricht|message d'origine|message transféré|mensaje original|mensaje reenviado|mensagem original|messaggio originale|oorspronkelijk bericht|исходное сообщение|原始邮件|元のメッセージ)\b/iu;
/** Each is one language. They begin with a word, so that they may be wrapped. */
const ATTRIBUTIONS = [
  /^on\b.*\bwrote\s*:$/iu,
  /^am\b.*\bschrieb\b.*:$/iu,
  /^le\b.* a écrit\s*:$/iu,
  /^el\b.* escribió\s*:$/iu,
  /^em\b.* escreveu\s*:$/iu,
  /^il\b.* ha scritto\s*:$/iu,
  /^op\b.* schreef\b.*:$/iu,
  /^(?:den|på|kl)\b.* skrev\b.*:$/iu,
  /^w dniu\b.* napisał.*:$/iu,
];
const ATTRIBUTIONS_OF_ONE_LINE = [
  /(?:пишет|написал|написала|написал\(а\))\s*:$/iu,
  /(?:写道|寫道)\s*[:：]$/u,
  /(?:のメール|書きました)\s*[:：]$/u,
  /(?:작성|님이 쓴 글)\s*[:：]$/u,
];
const FROM = /^\*{0,2}(?:from|von|de|da|van|från|fra|od|от|发件人|寄件者|差出人|보낸 사람)\s*[:：]/iu;
const SENT =
  /^\*{0,2}(?:sent|date|gesendet|datum|envoyé|enviado(?: el)?|fecha|data|inviato|verzonden|skickat|sendt|wysłano|отправлено|дата|发送时间|日期|送信日時|日時|보낸 날짜)\s*[:：]/iu;
/** Mail programs wrap the line that names the author of a quote. */
const ATTRIBUTION_LINES_MAX = 3;
const ATTRIBUTION_LENGTH_MAX = 300;
/** How many lines after the first of a mail's headers its date may stand. */
const HEADER_LINES_MAX = 3;
/** How many blank lines may stand between an attribution and its quote. */
const QUOTE_LINES_MAX = 3;
const INDENT_MAX = 100;
const COMMENT_START = "<!--";
const COMMENT_END = "-->";

/** The words that the author wrote, without what the author's tools added before and after them. */
export function ownWords(text: string): string {
  return splitText(text).words;
}

/** The text with the author's words at its front, where options and titles are read. */
export function wordsFirst(text: string): string {
  const { quote, tail, words } = splitText(text);
  return quote === "" && text.trim().startsWith(words)
    ? text
    : [words, tail, quote].filter((part) => part !== "").join("\n\n");
}

export function splitText(text: string): SplitText {
  const lines = withoutComments(text).split("\n");
  const start = firstOwnLine(lines);
  const rest = lines.slice(start);
  const end = ownLength(rest);
  const tail = rest.slice(end).join("\n").trim();
  return {
    quote: lines.slice(0, start).join("\n").trim(),
    words: rest.slice(0, end).join("\n").trim(),
    tail: isSignature(tail) ? "" : tail,
  };
}

/** The number of the first line of a quoted mail whose lines do not begin with `>`, or the number of lines if there is none. */
export function quotedMailStart(lines: readonly string[]): number {
  return indexOrEnd(lines, (index) => isMailStart(lines, index) && !isAboveQuote(lines, index));
}

function isMailStart(lines: readonly string[], index: number): boolean {
  const line = lines[index]?.trim() ?? "";
  return FORWARDED.test(line) || isHeader(lines, index) || attributionLength(lines, index) > 0;
}

function isAboveQuote(lines: readonly string[], index: number): boolean {
  const length = attributionLength(lines, index);
  const next = lines.slice(index + length, index + length + QUOTE_LINES_MAX).find(isWritten);
  return length > 0 && QUOTED.test(next ?? "");
}

function indexOrEnd(lines: readonly string[], matches: (index: number) => boolean): number {
  const found = lines.findIndex((_, index) => matches(index));
  return found === -1 ? lines.length : found;
}

function firstOwnLine(lines: readonly string[]): number {
  let start = 0;
  for (let index = 0; index < lines.length; ) {
    const line = lines[index] ?? "";
    if (isAboveQuote(lines, index)) {
      index += attributionLength(lines, index);
    } else if (QUOTED.test(line)) {
      index += 1;
      start = index;
    } else if (isWritten(line)) {
      return start;
    } else {
      index += 1;
    }
  }
  return start;
}

/** How many of the first lines the author wrote. */
function ownLength(lines: readonly string[]): number {
  let end = indexOrEnd(
    lines,
    (index) => isSignature(lines[index]?.trim() ?? "") || isMailStart(lines, index),
  );
  while (end > 0 && !(isWritten(lines[end - 1] ?? "") && !QUOTED.test(lines[end - 1] ?? ""))) {
    end -= 1;
  }
  return end;
}

function isSignature(line: string): boolean {
  return SIGNATURE.test(line) || SENT_FROM.some((pattern) => pattern.test(line));
}

function isHeader(lines: readonly string[], index: number): boolean {
  const next = lines.slice(index + 1, index + 1 + HEADER_LINES_MAX);
  return FROM.test(lines[index]?.trim() ?? "") && next.some((line) => SENT.test(line.trim()));
}

/** The number of lines of the attribution that begins here; 0 if none does. It always has a date, and so a digit. */
function attributionLength(lines: readonly string[], index: number): number {
  const first = lines[index]?.trim() ?? "";
  if (hasDate(first) && ATTRIBUTIONS_OF_ONE_LINE.some((pattern) => pattern.test(first))) {
    return 1;
  }
  const wrapped = lines.slice(index, index + ATTRIBUTION_LINES_MAX);
  for (let length = 1; length <= wrapped.length && isWritten(wrapped[length - 1] ?? ""); length += 1) {
    const joined = wrapped
      .slice(0, length)
      .map((line) => line.trim())
      .join(" ");
    if (hasDate(joined) && ATTRIBUTIONS.some((pattern) => pattern.test(joined))) {
      return length;
    }
  }
  return 0;
}

function hasDate(line: string): boolean {
  return line.length <= ATTRIBUTION_LENGTH_MAX && /\d/.test(line);
}

function isWritten(line: string): boolean {
  return line.trim() !== "";
}

/** Mail programs leave comments in what they make of HTML. Only comments on lines of their own are left out. */
function withoutComments(text: string): string {
  let kept = "";
  let end = 0;
  let start = text.indexOf(COMMENT_START);
  while (start !== -1) {
    const close = text.indexOf(COMMENT_END, start + COMMENT_START.length);
    if (close === -1) {
      break;
    }
    const after = close + COMMENT_END.length;
    const before = text.slice(Math.max(0, start - INDENT_MAX), start);
    if (/(?:^|\n)[ \t]*$/.test(before) && /^[ \t\r]*(?:\n|$)/.test(text.slice(after, after + INDENT_MAX))) {
      kept += text.slice(end, start);
      end = after;
    }
    start = text.indexOf(COMMENT_START, after);
  }
  return kept + text.slice(end);
}
